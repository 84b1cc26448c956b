//! A terminal of which both ends are here.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal, and the end of it that belongs to a program.
pub(crate) fn terminal() -> (OwnedFd, OwnedFd) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let end = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap());
    (terminal, end.unwrap().into())
}

/// All that was written to it; reading ends with an error when nobody can write any more.
pub(crate) fn shown_on(terminal: OwnedFd) -> String {
    let mut shown = Vec::new();
    let _ = File::from(terminal).read_to_end(&mut shown);
    String::from_utf8(shown).unwrap()
}

/// What is written to it until this text has come; the rest can still be read.
pub(crate) fn shown_until(terminal: &mut impl Read, text: &str) -> String {
    let (mut shown, mut byte) = (Vec::new(), [0]);
    while !shown.ends_with(text.as_bytes()) {
        let read = terminal.read(&mut byte).unwrap_or(0);
        assert_eq!(
            read,
            1,
            "it ended before `{text}`: {}",
            String::from_utf8_lossy(&shown)
        );
        shown.push(byte[0]);
    }
    String::from_utf8(shown).unwrap()
}
