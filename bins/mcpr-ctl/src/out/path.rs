//! Paths in JSON, which is text; a path need not be.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// The path as it is shown everywhere else.
pub(crate) fn shown<S: Serializer>(path: impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.as_ref().display())
}

/// The same for one that may not be there.
pub(crate) fn shown_if_any<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref()
        .map(|path| path.display().to_string())
        .serialize(serializer)
}
