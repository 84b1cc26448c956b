//! The checks of a stateless request against the headers it came with (2026-07-28, transports).

use std::fmt;
use std::sync::Arc;

use http::header::AsHeaderName;
use http::{HeaderMap, HeaderName};
use mcpr_auth::Principal;
use mcpr_protocol::{
    Envelope, Era, Method, Object, RawJson, Request, Version, Word, decode_value, encode_value, key,
};
use mcpr_registry::{ParamHeader, ParamKind};

use crate::client::{Client, Context};
use crate::fault::Fault;
use crate::scope::Asked;
use crate::sight::Sight;

/// The header that repeats the revision.
pub(crate) static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Without this there is no claim to be stateless.
static CLAIM: Word = Word::new(key::PROTOCOL_VERSION);
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The envelope of a request, if it claims to be stateless.
pub(crate) fn envelope(params: Option<&RawJson>) -> Result<Option<Envelope>, Fault> {
    Ok(claim(params)?.map(|(_, envelope)| envelope))
}

/// The same with the params that it was found in.
pub(crate) fn claim(params: Option<&RawJson>) -> Result<Option<(Object, Envelope)>, Fault> {
    let params = params.filter(|params| may_claim(params));
    let Some(params) = params.and_then(|params| Object::read(params).ok()) else {
        return Ok(None);
    };
    let meta = params.object("_meta");
    let envelope = meta.map_or(Ok(None), |meta| Envelope::read(&meta).map_err(Fault::Envelope))?;
    Ok(envelope.map(|envelope| (params, envelope)))
}

/// A look for the name without which there is no claim; names with escapes need a closer one.
fn may_claim(params: &RawJson) -> bool {
    let text = params.as_bytes();
    CLAIM.is_in(text) || memchr::memchr(b'\\', text).is_some()
}

/// The context of a stateless request that came without headers: over a pipe.
pub(crate) fn context(principal: Principal, envelope: &Envelope) -> Result<Context, Fault> {
    let unsupported = || Fault::UnsupportedVersion(envelope.version.clone());
    let version = envelope.version.parse::<Version>().map_err(|_| unsupported())?;
    if version.era() == Era::Session {
        return Err(unsupported()); // A date with a handshake is no version for an envelope.
    }
    let client = Arc::new(Client::of_envelope(version, envelope));
    Ok(Context {
        principal,
        abilities: client.abilities,
        client,
        session: None,
        flights: None,
        log_level: envelope.log_level,
        path: None,
        asked: Asked::default(),
    })
}

/// Checks the headers in the order of the specification: the version, whether the method exists,
/// then what else is repeated.
pub(crate) fn check(
    headers: &HeaderMap,
    request: &Request,
    (params, envelope): (&Object, &Envelope),
    sight: &Sight,
) -> Result<(), Fault> {
    let version = single(headers, &VERSION)?;
    if version != Some(envelope.version.as_str()) {
        return Err(disagrees(
            VERSION.as_str(),
            "params._meta[\"io.modelcontextprotocol/protocolVersion\"]",
        ));
    }
    let known = envelope
        .version
        .parse::<Version>()
        .is_ok_and(|version| version.era() == Era::Stateless);
    if !known {
        return Err(Fault::UnsupportedVersion(envelope.version.clone()));
    }
    if !exists(&request.method) {
        return Err(Fault::MethodNotFound(request.method.to_string()));
    }
    if single(headers, &METHOD)? != Some(request.method.as_str()) {
        return Err(disagrees(METHOD.as_str(), "method"));
    }
    check_name(headers, &request.method, params)?;
    match request.method {
        Method::ToolsCall => check_arguments(headers, params, sight),
        _ => Ok(()),
    }
}

/// The methods that a stateless client can call here.
fn exists(method: &Method) -> bool {
    matches!(
        method,
        Method::Discover
            | Method::Listen
            | Method::ToolsList
            | Method::ToolsCall
            | Method::PromptsList
            | Method::PromptsGet
            | Method::ResourcesList
            | Method::TemplatesList
            | Method::ResourcesRead
            | Method::Complete
            | Method::TasksGet
            | Method::TasksUpdate
            | Method::TasksCancel
    )
}

fn check_name(headers: &HeaderMap, method: &Method, params: &Object) -> Result<(), Fault> {
    let Some(member) = method.named_by() else {
        return Ok(());
    };
    let value = single(headers, &NAME)?.ok_or_else(|| disagrees(NAME.as_str(), member))?;
    let value = decode_value(value).map_err(|error| Fault::HeaderMismatch(format!("`{NAME}`: {error}")))?;
    // A body without the name is told so by the method itself.
    match params.text(member) {
        Some(named) if named != value => Err(disagrees(NAME.as_str(), member)),
        _ => Ok(()),
    }
}

/// Arguments that the tool's schema wants repeated in headers.
fn check_arguments(headers: &HeaderMap, params: &Object, sight: &Sight) -> Result<(), Fault> {
    let name = params.text("name").unwrap_or_default();
    let Some(tool) = sight.known.tool(&name) else {
        return Ok(());
    };
    let arguments = params
        .get("arguments")
        .unwrap_or_else(|| RawJson::from_static("{}"));
    tool.param_headers
        .iter()
        .try_for_each(|param| check_argument(headers, param, &arguments))
}

fn check_argument(headers: &HeaderMap, param: &ParamHeader, arguments: &RawJson) -> Result<(), Fault> {
    let field = param.field();
    let sent = single(headers, field.as_str())?;
    let expected = param.value_in(arguments);
    let same = match (sent, &expected) {
        (None, None) => true,
        (Some(sent), Some(expected)) => same_value(sent, expected, param.kind)?,
        _ => false,
    };
    if same {
        Ok(())
    } else {
        Err(disagrees(&field, &format!("arguments.{}", param.path.join("."))))
    }
}

/// Integers are compared as numbers (`42.0` is `42`), everything else as text.
fn same_value(sent: &str, expected: &str, kind: ParamKind) -> Result<bool, Fault> {
    let broken = |error| Fault::HeaderMismatch(format!("{error}"));
    let sent = decode_value(sent).map_err(broken)?;
    let expected = decode_value(expected).map_err(broken)?;
    Ok(match (kind, sent.parse::<f64>(), expected.parse::<f64>()) {
        (ParamKind::Integer, Ok(sent), Ok(expected)) => sent == expected,
        _ => encode_value(&sent) == encode_value(&expected),
    })
}

/// The one value of a header; two are two different readings.
fn single(headers: &HeaderMap, name: impl AsHeaderName + fmt::Display + Copy) -> Result<Option<&str>, Fault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Fault::HeaderMismatch(format!(
            "the header `{name}` is there twice"
        )));
    }
    let text = value
        .to_str()
        .map_err(|_| Fault::HeaderMismatch(format!("the header `{name}` is not visible ASCII")))?;
    Ok(Some(text.trim_matches([' ', '\t'])))
}

fn disagrees(header: &str, member: &str) -> Fault {
    Fault::HeaderMismatch(format!(
        "the header `{header}` is missing or differs from `{member}` in the body"
    ))
}
