//! What mcpr says of itself when a client opens.

use mcpr_protocol::{Era, RawJson, Version, key};
use serde_json::{Map, Value, json};

/// Who the gateway says it is.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a model should know of what is behind it.
    pub instructions: String,
    /// What tells it from every other gateway.
    pub instance: String,
    /// Whether a server behind it may answer with tasks.
    pub tasks: bool,
    /// Whether a tool behind it may have a user interface.
    pub apps: bool,
}

/// The result of `initialize`.
///
/// Servers come and go while a session-era client cannot ask again, so the capabilities say what
/// the gateway can serve over its life, not what it can serve now (B43).
pub fn initialize_result(version: Version, identity: &Identity) -> RawJson {
    let mut result = Map::new();
    result.insert("protocolVersion".into(), version.as_str().into());
    result.insert("capabilities".into(), capabilities(version, identity));
    result.insert("serverInfo".into(), info(identity));
    instruct(&mut result, identity);
    result.insert("_meta".into(), json!({ key::GATEWAY: identity.instance }));
    RawJson::render(&result)
}

/// The result of `server/discover`.
pub fn discover_result(identity: &Identity) -> RawJson {
    let mut result = Map::new();
    result.insert("resultType".into(), "complete".into());
    result.insert(
        "supportedVersions".into(),
        json!([Version::NEWEST_STATELESS.as_str()]),
    );
    let capabilities = capabilities(Version::NEWEST_STATELESS, identity);
    result.insert("capabilities".into(), capabilities);
    instruct(&mut result, identity);
    result.insert("ttlMs".into(), 0.into());
    result.insert("cacheScope".into(), "private".into());
    result.insert(
        "_meta".into(),
        json!({ key::SERVER_INFO: info(identity), key::GATEWAY: identity.instance }),
    );
    RawJson::render(&result)
}

/// Who the gateway says it is, as an `Implementation` of the specification.
pub fn server_info(identity: &Identity) -> RawJson {
    RawJson::render(&info(identity))
}

fn instruct(result: &mut Map<String, Value>, identity: &Identity) {
    if !identity.instructions.is_empty() {
        result.insert("instructions".into(), identity.instructions.as_str().into());
    }
}

fn info(identity: &Identity) -> Value {
    json!({ "name": identity.name, "title": "mcpr gateway", "version": identity.version })
}

/// Extensions are named while a server behind the gateway has them: unlike the rest they are
/// nothing that mcpr could serve alone.
fn capabilities(version: Version, identity: &Identity) -> Value {
    let mut all = json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "completions": {},
        "logging": {},
    });
    let mut extensions = Map::new();
    if identity.tasks && version.era() == Era::Stateless {
        extensions.insert(key::TASKS_EXTENSION.into(), json!({}));
    }
    if identity.apps {
        extensions.insert(key::APPS_EXTENSION.into(), json!({}));
    }
    if !extensions.is_empty() {
        all["extensions"] = extensions.into();
    }
    all
}
