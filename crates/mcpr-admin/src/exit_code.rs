//! How a program of mcpr ends, as a number for scripts.

use std::process;

/// The exit codes of `mcpr-gateway` and `mcpr-ctl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// 0: it was done.
    Ok = 0,
    /// 1: it was tried and failed.
    Failed = 1,
    /// 2: the command or its arguments are wrong; nothing was tried.
    Usage = 2,
    /// 3: what was named does not exist.
    NotFound = 3,
    /// 4: the caller may not do this.
    Permission = 4,
    /// 5: there is no gateway where one was looked for.
    NotRunning = 5,
    /// 6: it was done in part, or some servers are not well.
    Partly = 6,
    /// 7: the configuration cannot be used.
    ConfigInvalid = 7,
    /// 8: the address to listen on is taken.
    AddressInUse = 8,
    /// 124: it was not done in time.
    TimedOut = 124,
    /// 130: the user ended it.
    Interrupted = 130,
}

impl ExitCode {
    /// All of them, the lowest first.
    pub const ALL: &[Self] = &[
        Self::Ok,
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Permission,
        Self::NotRunning,
        Self::Partly,
        Self::ConfigInvalid,
        Self::AddressInUse,
        Self::TimedOut,
        Self::Interrupted,
    ];

    /// The number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// What it means, in a few words for a help text.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::Failed => "failed",
            Self::Usage => "wrong usage; nothing was tried",
            Self::NotFound => "not found",
            Self::Permission => "not allowed, or the token is missing or bad",
            Self::NotRunning => "no gateway can be reached",
            Self::Partly => "done in part, or some servers are not well",
            Self::ConfigInvalid => "the configuration is invalid",
            Self::AddressInUse => "the address is in use",
            Self::TimedOut => "timed out",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        code.number().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctl_01_the_numbers_are_as_documented() {
        let table = ExitCode::ALL
            .iter()
            .map(|code| format!("{:>3}  {}\n", code.number(), code.meaning()));
        insta::assert_snapshot!(table.collect::<String>());
    }
}
