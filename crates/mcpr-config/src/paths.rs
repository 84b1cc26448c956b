//! Paths as they are written in a file.

use std::path::{Path, PathBuf};

use crate::environment::Environment;

/// The folder of a configuration file: where its relative paths start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    home: Option<PathBuf>,
}

impl Folder {
    pub(crate) fn of(file: &Path, env: &dyn Environment) -> Self {
        let file = env.absolute(file);
        let path = file.parent().unwrap_or(Path::new("/")).to_owned();
        Self {
            path,
            home: env.home(),
        }
    }

    /// The full path that `text` stands for: from this folder, or from the home if it begins with `~/`.
    pub(crate) fn path(&self, text: &str) -> PathBuf {
        let from_home = text.strip_prefix("~/").zip(self.home.as_ref());
        let joined = match from_home {
            Some((rest, home)) => home.join(rest),
            None => self.path.join(text),
        };
        joined.components().collect()
    }

    /// A program: a bare name stays, to be looked for in `PATH`; anything else is a path.
    pub(crate) fn program(&self, text: &str) -> String {
        if text.contains(std::path::is_separator) {
            self.path(text).to_string_lossy().into_owned()
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::Fixed;

    #[test]
    fn b61_a_relative_path_starts_from_the_folder_of_the_file() {
        let folder = Folder::of(Path::new("conf/mcpr.json"), &Fixed::default());

        assert_eq!(folder.path("./sub").to_str(), Some("/base/conf/sub"));
        assert_eq!(folder.path("../sub").to_str(), Some("/base/conf/../sub"));
        assert_eq!(folder.path("~/src").to_str(), Some("/home/ann/src"));
        assert_eq!(folder.path("/abs").to_str(), Some("/abs"));
        assert_eq!(folder.program("./run.sh"), "/base/conf/run.sh");
        assert_eq!(folder.program("npx"), "npx");
    }
}
