//! Where the files of clients lie.

use std::path::PathBuf;

use super::ClientApp;
use super::table::Spots;
use crate::environment::Environment;

/// An operating system, as far as places of files go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// Linux and its like.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

/// What a variable in the table stands for when it is not set, below the home.
const USUAL: [(&str, &str); 4] = [
    ("$XDG_CONFIG_HOME", ".config"),
    ("$CODEX_HOME", ".codex"),
    ("$CLAUDE_CONFIG_DIR", ""),
    ("$APPDATA", "AppData/Roaming"),
];

impl System {
    /// Every system.
    pub const ALL: [Self; 3] = [Self::Linux, Self::Mac, Self::Windows];

    /// The one that this program was made for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Linux
    };

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Mac => "macOS",
            Self::Windows => "Windows",
        }
    }
}

impl ClientApp {
    /// The user's files of the client on this machine, whether or not they exist. A new entry goes
    /// into the first that exists, else into the first.
    pub fn files(self, env: &dyn Environment) -> Vec<PathBuf> {
        let spots = self.profile().user.on(System::HERE);
        spots.iter().filter_map(|spot| path(spot, env)).collect()
    }

    /// The user's file as people write it on that system.
    pub fn usual_file(self, system: System) -> String {
        let spots = self.profile().user.on(system);
        spots.first().map_or_else(String::new, |spot| shown(spot, system))
    }

    /// The file of a project, below the project's folder.
    pub fn project_file(self) -> Option<&'static str> {
        self.profile().project
    }
}

impl Spots {
    fn on(&self, system: System) -> &'static [&'static str] {
        match system {
            System::Linux => self.linux,
            System::Mac => self.mac,
            System::Windows => self.windows,
        }
    }
}

fn path(spot: &str, env: &dyn Environment) -> Option<PathBuf> {
    let (base, rest) = spot.split_once('/')?;
    let usual = USUAL.iter().find(|(name, _)| *name == base);
    let Some((name, below_home)) = usual else {
        return Some(env.home()?.join(rest));
    };
    let set = env
        .variable_os(name.trim_start_matches('$'))
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute());
    let base = set.or_else(|| Some(env.home()?.join(below_home)))?;
    Some(base.join(rest))
}

fn shown(spot: &str, system: System) -> String {
    if system == System::Windows {
        let spot = spot.replace("$APPDATA", "%APPDATA%");
        return below_home(&spot)
            .replacen('~', "%USERPROFILE%", 1)
            .replace('/', "\\");
    }
    below_home(spot)
}

fn below_home(spot: &str) -> String {
    let usual = USUAL
        .iter()
        .find_map(|(name, folder)| Some((spot.strip_prefix(name)?, folder)));
    match usual {
        Some((rest, &"")) => format!("~{rest}"),
        Some((rest, folder)) => format!("~/{folder}{rest}"),
        None => spot.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::Fixed;

    #[test]
    fn every_client_has_its_file_on_every_system() {
        let row = |app: ClientApp| {
            let files = System::ALL.map(|system| app.usual_file(system));
            format!("{app}: {}", files.join(" | "))
        };
        insta::assert_snapshot!(ClientApp::ALL.map(row).join("\n"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn variables_move_files() {
        let env = Fixed::default()
            .with("CODEX_HOME", "/c")
            .with("CLAUDE_CONFIG_DIR", "/cl")
            .with("XDG_CONFIG_HOME", "relative");
        let file = |app: ClientApp| app.files(&env)[0].display().to_string();

        assert_eq!(file(ClientApp::Codex), "/c/config.toml");
        assert_eq!(file(ClientApp::ClaudeCode), "/cl/.claude.json");
        assert_eq!(file(ClientApp::Zed), "/home/ann/.config/zed/settings.json");
        assert_eq!(
            ClientApp::ClaudeCode.files(&Fixed::default())[0],
            PathBuf::from("/home/ann/.claude.json")
        );
        assert_eq!(ClientApp::Cline.files(&env).len(), 3);
        assert!(ClientApp::Cursor.files(&Fixed::default().homeless()).is_empty());
    }
}
