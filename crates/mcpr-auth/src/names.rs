//! Names that a token is limited to.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names that a token is limited to. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Vec<String>", from = "Vec<String>")]
pub struct Names(Arc<[Box<str>]>);

impl Deref for Names {
    type Target = [Box<str>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: Into<Box<str>>> FromIterator<T> for Names {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

impl From<Names> for Vec<String> {
    fn from(names: Names) -> Self {
        names.iter().map(|name| name.to_string()).collect()
    }
}

impl From<Vec<String>> for Names {
    fn from(names: Vec<String>) -> Self {
        names.into_iter().collect()
    }
}
