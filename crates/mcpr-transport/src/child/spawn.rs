//! Starts a child.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::net::unix::pipe::{Receiver, Sender};
use tokio_util::task::AbortOnDropHandle;
use tracing::debug;

use super::env::{self, DEPTH, DEPTH_LIMIT, EnvPolicy, EnvValue, MARK, Variables};
use super::keeper::{self, Kept};
use super::lines::{LINE_MAX, LineReader};
use super::resolve::{NotFound, resolve};
use super::stderr::stderr;
use super::{Child, Guardian, Stdout, Writer};

/// What to start, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChildSpec {
    /// The name of the server, for the log.
    pub server: String,
    /// A program: a name that is looked for in `PATH`, or a path with a slash, relative to `cwd`.
    pub command: String,
    /// Its arguments, given as they are.
    pub args: Vec<String>,
    /// Variables of its own.
    pub env: Vec<(String, EnvValue)>,
    /// Which variables of this process it gets beside them.
    pub env_policy: EnvPolicy,
    /// Where it runs; here, if not said.
    pub cwd: Option<PathBuf>,
    /// The longest line that is taken from its stdout, in bytes.
    pub line_max: usize,
}

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The command names no program.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// The folder to run in is none.
    #[error("the working folder `{path}` does not exist", path = .0.display())]
    NoFolder(PathBuf),
    /// A gateway starts a gateway that starts a gateway: probably each is configured as its own
    /// server.
    #[error("{0} gateways have started one another in a row; remove mcpr from its own servers")]
    TooDeep(u32),
    /// The system would not start it.
    #[error("starting `{program}` failed{hint}", program = .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What may be wrong with it.
        hint: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl ChildSpec {
    /// A command without arguments and without variables of its own.
    pub fn new(server: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            env_policy: EnvPolicy::Clean,
            cwd: None,
            line_max: LINE_MAX,
        }
    }

    /// The program with its arguments, variables and folder.
    fn command(&self, mark: &str) -> Result<Command, SpawnError> {
        let cwd = self.folder()?;
        let variables = self.variables(mark, env::depth())?;
        let path = variables
            .get(std::ffi::OsStr::new("PATH"))
            .cloned()
            .unwrap_or_default();
        let program = resolve(&self.command, &path, None, &cwd)?;
        let mut command = Command::new(program);
        command
            .args(&self.args)
            .env_clear()
            .envs(variables)
            .current_dir(cwd);
        Ok(command)
    }

    fn folder(&self) -> Result<PathBuf, SpawnError> {
        let cwd = self.cwd.as_deref().unwrap_or(Path::new("."));
        match std::path::absolute(cwd) {
            Ok(folder) if folder.is_dir() => Ok(folder),
            _ => Err(SpawnError::NoFolder(cwd.to_owned())),
        }
    }

    /// The child's variables when this gateway is below `depth` others.
    pub(super) fn variables(&self, mark: &str, depth: u32) -> Result<Variables, SpawnError> {
        if depth >= DEPTH_LIMIT {
            return Err(SpawnError::TooDeep(depth));
        }
        let mut variables = env::compose(std::env::vars_os(), self.env_policy, &self.env);
        variables.insert(MARK.into(), mark.into());
        variables.insert(DEPTH.into(), (depth + 1).to_string().into());
        Ok(variables)
    }
}

/// Does what [`Child::spawn`] says.
pub(super) async fn spawn(spec: &ChildSpec, guardian: &Guardian) -> Result<(Child, Stdout), SpawnError> {
    let mark = guardian.next_mark();
    let command = spec.command(&mark)?;
    let program = PathBuf::from(command.get_program());
    let failed = |source: io::Error| SpawnError::Start {
        program,
        hint: hint(&source),
        source,
    };
    match keeper::keep(command, mark, guardian.clone())
        .await
        .and_then(|kept| assemble(spec, kept))
    {
        Ok((child, stdout)) => {
            debug!(server = %spec.server, pid = child.pid(), "server started");
            Ok((child, stdout))
        }
        Err(source) => Err(failed(source)),
    }
}

/// The kernel says of a script that it does not exist when its interpreter does not.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; is the interpreter that its first line names installed?",
        _ => "",
    }
}

fn assemble(spec: &ChildSpec, kept: Kept) -> io::Result<(Child, Stdout)> {
    let Kept {
        leash,
        phase,
        stdin,
        stdout,
        stderr: stderr_pipe,
    } = kept;
    let writer = Writer::new(Sender::from_owned_fd(stdin.into())?);
    let stdout = LineReader::with_max(Receiver::from_owned_fd(stdout.into())?, spec.line_max);
    let (stderr, drain) = stderr(&spec.server, &spec.env);
    let drain = drain.run(Receiver::from_owned_fd(stderr_pipe.into())?);
    let tasks = [tokio::spawn(drain), tokio::spawn(writer.clone().run())].map(AbortOnDropHandle::new);
    let server = spec.server.clone();
    Ok((
        Child {
            server,
            leash,
            phase,
            writer,
            stderr,
            _tasks: tasks,
        },
        stdout,
    ))
}
