//! Who holds a port, as far as the system tells. On Linux `/proc` does; elsewhere nobody is named.

use std::ffi::OsString;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;

/// A process that has an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// Its name, without arguments: they may hold secrets.
    pub command: String,
}

/// The process that listens on a port.
pub(super) fn of_port(addr: SocketAddr) -> Option<Holder> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter();
    let inode = tables
        .filter_map(|table| fs::read_to_string(table).ok())
        .find_map(|table| listener(&table, addr))?;
    let socket = OsString::from(format!("socket:[{inode}]"));
    let mut processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    processes.find_map(|process| holds(&process.path(), &socket).then(|| describe(&process.path()))?)
}

/// The process at the other end of a local socket.
#[cfg(target_os = "linux")]
pub(super) fn of_socket(peer: &OwnedFd) -> Option<Holder> {
    let pid = rustix::net::sockopt::socket_peercred(peer).ok()?.pid;
    describe(Path::new(&format!("/proc/{}", pid.as_raw_nonzero())))
}

/// The process at the other end of a local socket.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_socket(_: &OwnedFd) -> Option<Holder> {
    None
}

/// The inode of the socket that listens where `addr` would have to, from a table of the kernel.
fn listener(table: &str, addr: SocketAddr) -> Option<u64> {
    const LISTEN: &str = "0A";
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, LISTEN, _, _, _, _, _, inode, ..] = fields[..] else {
            return None;
        };
        let (ip, port) = read_address(local)?;
        let clash = ip == addr.ip() || ip.is_unspecified() || addr.ip().is_unspecified();
        (port == addr.port() && clash).then(|| inode.parse().ok())?
    })
}

/// Reads `0100007F:0CD2`: groups of four bytes in the order of the machine, then the port.
fn read_address(text: &str) -> Option<(IpAddr, u16)> {
    let (ip, port) = text.split_once(':')?;
    let groups = ip.as_bytes().chunks(8).map(|group| {
        let group = std::str::from_utf8(group).ok()?;
        u32::from_str_radix(group, 16).ok().map(u32::to_ne_bytes)
    });
    let bytes = groups.collect::<Option<Vec<_>>>()?.concat();
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => Ipv4Addr::from(four).into(),
        Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical(),
    };
    Some((ip, u16::from_str_radix(port, 16).ok()?))
}

fn holds(process: &Path, socket: &OsString) -> bool {
    let Ok(files) = fs::read_dir(process.join("fd")) else {
        return false; // No process, or one of another user.
    };
    let mut targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    targets.any(|target| target.as_os_str() == socket)
}

fn describe(process: &Path) -> Option<Holder> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let command = fs::read_to_string(process.join("comm"))
        .ok()?
        .trim_end()
        .to_owned();
    Some(Holder { pid, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0CD2 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41001 1 0 100 0 0 10 0
   1: 0100007F:0CD3 0100007F:A000 01 00000000:00000000 00:00000000 00000000  1000        0 41002 1 0 100 0 0 10 0
   2: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41003 1 0 100 0 0 10 0
";
    const TABLE6: &str = "\
  sl  local_address                         remote_address                        st tx rx tr tm uid timeout inode
   0: 00000000000000000000000001000000:0CD2 00000000000000000000000000000000:0000 0A 0:0 00:0 0 1000 0 42001 1 0
";

    #[cfg(target_endian = "little")]
    #[test]
    fn a_listener_is_found_by_port_and_address() {
        let find = |table, addr: &str| listener(table, addr.parse().unwrap());
        assert_eq!(find(TABLE, "127.0.0.1:3282"), Some(41001));
        assert_eq!(find(TABLE, "127.0.0.2:3282"), None, "another address");
        assert_eq!(
            find(TABLE, "0.0.0.0:3282"),
            Some(41001),
            "all addresses clash with one"
        );
        assert_eq!(find(TABLE, "127.0.0.1:3283"), None, "a connection is no listener");
        assert_eq!(
            find(TABLE, "10.0.0.1:8080"),
            Some(41003),
            "one address clashes with all"
        );
        assert_eq!(find(TABLE6, "[::1]:3282"), Some(42001));
    }
}
