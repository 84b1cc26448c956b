//! The environment of a child process (SRV-02).
//!
//! A child gets the variables of an allow-list, then what its entry in the configuration names,
//! which wins. `PATH` and `HOME` are always there. Nothing that begins with `MCPR_` is ever passed
//! on; the gateway sets two such variables itself: [`MARK`] and [`DEPTH`].

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// The variable that says which child of which run a process descends from.
pub const MARK: &str = "MCPR_CHILD";

/// The variable that counts how many gateways a process is below.
pub const DEPTH: &str = "MCPR_DEPTH";

/// How many gateways may start one another in a row (a gateway that is its own server would do so
/// without end).
pub const DEPTH_LIMIT: u32 = 4;

/// The variables of one process.
pub type Variables = BTreeMap<OsString, OsString>;

/// Which of the gateway's own variables a child gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EnvPolicy {
    /// Those of the allow-list.
    #[default]
    Clean,
    /// All but the gateway's own: those that begin with `MCPR_`, and the credentials with which it sends spans.
    Inherit,
}

/// The value of a configured variable, which may be a secret: its text is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct EnvValue(String);

/// Names that are passed as they are.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    // The user and the place
    "HOME", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "USER",
    // Language, time and terminal
    "COLORTERM", "LANG", "LANGUAGE", "NO_COLOR", "TERM", "TZ",
    // Certificates
    "CURL_CA_BUNDLE", "NIX_SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
    // Where the tools that start servers keep their things
    "BUN_INSTALL", "CARGO_HOME", "COREPACK_HOME", "DENO_DIR", "GOPATH", "JAVA_HOME", "NVM_BIN", "NVM_DIR",
    "PIPX_BIN_DIR", "PIPX_HOME", "PNPM_HOME", "PYENV_ROOT", "PYENV_VERSION", "RBENV_ROOT", "RUSTUP_HOME", "VOLTA_HOME",
    // Servers in containers
    "DOCKER_CERT_PATH", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST", "DOCKER_TLS_VERIFY",
    // Servers with a window
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
];

/// Beginnings of names that are passed.
const PREFIXES: &[&str] = &[
    "LC_",
    "XDG_",
    "UV_",
    "PIP_",
    "npm_config_",
    "NPM_CONFIG_",
    "ASDF_",
    "FNM_",
    "MISE_",
];

/// Ends of names that are passed, in either case: `https_proxy`, `NO_PROXY`.
const SUFFIXES: &[&str] = &["_PROXY"];

/// Beginnings of names that are not passed although the list above has them: they hold the
/// credentials with which one publishes.
const REFUSED: &[&str] = &["UV_PUBLISH_", "MCPR_"];

/// What the gateway shows to a collector of spans.
const OF_SPANS: &[&str] = &["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

impl EnvPolicy {
    /// Whether the variable `name` of the gateway is passed on.
    pub fn passes(self, name: &OsStr) -> bool {
        match (self, name.to_str()) {
            (Self::Inherit, name) => !name.is_some_and(is_own),
            (Self::Clean, name) => name.is_some_and(is_listed),
        }
    }
}

impl EnvValue {
    /// Takes the text of a value.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the process that it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for EnvValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnvValue(..)")
    }
}

/// The allow-listed variables of this process, with `PATH` and `HOME` in any case.
pub fn base() -> Variables {
    compose(std::env::vars_os(), EnvPolicy::Clean, &[])
}

/// How many gateways this process is below: 0 unless a gateway started it.
pub fn depth() -> u32 {
    depth_in(std::env::var_os(DEPTH).as_deref())
}

/// What a child gets of the variables `ambient`, together with its `own`, which win.
///
/// [`MARK`] and [`DEPTH`] are not in it: the spawn adds them.
pub fn compose(
    ambient: impl IntoIterator<Item = (OsString, OsString)>,
    policy: EnvPolicy,
    own: &[(String, EnvValue)],
) -> Variables {
    let passed = ambient.into_iter().filter(|(name, _)| policy.passes(name));
    let own = own
        .iter()
        .map(|(name, value)| (name.into(), value.reveal().into()));
    let mut variables: Variables = passed.chain(own).collect();
    variables
        .entry("PATH".into())
        .or_insert_with(|| DEFAULT_PATH.into());
    variables.entry("HOME".into()).or_insert_with(home);
    variables
}

pub(super) fn depth_in(text: Option<&OsStr>) -> u32 {
    text.and_then(OsStr::to_str)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

fn is_listed(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let listed = NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| upper.ends_with(suffix));
    listed && !REFUSED.iter().any(|prefix| upper.starts_with(prefix))
}

/// Whether a variable is meant for the gateway alone.
fn is_own(name: &str) -> bool {
    name.starts_with("MCPR_") || OF_SPANS.contains(&name)
}

/// The home directory that the user database knows.
fn home() -> OsString {
    std::env::home_dir().map_or_else(|| "/".into(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ambient(names: &[&str]) -> Vec<(OsString, OsString)> {
        names.iter().map(|name| (name.into(), "ambient".into())).collect()
    }

    fn own(name: &str, value: &str) -> Vec<(String, EnvValue)> {
        vec![(name.to_owned(), EnvValue::new(value))]
    }

    fn names(variables: &Variables) -> Vec<&str> {
        variables.keys().filter_map(|name| name.to_str()).collect()
    }

    #[test]
    fn srv_02_the_allow_list_passes_what_tools_need_and_nothing_else() {
        let passed = "PATH HOME LC_ALL XDG_RUNTIME_DIR HTTPS_PROXY no_proxy NODE_EXTRA_CA_CERTS UV_INDEX_URL npm_config_registry";
        let kept_back = "GITHUB_TOKEN AWS_SECRET_ACCESS_KEY MCPR_TOKEN MCPR_HTTPS_PROXY UV_PUBLISH_TOKEN LD_PRELOAD SSH_AUTH_SOCK";
        for name in passed.split(' ') {
            assert!(EnvPolicy::Clean.passes(OsStr::new(name)), "{name}");
        }
        for name in kept_back.split(' ') {
            assert!(!EnvPolicy::Clean.passes(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn srv_02_inherit_passes_all_but_the_gateways_own() {
        let variables = compose(
            ambient(&["HOME", "PATH", "GITHUB_TOKEN", "MCPR_TOKEN"]),
            EnvPolicy::Inherit,
            &[],
        );
        assert_eq!(names(&variables), ["GITHUB_TOKEN", "HOME", "PATH"]);
    }

    #[test]
    fn srv_02_credentials_for_spans_are_inherited_by_nobody_who_is_not_given_them() {
        let of_all = "OTEL_EXPORTER_OTLP_HEADERS";
        let of_spans = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
        let there = ["HOME", "PATH", "OTEL_SERVICE_NAME", of_all, of_spans];
        let inherited = |own: &[_]| compose(ambient(&there), EnvPolicy::Inherit, own);
        assert_eq!(names(&inherited(&[])), ["HOME", "OTEL_SERVICE_NAME", "PATH"]);
        assert!(inherited(&own(of_all, "key=its-own")).contains_key(OsStr::new(of_all)));
    }

    #[test]
    fn b09_the_entry_is_merged_and_wins() {
        let variables = compose(
            ambient(&["PATH", "HOME", "LANG"]),
            EnvPolicy::Clean,
            &own("LANG", "C"),
        );
        assert_eq!(names(&variables), ["HOME", "LANG", "PATH"]);
        assert_eq!(variables[OsStr::new("LANG")], "C");
    }

    #[test]
    fn b09_path_and_home_are_there_even_if_the_gateway_has_none() {
        let variables = compose([], EnvPolicy::Clean, &own("X", "1"));
        assert_eq!(names(&variables), ["HOME", "PATH", "X"]);
        assert!(!variables[OsStr::new("HOME")].is_empty());
    }

    #[test]
    fn a_value_does_not_show_in_debug() {
        assert_eq!(
            format!("{:?}", own("API_KEY", "hunter2")),
            r#"[("API_KEY", EnvValue(..))]"#
        );
    }

    #[test]
    fn b110_a_depth_that_is_no_number_counts_as_none() {
        let depths = [None, Some("2"), Some("x"), Some("-1")].map(|text| depth_in(text.map(OsStr::new)));
        assert_eq!(depths, [0, 2, 0, 0]);
    }
}
