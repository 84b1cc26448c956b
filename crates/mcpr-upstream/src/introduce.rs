//! The opening exchange of each era.

use std::sync::LazyLock;
use std::time::Duration;

use mcpr_protocol::{
    Abilities, Era, ErrorObject, Message, Method, Notification, Object, RawJson, Rope, Version, code, key,
    notification,
};
use mcpr_registry::Capabilities;
use mcpr_transport::{Failed, FailedKind, Transport};
use serde::Serialize;
use serde_json::json;
use tokio::time::timeout;

use crate::ask::{ask, params};
use crate::status::Heard;

/// How long a server may take to open the stream for what belongs to no request.
const STREAM: Duration = Duration::from_secs(1);

/// The name mcpr gives itself toward servers.
pub const CLIENT_NAME: &str = "mcpr";

/// What a server said of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Introduced {
    pub(crate) version: Version,
    pub(crate) capabilities: Capabilities,
    pub(crate) server_info: Option<RawJson>,
    pub(crate) instructions: Option<String>,
    /// Of which lists the server announces changes.
    pub(crate) announced: Heard,
    /// Which gateway it is, if it is one.
    pub(crate) gateway: Option<String>,
}

/// What `server/discover` brought.
pub(crate) enum Discovery {
    /// A stateless server.
    Stateless(Box<Introduced>),
    /// An error that only a stateless server gives, and the revisions it speaks.
    Versions(Vec<String>),
    /// The answer of a server of the session era.
    Session,
}

/// Who mcpr is.
pub(crate) fn client_info() -> RawJson {
    static INFO: LazyLock<RawJson> = LazyLock::new(|| {
        RawJson::render(&json!({ "name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION") }))
    });
    INFO.clone()
}

/// Asks a server who it is, in the words of the stateless era.
pub(crate) async fn discover(transport: &dyn Transport, limit: Duration) -> Result<Discovery, Failed> {
    let version = Version::NEWEST_STATELESS;
    transport.negotiated(version);
    let nothing = Object::read(&RawJson::from_static("{}")).expect("an empty object is one");
    let answer = ask(transport, Method::Discover, params(version, &nothing), limit).await?;
    Ok(match answer {
        Ok(result) => discovered(&result).map_or(Discovery::Session, Discovery::from),
        Err(error) => refused(&error),
    })
}

impl From<Introduced> for Discovery {
    fn from(introduced: Introduced) -> Self {
        Self::Stateless(Box::new(introduced))
    }
}

/// Reads a `DiscoverResult`; a result without versions is none.
fn discovered(result: &RawJson) -> Option<Introduced> {
    let object = Object::read(result).ok()?;
    let supported: Vec<String> = object.get("supportedVersions")?.read().ok()?;
    let version = newest_stateless(&supported)?;
    let info = object
        .object("_meta")
        .and_then(|meta| meta.get(mcpr_protocol::key::SERVER_INFO));
    Some(read_introduction(&object, version, info))
}

fn newest_stateless(supported: &[String]) -> Option<Version> {
    let known = supported.iter().filter_map(|text| text.parse::<Version>().ok());
    known.filter(|version| *version >= Version::V2026_07_28).max()
}

/// Some errors exist in the stateless era only, so they tell it as well as a result does.
fn refused(error: &ErrorObject) -> Discovery {
    match error.code {
        code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION => {
            let data = error.data.as_ref().and_then(|data| Object::read(data).ok());
            let supported = data.and_then(|data| data.get("supported")?.read().ok());
            Discovery::Versions(supported.unwrap_or_default())
        }
        _ => Discovery::Session,
    }
}

/// The parameters of `initialize`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Greeting {
    protocol_version: &'static str,
    capabilities: RawJson,
    client_info: RawJson,
}

/// Opens a session, or opens it anew on the same connection.
pub(crate) async fn initialize(
    transport: &dyn Transport,
    offer: Version,
    limit: Duration,
) -> Result<Introduced, Failed> {
    let greeting = Greeting {
        protocol_version: offer.as_str(),
        capabilities: Abilities::ALL_RELAYED.declared(offer),
        client_info: client_info(),
    };
    let params = RawJson::render(&greeting).into();
    let answer = ask(transport, Method::Initialize, params, limit).await?;
    let result = answer.map_err(|error| refusal(&error))?;
    let introduced = welcomed(&result)?;
    transport.negotiated(introduced.version);
    transport
        .send(Message::Notification(Notification::new(
            notification::INITIALIZED,
            None,
        )))
        .await?;
    if let Some(open) = transport.listen().await {
        // What the server announces before nobody would hear.
        let _ = timeout(STREAM, open).await;
    }
    Ok(introduced)
}

fn refusal(error: &ErrorObject) -> Failed {
    let detail = format!("the server refused `initialize` ({})", error.code);
    Failed::maybe_sent(FailedKind::Malformed, detail).saying(&error.message)
}

fn welcomed(result: &RawJson) -> Result<Introduced, Failed> {
    let malformed = |detail: String| Failed::maybe_sent(FailedKind::Malformed, detail);
    let object =
        Object::read(result).map_err(|error| malformed(format!("the answer to `initialize` {error}")))?;
    let version = object.text("protocolVersion").unwrap_or_default();
    let known = version
        .parse::<Version>()
        .ok()
        .filter(|version| *version < Version::V2026_07_28);
    let version =
        known.ok_or_else(|| malformed(format!("the server speaks only protocol version `{version}`")))?;
    let info = object.get("serverInfo");
    Ok(read_introduction(&object, version, info))
}

fn read_introduction(object: &Object, version: Version, server_info: Option<RawJson>) -> Introduced {
    let raw = object
        .get("capabilities")
        .unwrap_or_else(|| RawJson::from_static("{}"));
    let mut capabilities = Capabilities::read(&raw);
    // Before 2025-03-26 there was no word for it: every server could be asked.
    capabilities.completions |= version < Version::V2025_03_26;
    Introduced {
        version,
        capabilities,
        announced: announced(&raw),
        gateway: object.object("_meta").and_then(|meta| meta.text(key::GATEWAY)),
        server_info,
        instructions: object.text("instructions").filter(|text| !text.trim().is_empty()),
    }
}

/// Of which lists the server says that it announces changes.
fn announced(capabilities: &RawJson) -> Heard {
    let Ok(all) = Object::read(capabilities) else {
        return Heard::default();
    };
    let announced = |name: &str| {
        let value = all.object(name).and_then(|group| group.get("listChanged"));
        value.is_some_and(|value| value.as_str() == "true")
    };
    Heard {
        tools: announced("tools"),
        prompts: announced("prompts"),
        resources: announced("resources"),
    }
}

/// Asks whether the server still answers; any answer is one (B105). A stateless server says who it
/// is with that, which may be another after a restart that nobody saw.
pub(crate) async fn ping(
    transport: &dyn Transport,
    version: Version,
    limit: Duration,
) -> Result<Option<Introduced>, Failed> {
    let nothing = Object::read(&RawJson::from_static("{}")).expect("an empty object is one");
    let (method, params) = match version.era() {
        Era::Session => (Method::Ping, Rope::new()),
        Era::Stateless => (Method::Discover, params(version, &nothing)),
    };
    let answer = ask(transport, method, params, limit).await?;
    Ok(answer
        .ok()
        .filter(|_| version.era() == Era::Stateless)
        .and_then(|result| discovered(&result)))
}
