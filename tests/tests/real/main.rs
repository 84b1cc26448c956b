//! Real servers and real clients together: what people have, in front of and behind one gateway.

mod asked;
mod builtins;
mod bytes;
mod clients;
mod direct;
mod everything;
mod killed;
mod logging;
mod old_servers;
mod page;
mod resume;
mod rmcp;
mod roots;
mod sealed;
mod session_clients;
mod seven;
mod subscriptions;
mod together;
mod world;
