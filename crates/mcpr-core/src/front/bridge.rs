//! A pipe to a running gateway.
