//! What can be typed.

mod completions;
mod init;
#[cfg(test)]
mod tests;
mod topics;
pub(crate) mod usage;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use mcpr_config::{Listen, LogFile, Overrides, StartMode, TlsFiles};
use mcpr_telemetry::{Format, Level};

use self::completions::{Completions, Man};
pub(crate) use self::init::Init;
use crate::demo_server::Which;

/// Memory is told no more often.
const OFTEN: Duration = Duration::from_millis(100);

/// One endpoint in front of many MCP servers. Without a command: serve.
#[derive(Debug, Parser)]
#[command(
    name = "mcpr-gateway",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
#[command(after_long_help = topics::after_help())]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) serve: Serve,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway and serve clients over HTTP
    Serve(Serve),
    /// Run a whole gateway on standard input and output, for a client that starts it itself
    Stdio(Stdio),
    /// Connect standard input and output to a running gateway
    Connect(Connect),
    /// Check the configuration without starting anything
    Check(Check),
    /// Take the servers of the clients on this machine over into a configuration
    Init(Init),
    /// Run a gateway with three small servers of its own, to try it out
    Demo(Demo),
    /// Show the version
    Version {
        /// Print one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what makes a shell complete commands and options
    Completions(Completions),
    /// Write the man pages of mcpr-gateway into a folder
    #[command(hide = true)]
    Man(Man),
    /// Ends the servers of a gateway that was killed.
    #[command(name = "__guardian", hide = true)]
    Guardian,
    /// One of the servers of the demo.
    #[command(name = "__demo-server", hide = true)]
    DemoServer { which: Which },
}

/// What can be said about serving.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Address to listen on, with or without a port
    #[arg(long, value_name = "ADDR")]
    listen: Option<Listen>,
    /// Port to listen on, whatever the address; 0 takes any free one
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Certificate of the address, a file of PEM: it then speaks https and nothing else
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Key of the certificate, a file of PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: Log,
    /// Serve whoever can reach the address, without tokens; for loopback addresses only
    #[arg(long)]
    pub(crate) no_auth: bool,
    /// Fail the start if any server cannot be used
    #[arg(long)]
    strict: bool,
}

/// What can be said about a gateway on a pipe.
#[derive(Debug, Args)]
pub(crate) struct Stdio {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) log: Log,
    /// Project to work in: only its servers are seen
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Toolset to work with: only its tools are seen, whatever is equipped
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
    /// Fail the start if any server cannot be used
    #[arg(long)]
    strict: bool,
}

/// What can be said about the way to a running gateway.
#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// Where it is, with the token in MCPR_TOKEN; without it, the gateway of this user on this machine
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Project to work in: only its servers are seen
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Toolset to work with: only its tools are seen, whatever is equipped
    #[arg(long, value_name = "TOOLSET")]
    pub(crate) toolset: Option<String>,
}

/// What can be said about a check.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be said about the demo.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Port to listen on; 0 takes any free one
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    #[command(flatten)]
    pub(crate) log: Log,
}

/// Which configuration is meant.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Configuration file; may be given several times, a later one wins over an earlier one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
}

/// What is logged, and where.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Least grave level that is logged: trace, debug, info, warn, error or fatal
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<Level>,
    /// Shape of the lines: pretty or json; pretty on a terminal, json elsewhere
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<Format>,
    /// Log file besides standard error: auto, off or a path
    #[arg(long, value_name = "FILE", value_parser = log_file)]
    log_file: Option<LogFile>,
    /// Log how much memory the gateway takes, at level info: every minute, or this often
    #[arg(long, value_name = "TIME", value_parser = often, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "1m")]
    log_memory: Option<Duration>,
}

impl Serve {
    /// What it says over the file and the variables.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            listen: self.listen,
            port: self.port,
            tls: self.tls(),
            start_mode: mode(self.strict),
            ..self.log.overrides()
        }
    }
}

impl Serve {
    fn tls(&self) -> Option<TlsFiles> {
        Some(TlsFiles {
            cert: self.tls_cert.clone()?,
            key: self.tls_key.clone()?,
        })
    }
}

impl Stdio {
    /// What it says over the file and the variables.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            start_mode: mode(self.strict),
            ..self.log.overrides()
        }
    }
}

impl Demo {
    /// What it says over the file and the variables. The demo has enough to show without log lines.
    pub(crate) fn overrides(&self) -> Overrides {
        let flags = self.log.overrides();
        Overrides {
            port: self.port,
            log_level: flags.log_level.or(Some(Level::Warn)),
            ..flags
        }
    }
}

impl Log {
    fn overrides(&self) -> Overrides {
        Overrides {
            log_level: self.log_level,
            log_format: self.log_format,
            ..Overrides::default()
        }
    }

    /// How often memory is told.
    pub(crate) fn memory(&self) -> Option<Duration> {
        self.log_memory
    }

    /// The file that is wanted, if one was named.
    pub(crate) fn file(&self) -> Option<LogFile> {
        self.log_file.clone()
    }
}

fn mode(strict: bool) -> Option<StartMode> {
    strict.then_some(StartMode::Strict)
}

fn often(text: &str) -> Result<Duration, String> {
    let time = mcpr_config::duration(text).filter(|time| *time >= OFTEN);
    time.ok_or_else(|| "write a time from 100ms on, such as 10s or 5m".to_owned())
}

fn log_file(text: &str) -> Result<LogFile, String> {
    match text {
        "" => Err("write auto, off or a path".to_owned()),
        "auto" => Ok(LogFile::Auto),
        "off" | "none" => Ok(LogFile::Off),
        path => Ok(LogFile::At(path.into())),
    }
}
