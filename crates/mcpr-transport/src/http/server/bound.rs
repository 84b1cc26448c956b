//! An address that is taken before anything else is started.

use std::fmt;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType, sockopt};

use super::holder::{self, Holder};
use super::local::Local;
use super::wire::Socket;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

/// An address that this process holds; [`serve`](super::serve) answers on it.
///
/// Clients that connect meanwhile wait. Dropping it gives the address back.
#[derive(Debug)]
pub struct Bound(Listening);

#[derive(Debug)]
enum Listening {
    Network(TcpListener),
    Local(UnixListener, SocketFile),
}

/// The file of a local socket; removed with it.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

/// A bound address in the hands of the runtime.
pub(super) enum Listener {
    Network(tokio::net::TcpListener),
    Local(Local),
}

/// Why an address cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Another process has the port.
    #[error(
        "port {} on {} is taken by {}: choose another one with `--port N` or MCPR_PORT=N, or {}",
        addr.port(), addr.ip(), Named(holder.as_ref()), Ended(holder.as_ref())
    )]
    InUse {
        /// What was asked for.
        addr: SocketAddr,
        /// Who has it, where the system tells.
        holder: Option<Holder>,
    },
    /// Another process answers on the socket file.
    #[error(
        "the socket {} is served by {}: set another folder with MCPR_HOME, or {}",
        path.display(), Named(holder.as_ref()), Ended(holder.as_ref())
    )]
    SocketInUse {
        /// What was asked for.
        path: PathBuf,
        /// Who has it, where the system tells.
        holder: Option<Holder>,
    },
    /// Something else lies where the socket file should be.
    #[error("{} is no socket, so it is left alone: move it away, or set another folder with MCPR_HOME", path.display())]
    NotASocket {
        /// What was asked for.
        path: PathBuf,
    },
    /// The service manager passes something else than a socket that listens on the network.
    #[error(
        "the socket `{name}` that the service manager passes does not listen for TCP connections: \
         its unit needs `ListenStream=HOST:PORT` and `Accept=no`"
    )]
    NotAListener {
        /// What its unit calls it.
        name: String,
    },
    /// The system says no for another reason.
    #[error("cannot listen on {place}: {}", advice(source))]
    Refused {
        /// What was asked for.
        place: String,
        /// What the system says.
        source: io::Error,
    },
}

impl Bound {
    /// Takes a port; port 0 is any free one.
    ///
    /// # Errors
    ///
    /// [`BindError::InUse`] when another process has it, else [`BindError::Refused`].
    pub fn tcp(addr: SocketAddr) -> Result<Self, BindError> {
        let bound = TcpListener::bind(addr).and_then(|listener| {
            // The standard library keeps a queue that is short for a start with many clients.
            net::listen(&listener, BACKLOG)?;
            listener.set_nonblocking(true)?;
            Ok(Self(Listening::Network(listener)))
        });
        bound.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse {
                addr,
                holder: holder::of_port(addr),
            },
            _ => BindError::Refused {
                place: addr.to_string(),
                source,
            },
        })
    }

    /// Takes an address that another process has opened and passed on: a socket that listens for
    /// TCP connections. `name` is what an error calls it.
    ///
    /// # Errors
    ///
    /// [`BindError::NotAListener`] when it is something else.
    pub fn passed(name: &str, socket: OwnedFd) -> Result<Self, BindError> {
        let listens = is_tcp_listener(&socket).unwrap_or(false);
        if !listens || ioctl_fionbio(&socket, true).is_err() {
            return Err(BindError::NotAListener {
                name: name.to_owned(),
            });
        }
        Ok(Self(Listening::Network(socket.into())))
    }

    /// Takes a socket file that only this user can reach. Missing folders are made, for this user
    /// alone; the file of a process that is no more is replaced.
    ///
    /// # Errors
    ///
    /// [`BindError::SocketInUse`] when somebody answers there, [`BindError::NotASocket`] rather
    /// than remove other files, else [`BindError::Refused`].
    pub fn unix(path: impl AsRef<Path>) -> Result<Self, BindError> {
        let path = path.as_ref();
        let refused = |source: io::Error| BindError::Refused {
            place: path.display().to_string(),
            source,
        };
        make_folder(path).map_err(refused)?;
        clear(path, refused)?;
        let listener = listen_on(path).map_err(|error| match error {
            Errno::ADDRINUSE => BindError::SocketInUse {
                path: path.to_owned(),
                holder: None,
            },
            other => refused(other.into()),
        })?;
        let file = SocketFile::of(path).map_err(refused)?;
        Ok(Self(Listening::Local(listener, file)))
    }

    /// The address, if it is one of the network: with the port that was chosen for port 0.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.0 {
            Listening::Network(listener) => listener.local_addr().ok(),
            Listening::Local(..) => None,
        }
    }

    /// The parts of a local socket.
    pub(super) fn into_local(self) -> Option<(UnixListener, SocketFile)> {
        match self.0 {
            Listening::Local(listener, file) => Some((listener, file)),
            Listening::Network(_) => None,
        }
    }

    pub(super) fn is_network(&self) -> bool {
        matches!(self.0, Listening::Network(_))
    }

    pub(super) fn listen(self) -> io::Result<Listener> {
        Ok(match self.0 {
            Listening::Network(listener) => Listener::Network(tokio::net::TcpListener::from_std(listener)?),
            Listening::Local(listener, file) => Listener::Local(Local::new(listener, file)?),
        })
    }
}

/// So many bytes of an answer the system takes before the client has read any, and as many again for itself: what is
/// called unread after [`Limits::write_time`](super::Limits::write_time) is read at less than some 2 KiB a second.
const UNREAD: usize = 256 * 1024;

impl Listener {
    /// The next connection. Cancel-safe.
    pub(super) async fn accept(&mut self) -> io::Result<Socket> {
        match self {
            Self::Network(listener) => {
                let (stream, _) = listener.accept().await?;
                // Both fail only if the client has gone already.
                _ = stream.set_nodelay(true);
                _ = rustix::net::sockopt::set_socket_send_buffer_size(&stream, UNREAD);
                Ok(Socket::Tcp(stream))
            }
            Self::Local(local) => local.accept().await.map(Socket::Unix),
        }
    }
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        let inode = fs::symlink_metadata(path)?.ino();
        Ok(Self {
            path: path.to_owned(),
            inode,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    /// Removes the file, unless another process has put its own there.
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            _ = fs::remove_file(&self.path); // What stays is replaced by the next start.
        }
    }
}

fn is_tcp_listener(socket: &OwnedFd) -> Result<bool, Errno> {
    let of_network = [AddressFamily::INET, AddressFamily::INET6].contains(&sockopt::socket_domain(socket)?);
    let stream = sockopt::socket_type(socket)? == SocketType::STREAM;
    Ok(of_network && stream && sockopt::socket_acceptconn(socket)?)
}

fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
        }
        _ => Ok(()),
    }
}

/// Removes the file of a process that is no more.
fn clear(path: &Path, refused: impl Fn(io::Error) -> BindError) -> Result<(), BindError> {
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !found.file_type().is_socket() {
        return Err(BindError::NotASocket {
            path: path.to_owned(),
        });
    }
    match knock(path) {
        Ok(peer) => Err(BindError::SocketInUse {
            path: path.to_owned(),
            holder: holder::of_socket(&peer),
        }),
        Err(Errno::AGAIN) => Err(BindError::SocketInUse {
            path: path.to_owned(),
            holder: None,
        }),
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(refused),
        Err(other) => Err(refused(other.into())),
    }
}

/// Tries whether somebody answers, without waiting for one who is busy.
fn knock(path: &Path) -> Result<OwnedFd, Errno> {
    let socket = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    ioctl_fionbio(&socket, true)?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

fn listen_on(path: &Path) -> Result<UnixListener, Errno> {
    let socket = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    ioctl_fionbio(&socket, true)?;
    // Linux gives the file the mode of the socket, so that it is never open to others. Elsewhere
    // this may fail, and the mode is set when the file is there.
    _ = rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR);
    net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(path, private)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::PERM))?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "this user may not; ports below 1024 and folders of others need more rights"
        }
        io::ErrorKind::AddrNotAvailable => "this machine has no such address",
        io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => "the path is too long for a socket",
        _ => "the system refused",
    }
}

/// Names a process, or says that nobody told.
struct Named<'a>(Option<&'a Holder>);

/// What to do about it.
struct Ended<'a>(Option<&'a Holder>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Holder { pid, command }) => write!(f, "`{command}` (process {pid})"),
            None => f.write_str("a process that the system does not name"),
        }
    }
}

impl fmt::Display for Ended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Holder { pid, .. }) => write!(f, "stop that process (`kill {pid}`)"),
            None => f.write_str("stop that process"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_02_port_taken_names_the_port_the_process_and_the_ways_out() {
        let first = Bound::tcp("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = first.local_addr().unwrap();

        let error = Bound::tcp(addr).unwrap_err();

        let text = error.to_string();
        let needed = [
            &addr.port().to_string(),
            "--port N",
            "MCPR_PORT",
            "stop that process",
        ];
        assert!(needed.iter().all(|word| text.contains(*word)), "{text}");
        if cfg!(target_os = "linux") {
            assert!(
                text.contains(&format!("(process {})", std::process::id())),
                "{text}"
            );
        }
        assert!(matches!(error, BindError::InUse { .. }));
    }

    #[test]
    fn http_02_port_taken_by_somebody_unknown_is_said_too() {
        let error = BindError::InUse {
            addr: "127.0.0.1:3282".parse().unwrap(),
            holder: None,
        };
        assert_eq!(
            error.to_string(),
            "port 3282 on 127.0.0.1 is taken by a process that the system does not name: choose another one \
             with `--port N` or MCPR_PORT=N, or stop that process"
        );
    }

    #[test]
    fn a_socket_is_for_its_user_alone_and_goes_with_its_holder() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run/mcpr.sock");

        let bound = Bound::unix(&path).unwrap();

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        drop(bound);
        assert!(!path.exists());
    }

    #[test]
    fn a_dead_socket_is_replaced_a_live_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcpr.sock");
        drop(UnixListener::bind(&path).unwrap()); // Leaves its file behind.

        let bound = Bound::unix(&path).unwrap();

        let error = Bound::unix(&path).unwrap_err();
        assert!(matches!(error, BindError::SocketInUse { .. }), "{error}");
        drop(bound);
    }

    #[test]
    fn another_file_in_the_place_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcpr.sock");
        fs::write(&path, "diary").unwrap();

        assert!(matches!(Bound::unix(&path), Err(BindError::NotASocket { .. })));

        assert_eq!(fs::read_to_string(&path).unwrap(), "diary");
    }

    #[test]
    fn a_file_that_another_process_put_there_is_not_removed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mcpr.sock");
        let bound = Bound::unix(&path).unwrap();
        fs::rename(&path, home.path().join("old.sock")).unwrap();
        let _other = UnixListener::bind(&path).unwrap();

        drop(bound);

        assert!(path.exists());
    }

    #[test]
    fn a_path_that_is_too_long_is_explained() {
        let error = Bound::unix(std::env::temp_dir().join("x".repeat(200))).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
    }
}
