//! The keys and words of the format.
//!
//! These tables drive the parser, its suggestions, and the test that compares it with the schema.

use mcpr_registry::{Hyphens, PinPolicy, PrefixPolicy, UriPolicy};
use mcpr_telemetry::{Format, Level};

use crate::gateway::{Arguments, Expose, StartMode, StartOrder, StartWhen};
use mcpr_upstream::{Isolation, Repeat, Spread};

/// The keys that one kind of object may have.
#[derive(Debug)]
pub(crate) struct Keys {
    /// The definition of that object in the schema.
    pub(crate) of: &'static str,
    pub(crate) all: &'static [&'static str],
}

/// The words that one kind of value may be.
#[derive(Debug)]
pub(crate) struct Choice<T: 'static> {
    pub(crate) words: &'static [(&'static str, T)],
}

impl Keys {
    pub(crate) fn known(&self, key: &str) -> bool {
        self.all.contains(&key)
    }
}

impl<T> Choice<T> {
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.words.iter().map(|(word, _)| *word).collect()
    }
}

/// Declares a table with the name of its definition in the schema.
macro_rules! keys {
    ($($(#[$doc:meta])* $table:ident = $of:literal: $($key:literal)*;)*) => {
        $($(#[$doc])* pub(crate) static $table: Keys = Keys { of: $of, all: &[$($key),*] };)*

        /// Every table.
        #[cfg(test)]
        pub(crate) static ALL: &[&Keys] = &[$(&$table),*];
    };
}

keys! {
    /// The file. Other keys are other programs'.
    ROOT = "root": "$schema" "mcpServers" "servers" "inputs" "mcpr";
    /// A server. Other keys are other clients'.
    SERVER = "server":
        "type" "transportType" "transport" "command" "args" "env" "envFile" "cwd" "url" "serverUrl" "httpUrl" "headers"
        "timeout" "disabled" "enabled" "mcpr";
    /// How some clients nest the above.
    TRANSPORT = "transport":
        "type" "command" "args" "env" "envFile" "cwd" "url" "serverUrl" "httpUrl" "headers" "timeout";
    /// What mcpr alone knows about a server.
    SERVER_OWN = "serverOwn":
        "prefix" "naming" "resources" "tools" "env" "protocol" "timeouts" "maxConcurrency" "queue" "lazy"
        "stopAfterIdle" "restart" "replicas" "balance" "endpoints" "group" "tags" "isolation" "retry" "pins";
    SERVER_NAMING = "serverNaming": "style";
    SERVER_RESOURCES = "serverResources": "uris";
    TOOL_FILTER = "toolFilter": "allow" "deny" "override";
    TOOL_OVERRIDE = "toolOverride": "name" "description";
    TIMEOUTS = "timeouts": "start" "call" "silence";
    QUEUE = "queue": "max" "wait";
    RESTART = "restart": "backoffMin" "backoffMax";
    /// What mcpr alone knows about itself.
    GATEWAY = "gateway":
        "listen" "allowedHosts" "allowedOrigins" "tls" "naming" "resources" "startup" "timeouts" "pins" "drain" "control" "limits" "log"
        "expose" "builtins" "projects" "toolsets" "history";
    TLS = "tls": "cert" "key";
    NAMING = "naming": "prefix" "separator" "maxLength" "hyphens";
    RESOURCES = "resources": "uris" "rawSchemes";
    STARTUP = "startup": "mode" "order" "parallel" "when" "listWait";
    DRAIN = "drain": "grace";
    CONTROL = "control": "token";
    LIMITS = "limits":
        "requestBody" "connections" "serverMessage" "listPages" "pageSize" "sessions" "sessionIdle" "subscriptions"
        "perPrincipal";
    PER_PRINCIPAL = "perPrincipal": "inFlight" "sessions" "streams" "connections" "subscriptions" "rate";
    LOG = "log": "level" "format" "file" "keep";
    PROJECT = "project": "description" "servers" "tags" "toolset";
    TOOLSET = "toolset": "description" "tools";
    TOOLSET_TOOL = "toolsetTool": "namespacedName";
    HISTORY = "history": "keep" "maxSize" "arguments";
}

/// Keys of servers that other clients own and that change nothing here.
pub(crate) static FOREIGN: Keys = Keys {
    of: "other clients",
    all: &[
        "alwaysAllow",
        "alwaysLoad",
        "auth",
        "autoApprove",
        "description",
        "dev",
        "disabledTools",
        "disabled_tools",
        "enabledTools",
        "enabled_tools",
        "excludeTools",
        "gallery",
        "headersHelper",
        "icon",
        "id",
        "includeTools",
        "name",
        "oauth",
        "request_timeout_ms",
        "required",
        "sandbox",
        "sandboxEnabled",
        "source",
        "tools",
        "trust",
        "version",
    ],
};

/// Keys of other clients without which a server hardly works as meant.
pub(crate) static MISSED: &[&str] = &["auth", "headersHelper", "oauth"];

/// Declares the words of a choice.
macro_rules! choices {
    ($($(#[$doc:meta])* $table:ident: $of:ty = $($word:literal $value:expr),*;)*) => {
        $($(#[$doc])* pub(crate) static $table: Choice<$of> = Choice { words: &[$(($word, $value)),*] };)*
    };
}

choices! {
    PREFIX: PrefixPolicy =
        "always" PrefixPolicy::Always, "conflict" PrefixPolicy::Conflict, "never" PrefixPolicy::Never;
    HYPHENS: Hyphens = "underscore" Hyphens::Underscore, "keep" Hyphens::Keep;
    URIS: UriPolicy = "wrapped" UriPolicy::Wrapped, "raw" UriPolicy::Raw;
    START_MODE: StartMode = "lenient" StartMode::Lenient, "strict" StartMode::Strict;
    START_ORDER: StartOrder = "parallel" StartOrder::Parallel, "sequential" StartOrder::Sequential;
    START_WHEN: StartWhen = "launch" StartWhen::Launch, "first_request" StartWhen::FirstRequest;
    LOG_LEVEL: Level =
        "trace" Level::Trace, "debug" Level::Debug, "info" Level::Info, "warn" Level::Warn, "error" Level::Error,
        "fatal" Level::Fatal;
    LOG_FORMAT: Format = "pretty" Format::Pretty, "json" Format::Json;
    EXPOSE: Expose = "all" Expose::All, "toolset" Expose::Toolset;
    ARGUMENTS: Arguments =
        "none" Arguments::None, "redacted" Arguments::Redacted, "full" Arguments::Full;
    BALANCE: Spread = "round_robin" Spread::RoundRobin, "least_busy" Spread::LeastBusy;
    ISOLATION: Isolation = "auto" Isolation::Auto, "shared" Isolation::Shared, "session" Isolation::Session,
        "call" Isolation::Call;
    PINS: PinPolicy = "off" PinPolicy::Off, "warn" PinPolicy::Warn, "block" PinPolicy::Block;
    RETRY: Repeat = "safe" Repeat::Safe, "never" Repeat::Never;
    /// Whether names stay as the server says them.
    NAMING_STYLE: bool = "flat" false, "raw" true;
    /// Whether a child gets all variables of the gateway.
    ENV_INHERIT: bool = "clean" false, "inherit" true;
}
