//! Opening real connections.
