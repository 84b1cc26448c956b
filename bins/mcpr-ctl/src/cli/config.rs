//! What can be typed about the configuration.

use clap::Subcommand;

use super::parse;

/// The commands for the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show the files that count, without secrets
    Show {
        /// Show what they come to together, each value with the file and line it is from
        #[arg(long)]
        effective: bool,
    },
    /// Show which files are looked at, and which count
    Path,
    /// Check the configuration without starting anything
    Check,
    /// Open the configuration file in the editor
    Edit,
    /// Print the JSON Schema of the file
    Schema,
    /// Print one value of the object mcpr at the top
    Get {
        /// Its key, with dots, such as timeouts.call
        #[arg(value_parser = parse::path)]
        key: parse::Path,
    },
    /// Change one value of the object mcpr at the top
    #[command(after_help = SETTING)]
    Set {
        /// Its key, with dots, such as timeouts.call
        #[arg(value_parser = parse::path)]
        key: parse::Path,
        /// Its value; an empty one removes the key
        value: String,
    },
}

const SETTING: &str = "\
VALUE is taken as JSON if it is JSON, else as a text. A key that has dots itself stands in double quotes.

Examples:
  mcpr-ctl config set timeouts.call 10m
  mcpr-ctl config set limits.pageSize 500
  mcpr-ctl config set listen \"\"";
