//! Where mcpr's files are.

use std::path::{Path, PathBuf};

use mcpr_secrets::Vault;

use crate::environment::Environment;
use crate::error::ConfigError;

/// Where the configuration is looked for, and where everything else lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Locations {
    /// Which configuration files count.
    pub sources: Sources,
    /// The places of all files.
    pub paths: Paths,
    /// Where `${secret:NAME}` is looked for.
    pub secrets: SecretFolders,
}

/// Which configuration files count (CFG-01). The current folder is never looked into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sources {
    /// All of these, which must exist; a later one wins over an earlier one.
    Named(Vec<PathBuf>),
    /// The first that exists.
    Usual(Vec<PathBuf>),
}

/// The places of all files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Paths {
    /// The user's configuration file, whether or not it is the one in use.
    pub config: PathBuf,
    /// The database.
    pub database: PathBuf,
    /// The folder of the log files.
    pub logs: PathBuf,
    /// The control socket.
    pub socket: PathBuf,
    /// The secrets that `mcpr-ctl secrets` keeps, encrypted.
    pub secrets: PathBuf,
}

/// Where `${secret:NAME}` is looked for, in this order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SecretFolders {
    /// The credentials that systemd hands to a service; it cares for their protection.
    pub credentials: Option<PathBuf>,
    /// What `mcpr-ctl secrets set` keeps, encrypted.
    pub vault: Option<PathBuf>,
    /// Files in the folder `secrets` beside the user's configuration file; only private files count.
    pub own: Option<PathBuf>,
}

impl Locations {
    /// Whether that is a file of mcpr itself, which nothing else may be written into.
    pub fn is_own(&self, file: &Path) -> bool {
        let with = |path: &Path, end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let Paths {
            config,
            database,
            logs,
            socket,
            secrets,
        } = &self.paths;
        let (Sources::Named(sources) | Sources::Usual(sources)) = &self.sources;
        let own = [
            config.clone(),
            database.clone(),
            with(database, "-wal"),
            with(database, "-shm"),
            database.with_extension("lock"),
            socket.clone(),
            secrets.clone(),
            with(secrets, ".lock"),
            Vault::at(secrets).key_path().to_owned(),
        ];
        let folders = [
            Some(logs),
            self.secrets.own.as_ref(),
            self.secrets.credentials.as_ref(),
        ];
        let file = real(file);
        own.iter().chain(sources).any(|own| real(own) == file)
            || file.exists()
                && folders
                    .into_iter()
                    .flatten()
                    .any(|folder| file.parent() == Some(&*real(folder)))
    }
}

/// Where a path leads to, or would if there were something.
fn real(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let in_its_folder = || {
        let folder = whole.parent()?.canonicalize().ok()?;
        Some(folder.join(whole.file_name()?))
    };
    whole.canonicalize().ok().or_else(in_its_folder).unwrap_or(whole)
}

/// The machine's configuration file, for all users.
const SYSTEM_FILE: &str = "/etc/mcpr/mcpr.json";

impl Locations {
    /// Finds them from the files of `--config`, and these variables: `MCPR_CONFIG` names the
    /// configuration file; `MCPR_HOME` is one folder for everything; under systemd
    /// `CONFIGURATION_DIRECTORY`, `STATE_DIRECTORY`, `LOGS_DIRECTORY`, `RUNTIME_DIRECTORY` and
    /// `CREDENTIALS_DIRECTORY`; else `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_STATE_HOME` and
    /// `XDG_RUNTIME_DIR`; else the folders in the home that these stand for.
    ///
    /// # Errors
    ///
    /// [`ConfigError::NoHome`] when neither the variables nor the system name a folder.
    pub fn from_env(explicit: &[PathBuf], env: &dyn Environment) -> Result<Self, ConfigError> {
        let home = folder(env, "MCPR_HOME").map(|home| env.absolute(&home));
        let paths = match &home {
            Some(home) => Paths::under(home),
            None => Paths::usual(env)?,
        };
        let sources = named(explicit, env).unwrap_or_else(|| usual(&paths, home.is_some()));
        let secrets = SecretFolders {
            credentials: folder(env, "CREDENTIALS_DIRECTORY"),
            vault: Some(paths.secrets.clone()),
            own: paths.config.parent().map(|folder| folder.join("secrets")),
        };
        Ok(Self {
            sources,
            paths,
            secrets,
        })
    }
}

fn named(explicit: &[PathBuf], env: &dyn Environment) -> Option<Sources> {
    if !explicit.is_empty() {
        return Some(Sources::Named(explicit.to_vec()));
    }
    folder(env, "MCPR_CONFIG").map(|file| Sources::Named(vec![file]))
}

/// A home of its own is closed: the machine's file does not reach into it.
fn usual(paths: &Paths, closed: bool) -> Sources {
    let system = Some(PathBuf::from(SYSTEM_FILE)).filter(|system| !closed && *system != paths.config);
    Sources::Usual(std::iter::once(paths.config.clone()).chain(system).collect())
}

impl Paths {
    /// All of them in one folder.
    pub fn under(home: &Path) -> Self {
        Self {
            config: home.join("mcpr.json"),
            database: home.join("mcpr.db"),
            logs: home.join("logs"),
            socket: home.join("ctl.sock"),
            secrets: home.join("secrets.json"),
        }
    }

    fn usual(env: &dyn Environment) -> Result<Self, ConfigError> {
        let within_home = |path: &str| env.home().map(|home| home.join(path));
        let own = |service: &str, desktop: &str, home: &str| {
            let base = || {
                folder(env, desktop)
                    .filter(|base| base.is_absolute())
                    .or_else(|| within_home(home))
            };
            first_of(env, service).or_else(|| base().map(|base| base.join("mcpr")))
        };
        let config =
            own("CONFIGURATION_DIRECTORY", "XDG_CONFIG_HOME", ".config").ok_or(ConfigError::NoHome)?;
        let data = own("STATE_DIRECTORY", "XDG_DATA_HOME", ".local/share").ok_or(ConfigError::NoHome)?;
        let state = own("STATE_DIRECTORY", "XDG_STATE_HOME", ".local/state").ok_or(ConfigError::NoHome)?;
        let runtime = folder(env, "XDG_RUNTIME_DIR").filter(|folder| folder.is_absolute());
        let runtime = first_of(env, "RUNTIME_DIRECTORY").or(runtime.map(|folder| folder.join("mcpr")));
        Ok(Self {
            config: config.join("mcpr.json"),
            database: data.join("mcpr.db"),
            logs: first_of(env, "LOGS_DIRECTORY").unwrap_or_else(|| state.join("logs")),
            socket: runtime.unwrap_or(state).join("ctl.sock"),
            secrets: data.join("secrets.json"),
        })
    }
}

/// The path in a variable; an empty one counts as unset.
fn folder(env: &dyn Environment, name: &str) -> Option<PathBuf> {
    env.variable_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// systemd separates several folders with colons.
fn first_of(env: &dyn Environment, name: &str) -> Option<PathBuf> {
    let all = env.variable_os(name)?;
    std::env::split_paths(&all)
        .next()
        .filter(|first| first.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::Fixed;

    fn found(env: &Fixed) -> Locations {
        Locations::from_env(&[], env).unwrap()
    }

    #[test]
    fn cfg_01_named_files_win_over_the_variable_and_that_over_the_usual_ones() {
        let env = Fixed::default().with("MCPR_CONFIG", "/etc/one.json");

        let flags = Locations::from_env(&["a.json".into(), "b.json".into()], &env).unwrap();
        let variable = found(&env);
        let neither = found(&Fixed::default());

        assert_eq!(
            flags.sources,
            Sources::Named(vec!["a.json".into(), "b.json".into()])
        );
        assert_eq!(variable.sources, Sources::Named(vec!["/etc/one.json".into()]));
        assert_eq!(
            neither.sources,
            Sources::Usual(vec![
                "/home/ann/.config/mcpr/mcpr.json".into(),
                "/etc/mcpr/mcpr.json".into()
            ])
        );
    }

    #[test]
    fn cfg_01_everything_has_its_usual_place() {
        insta::assert_debug_snapshot!(found(&Fixed::default()).paths);
    }

    #[test]
    fn cfg_01_the_desktop_s_folders_are_honoured_if_they_are_absolute() {
        let env = Fixed::default()
            .with("XDG_CONFIG_HOME", "/c")
            .with("XDG_DATA_HOME", "relative")
            .with("XDG_RUNTIME_DIR", "/run/user/1000");
        insta::assert_debug_snapshot!(found(&env).paths);
    }

    #[test]
    fn cfg_01_a_home_of_its_own_holds_everything_and_hides_the_machine_s_file() {
        let env = Fixed::default()
            .with("MCPR_HOME", "here")
            .with("XDG_RUNTIME_DIR", "/run/user/1000");
        insta::assert_debug_snapshot!(found(&env));
    }

    #[test]
    fn cfg_01_a_service_gets_the_folders_that_systemd_made_for_it() {
        let env = Fixed::default()
            .homeless()
            .with("CONFIGURATION_DIRECTORY", "/etc/mcpr:/etc/other")
            .with("STATE_DIRECTORY", "/var/lib/mcpr")
            .with("LOGS_DIRECTORY", "/var/log/mcpr")
            .with("RUNTIME_DIRECTORY", "/run/mcpr")
            .with("CREDENTIALS_DIRECTORY", "/run/credentials/mcpr.service");
        insta::assert_debug_snapshot!(found(&env));
    }

    #[cfg(unix)]
    #[test]
    fn cfg_01_a_place_that_is_no_text_is_taken_as_it_is_and_never_passed_over() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let bytes = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
        let home = found(&Fixed::default().with("MCPR_HOME", bytes(b"/h\xe9")));
        let file = found(&Fixed::default().with("MCPR_CONFIG", bytes(b"c\xe9.json")));
        let service = found(&Fixed::default().with("STATE_DIRECTORY", bytes(b"/s\xe9:/other")));

        assert_eq!(home.paths, Paths::under(bytes(b"/h\xe9").as_ref()));
        assert_eq!(file.sources, Sources::Named(vec![bytes(b"c\xe9.json").into()]));
        assert_eq!(service.paths.database, Path::new(bytes(b"/s\xe9/mcpr.db")));
    }

    #[test]
    fn cfg_01_without_any_home_the_message_says_what_to_set() {
        let error = Locations::from_env(&[], &Fixed::default().homeless()).unwrap_err();
        insta::assert_snapshot!(error);
    }
}
