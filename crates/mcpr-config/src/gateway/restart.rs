//! What a running gateway does not take over.

use super::{GatewayOptions, LogOptions};

impl GatewayOptions {
    /// The settings that differ in `new` and are read once, when a gateway starts: until it is started
    /// again, those of `self` count.
    pub fn needs_restart(&self, new: &Self) -> Vec<String> {
        let (limits, fresh) = (&self.limits, &new.limits);
        let settings = [
            ("listen", self.listen != new.listen),
            ("allowedHosts", self.allowed_hosts != new.allowed_hosts),
            ("allowedOrigins", self.allowed_origins != new.allowed_origins),
            ("tls", self.tls != new.tls),
            ("control", self.control != new.control),
            ("startup", self.startup != new.startup),
            ("log", !same_log(&self.log, &new.log)),
            ("limits.requestBody", limits.request_body != fresh.request_body),
            ("limits.connections", limits.connections != fresh.connections),
            (
                "limits.serverMessage",
                limits.server_message != fresh.server_message,
            ),
            ("limits.listPages", limits.list_pages != fresh.list_pages),
            ("limits.sessions", limits.sessions != fresh.sessions),
            ("limits.sessionIdle", limits.session_idle != fresh.session_idle),
        ];
        let differ = settings.into_iter().filter(|(_, differs)| *differs);
        differ.map(|(name, _)| format!("mcpr.{name}")).collect()
    }
}

/// Whether a log is written as it was; what is written follows at once.
fn same_log(old: &LogOptions, new: &LogOptions) -> bool {
    let level = new.level;
    LogOptions { level, ..old.clone() } == *new
}
