//! What can be typed about secrets.

use clap::Subcommand;

/// The commands for secrets.
#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Keep the value of a secret: typed when asked for, or piped in
    #[command(after_help = SETTING)]
    Set {
        /// Its name, as in ${secret:NAME}
        name: String,
        /// What stands here can be seen by other users, so it is refused.
        #[arg(hide = true)]
        value: Option<String>,
    },
    /// List the secrets that are kept or that servers ask for; never their values
    #[command(alias = "list")]
    Ls,
    /// Forget a secret
    #[command(alias = "remove")]
    Rm {
        /// Its name
        name: String,
    },
}

/// How a value is given.
const SETTING: &str = "\
The value is never taken from the command line, where other users can see it:
  mcpr-ctl secrets set github             asks for it, and does not show it
  pass show github | mcpr-ctl secrets set github
  mcpr-ctl secrets set tls-key < key.pem

One line break at the end of what is piped in is left out. The value is kept encrypted; servers whose entry has
${secret:NAME} are started anew with it, and the others run on.";
