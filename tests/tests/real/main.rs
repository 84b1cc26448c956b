//! Real servers and real clients together.
