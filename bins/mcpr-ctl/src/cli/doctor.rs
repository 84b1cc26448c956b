//! What is said about `doctor`.

/// What it looks at, and how it ends.
pub(crate) const LOOKED_AT: &str = "\
It looks at the configuration, each server's program, variables and folder, the names of tools, the port, the
control socket, the database, the tokens, the secrets, the permissions of files, the log folder, and the clients on
this machine. With a running gateway it also tells how each server is doing. It starts no server and changes nothing.

It ends with 0 if there are at most warnings, with 6 if there are problems, and with 7 if the configuration cannot
be read at all.";
