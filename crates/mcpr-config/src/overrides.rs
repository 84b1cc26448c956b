//! What variables and flags say over the file.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use mcpr_telemetry::{Format, Level};

use crate::environment::Environment;
use crate::error::ConfigError;
use crate::gateway::{GatewayOptions, Listen, StartMode, TlsFiles};

/// Settings from outside the file.
///
/// The order is default, file, variables, flags: apply what [`Overrides::from_env`] gives first,
/// then what the flags say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    /// Where to listen: `MCPR_LISTEN`, `--listen`.
    pub listen: Option<Listen>,
    /// The port, whatever the address: `MCPR_PORT`, `--port`.
    pub port: Option<u16>,
    /// The certificate: `MCPR_TLS_CERT` with `MCPR_TLS_KEY`, `--tls-cert` with `--tls-key`.
    pub tls: Option<TlsFiles>,
    /// The least grave level that is logged: `MCPR_LOG_LEVEL`, `--log-level`.
    pub log_level: Option<Level>,
    /// The shape of log lines: `MCPR_LOG_FORMAT`, `--log-format`.
    pub log_format: Option<Format>,
    /// What happens when a server cannot be used: `--strict`.
    pub start_mode: Option<StartMode>,
}

impl Overrides {
    /// Reads `MCPR_LISTEN`, `MCPR_PORT`, `MCPR_TLS_CERT`, `MCPR_TLS_KEY`, `MCPR_LOG_LEVEL` and
    /// `MCPR_LOG_FORMAT`; an empty one counts as unset.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Variable`] for a value that is not valid.
    pub fn from_env(env: &dyn Environment) -> Result<Self, ConfigError> {
        Ok(Self {
            listen: parsed(env, "MCPR_LISTEN")?,
            port: parsed_or(env, "MCPR_PORT", |_| "must be a port from 0 to 65535".to_owned())?,
            tls: tls(env)?,
            log_level: parsed(env, "MCPR_LOG_LEVEL")?,
            log_format: parsed(env, "MCPR_LOG_FORMAT")?,
            start_mode: None,
        })
    }

    /// Puts these settings over the ones that are there.
    pub fn apply(&self, options: &mut GatewayOptions) {
        if let Some(listen) = self.listen {
            options.listen = listen.with_port(options.listen.port());
        }
        if let Some(port) = self.port {
            options.listen.set_port(port);
        }
        if let Some(tls) = &self.tls {
            options.tls = Some(tls.clone());
        }
        options.log.level = self.log_level.unwrap_or(options.log.level);
        options.log.format = self.log_format.or(options.log.format);
        options.startup.mode = self.start_mode.unwrap_or(options.startup.mode);
    }
}

fn tls(env: &dyn Environment) -> Result<Option<TlsFiles>, ConfigError> {
    let path = |name| {
        env.variable_os(name)
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
    };
    let alone = |name, other| ConfigError::Variable {
        name,
        problem: format!("needs {other} beside it"),
    };
    match (path("MCPR_TLS_CERT"), path("MCPR_TLS_KEY")) {
        (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(alone("MCPR_TLS_CERT", "MCPR_TLS_KEY")),
        (None, Some(_)) => Err(alone("MCPR_TLS_KEY", "MCPR_TLS_CERT")),
    }
}

fn parsed<T: FromStr<Err: Display>>(
    env: &dyn Environment,
    name: &'static str,
) -> Result<Option<T>, ConfigError> {
    parsed_or(env, name, |error: T::Err| format!("is not valid: {error}"))
}

fn parsed_or<T: FromStr>(
    env: &dyn Environment,
    name: &'static str,
    problem: impl FnOnce(T::Err) -> String,
) -> Result<Option<T>, ConfigError> {
    let refused = |problem| ConfigError::Variable { name, problem };
    let Some(value) = env.variable_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let value = value
        .into_string()
        .map_err(|_| refused("is no text in UTF-8".to_owned()))?;
    let parsed = value.trim().parse();
    parsed.map(Some).map_err(|error| refused(problem(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::Fixed;

    #[test]
    fn cfg_01_a_flag_wins_over_a_variable_and_that_over_the_file() {
        let env = Fixed::default()
            .with("MCPR_LISTEN", "0.0.0.0:1")
            .with("MCPR_PORT", "2")
            .with("MCPR_TLS_CERT", "c")
            .with("MCPR_TLS_KEY", "k")
            .with("MCPR_LOG_LEVEL", "warn");
        let flags = Overrides {
            listen: Some("127.0.0.1:3".parse().unwrap()),
            ..Overrides::default()
        };
        let mut options = GatewayOptions::default();

        Overrides::from_env(&env).unwrap().apply(&mut options);
        assert_eq!(options.listen.to_string(), "0.0.0.0:2");
        flags.apply(&mut options);

        assert_eq!(options.listen.to_string(), "127.0.0.1:3");
        assert_eq!(options.log.level, Level::Warn);
        let tls = options.tls.unwrap();
        assert_eq!((tls.cert, tls.key), ("c".into(), "k".into()));
    }

    #[test]
    fn an_address_without_port_keeps_the_port_of_the_file() {
        let env = Fixed::default().with("MCPR_LISTEN", "0.0.0.0");
        let mut options = GatewayOptions {
            listen: "127.0.0.1:4000".parse().unwrap(),
            ..GatewayOptions::default()
        };

        Overrides::from_env(&env).unwrap().apply(&mut options);

        assert_eq!(options.listen.to_string(), "0.0.0.0:4000");
    }

    #[cfg(unix)]
    #[test]
    fn cfg_01_a_variable_that_is_no_text_is_told_and_not_passed_over() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let value = OsStr::from_bytes(b"0.0.0.0:1\xff");
        let refused = |name| Overrides::from_env(&Fixed::default().with(name, value));

        for name in ["MCPR_LISTEN", "MCPR_PORT", "MCPR_LOG_LEVEL", "MCPR_LOG_FORMAT"] {
            let said = refused(name).unwrap_err().to_string();
            assert_eq!(said, format!("the variable `{name}` is no text in UTF-8"));
        }
        let alone = refused("MCPR_TLS_KEY").unwrap_err().to_string();
        assert!(alone.contains("needs MCPR_TLS_CERT beside it"), "{alone}");
    }

    #[test]
    fn a_variable_that_is_not_valid_is_named_with_what_it_may_be() {
        let message = |name, value| {
            Overrides::from_env(&Fixed::default().with(name, value))
                .unwrap_err()
                .to_string()
        };
        let messages = [
            message("MCPR_PORT", "99999"),
            message("MCPR_LISTEN", "nowhere"),
            message("MCPR_LOG_LEVEL", "loud"),
            message("MCPR_LOG_FORMAT", "xml"),
            message("MCPR_TLS_CERT", "cert.pem"),
        ];
        insta::assert_snapshot!(messages.join("\n"));
    }
}
