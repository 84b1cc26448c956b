//! Help beyond the single arguments.

use std::fmt::Write;

use mcpr_admin::ExitCode;

/// How `--arg` is read.
pub(super) const ARGUMENTS: &str = "\
Values of --arg:
  VALUE is taken as JSON if it is JSON, else as a text:
    --arg n=5          the number 5         --arg path=.       the text \".\"
    --arg deep=true    the boolean true     --arg n='\"5\"'      the text \"5\"
    --arg tags='[1]'   a list               --arg s=\"it's\"     the text \"it's\"";

const ENVIRONMENT: &str = "\
Environment:
  MCPR_TOKEN    the admin token for --gateway
  MCPR_GATEWAY  as --gateway
  MCPR_SOCKET   as --socket
  MCPR_HOME     one folder for configuration, database, logs and socket
  NO_COLOR      no colours";

/// The table of exit codes.
pub(super) fn exit_codes() -> String {
    let mut table = String::from("Exit codes:");
    for code in ExitCode::ALL {
        let _ = write!(table, "\n  {:<4}{}", code.number(), code.meaning());
    }
    table
}

/// What stands below the long help.
pub(super) fn after_help() -> String {
    format!("{}\n\n{ENVIRONMENT}", exit_codes())
}
