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

/// How a topic is shown, which is no command and has no options.
pub(super) const TEMPLATE: &str = "{about}{after-help}";

/// The variables that count, for both programs.
pub(super) const ENVIRONMENT: &str = "\
Environment (a flag wins over a variable, and that over the file):
  MCPR_CONFIG      as --config, for one file
  MCPR_HOME        one folder for configuration, database, logs and socket, in place of the folders below
  MCPR_TOKEN       mcpr-ctl: the admin token for --gateway; mcpr-gateway connect: the token for --url; both: the
                   token for the control socket, if the configuration says control.token
  NO_COLOR         no colours, unless --color says otherwise
  CLICOLOR_FORCE   colours off a terminal too

mcpr-ctl:
  MCPR_GATEWAY     as --gateway
  MCPR_SOCKET      as --socket
  VISUAL, EDITOR   the editor of `config edit` and `servers edit`
  COLUMNS          the width of the terminal

mcpr-gateway:
  MCPR_LISTEN      as --listen
  MCPR_PORT        as --port
  MCPR_TLS_CERT    as --tls-cert
  MCPR_TLS_KEY     as --tls-key
  MCPR_LOG_LEVEL   as --log-level
  MCPR_LOG_FORMAT  as --log-format

Folders, each with mcpr in it:
  XDG_CONFIG_HOME  of the configuration; ~/.config without it
  XDG_DATA_HOME    of the database; ~/.local/share without it
  XDG_STATE_HOME   of the logs; ~/.local/state without it
  XDG_RUNTIME_DIR  of the control socket; that of the logs without it

Under systemd CONFIGURATION_DIRECTORY, STATE_DIRECTORY, LOGS_DIRECTORY, RUNTIME_DIRECTORY and CREDENTIALS_DIRECTORY
count before these. The configuration may name further variables, as ${NAME}.";

/// What goes in and what comes out.
pub(super) const FORMATS: &str = "\
What comes out:
  Data goes to standard output, everything else to standard error; -q leaves out all but errors. On a terminal tables
  are aligned, coloured and cut to its width, and times are relative. Elsewhere columns are separated by tabs, nothing
  is cut or coloured, and times are RFC 3339 in UTC.

  --json gives one line of JSON: what the operation of the admin API answers, member by member. Later versions add
  members and neither rename nor remove any. Commands that go on (--watch, events, logs, history -f, top) give one
  line for each change, event, line, call or interval. Sizes are bytes and times RFC 3339.

  A command that fails with --json writes to standard output
    {\"error\":{\"code\":\"not_found\",\"message\":\"what failed, and why\",\"hint\":\"what to do next\"}}
  where hint may be missing and data may be there. The code is one of invalid, not_found, permission, not_running,
  unavailable, invalid_config, timed_out and failed; the exit code follows from it.

What goes in:
  times to wait    500ms, 30s, 5m, 1h30m, 90d
  points in time   2027-04-15T08:00:00Z, or a time from now or ago where the option says so
  tools, prompts   the name that clients see, or SERVER.TOOL
  tokens           the id, its beginning if no other begins like it, or the name
  files            a path; - is standard input where the option says so
  values           JSON if it is JSON, else a text, for --arg, `config set` and `servers set`

  Names that are not found are compared with those that are there. `mcpr-ctl completions` has a shell complete them.";

const MAIN_VARIABLES: &str = "\
Environment (`mcpr-ctl help environment` has all):
  MCPR_TOKEN    the admin token for --gateway, or for the socket if control.token is set
  MCPR_GATEWAY  as --gateway
  MCPR_SOCKET   as --socket
  MCPR_CONFIG   as --config
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
    format!(
        "{}\n\n{MAIN_VARIABLES}\n\nMore: mcpr-ctl help exit-codes | environment | formats",
        exit_codes()
    )
}
