//! The parts of the peers: what is installed into a folder of its own, in which versions.

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Npm(Npm),
    Python(Python),
}

/// The npm packages that are installed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Npm {
    /// Node itself, the servers and the clients.
    Peers,
    /// The conformance suite of the session era.
    Conformance0_1,
    /// The conformance suite of both eras.
    Conformance0_2,
    /// The command lines of Claude Code, Codex and Gemini.
    Clis,
}

/// The Python environments: one release of the Python SDK in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Python {
    /// The current release, with the servers time, git and fetch.
    Current,
    /// 1.2.0, which neither answers nor survives a probe.
    V1_2,
    /// 1.12.4, which refuses a probe and goes on.
    V1_12,
}

impl Part {
    /// The parts that most tests want.
    pub(super) const COMMON: &[Self] = &[
        Self::Npm(Npm::Peers),
        Self::Npm(Npm::Conformance0_1),
        Self::Npm(Npm::Conformance0_2),
        Self::Python(Python::Current),
        Self::Python(Python::V1_2),
        Self::Python(Python::V1_12),
    ];

    /// The part that is a gigabyte large, for the few tests that want it.
    pub(super) const CLIS: &[Self] = &[Self::Npm(Npm::Clis)];

    /// The file that tells which versions are installed.
    pub(super) fn stamp(self) -> String {
        let folder = match self {
            Self::Npm(npm) => npm.folder(),
            Self::Python(python) => python.folder(),
        };
        format!("{folder}.stamp")
    }

    /// All that decides what is installed.
    pub(super) fn pins(self) -> String {
        match self {
            Self::Npm(npm) => {
                let (package, lock) = npm.files();
                format!("{package}\n{lock}")
            }
            Self::Python(python) => python.pins().to_owned(),
        }
    }
}

impl Npm {
    /// The name of its folder.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Peers => "npm",
            Self::Conformance0_1 => "conformance-0.1",
            Self::Conformance0_2 => "conformance-0.2",
            Self::Clis => "clis",
        }
    }

    /// The name of its list in `tests/peers`.
    pub(super) fn source(self) -> &'static str {
        match self {
            Self::Peers => "package-lock.json",
            Self::Conformance0_1 => "conformance-0.1.16/package-lock.json",
            Self::Conformance0_2 => "conformance-0.2.0-alpha.12/package-lock.json",
            Self::Clis => "clis/package-lock.json",
        }
    }

    /// Its `package.json` and `package-lock.json`.
    pub(super) fn files(self) -> (&'static str, &'static str) {
        match self {
            Self::Peers => (
                include_str!("../../peers/package.json"),
                include_str!("../../peers/package-lock.json"),
            ),
            Self::Conformance0_1 => (
                include_str!("../../peers/conformance-0.1.16/package.json"),
                include_str!("../../peers/conformance-0.1.16/package-lock.json"),
            ),
            Self::Conformance0_2 => (
                include_str!("../../peers/conformance-0.2.0-alpha.12/package.json"),
                include_str!("../../peers/conformance-0.2.0-alpha.12/package-lock.json"),
            ),
            Self::Clis => (
                include_str!("../../peers/clis/package.json"),
                include_str!("../../peers/clis/package-lock.json"),
            ),
        }
    }
}

impl Python {
    /// The name of its folder.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Current => "python-current",
            Self::V1_2 => "python-1.2",
            Self::V1_12 => "python-1.12",
        }
    }

    /// Its packages.
    pub(super) fn pins(self) -> &'static str {
        match self {
            Self::Current => include_str!("../../peers/python-current.txt"),
            Self::V1_2 => include_str!("../../peers/python-1.2.txt"),
            Self::V1_12 => include_str!("../../peers/python-1.12.txt"),
        }
    }
}
