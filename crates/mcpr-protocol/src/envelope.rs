//! What a stateless request says of itself in `params._meta` (2026-07-28, basic: `_meta`).

use crate::{LogLevel, Object, RawJson, Version, key};

/// The reserved members of a stateless request's `_meta`.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The revision the request is written in, as text: whether mcpr speaks it is another question.
    pub version: String,
    /// What the client can do, for this request.
    pub capabilities: RawJson,
    /// Who the client says it is.
    pub client_info: Option<RawJson>,
    /// From which level on it wants log messages.
    pub log_level: Option<LogLevel>,
}

/// The request claims to be stateless, but its envelope is not right.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`params._meta` of a stateless request: `{member}` {fault}")]
pub struct EnvelopeError {
    /// Which member.
    pub member: &'static str,
    /// What is wrong with it.
    pub fault: &'static str,
}

impl Envelope {
    /// Reads the envelope; `None` where the request does not claim to be stateless.
    ///
    /// # Errors
    ///
    /// A claim that lacks what it must have: answered with 400 and -32602.
    pub fn read(meta: &Object) -> Result<Option<Self>, EnvelopeError> {
        let Some(version) = meta.get(key::PROTOCOL_VERSION) else {
            return Ok(None);
        };
        let version = version
            .to_text()
            .ok_or(fault(key::PROTOCOL_VERSION, "must be a string"))?;
        let capabilities = meta.get(key::CLIENT_CAPABILITIES);
        let capabilities = capabilities.ok_or(fault(key::CLIENT_CAPABILITIES, "is missing"))?;
        if !capabilities.is_object() {
            return Err(fault(key::CLIENT_CAPABILITIES, "must be an object"));
        }
        let client_info = meta.get(key::CLIENT_INFO);
        client_info.as_ref().map_or(Ok(()), check_info)?;
        let log_level = meta
            .get(key::LOG_LEVEL)
            .map(|level| known_level(&level))
            .transpose()?;
        Ok(Some(Self {
            version,
            capabilities,
            client_info,
            log_level,
        }))
    }

    /// The members that a request of `version` must have in its `_meta`, as they stand in an object.
    pub fn members(
        version: Version,
        capabilities: &RawJson,
        client_info: &RawJson,
    ) -> [(&'static str, RawJson); 3] {
        [
            (key::PROTOCOL_VERSION, RawJson::string(version.as_str())),
            (key::CLIENT_CAPABILITIES, capabilities.clone()),
            (key::CLIENT_INFO, client_info.clone()),
        ]
    }
}

fn check_info(info: &RawJson) -> Result<(), EnvelopeError> {
    let object = Object::read(info).map_err(|_| fault(key::CLIENT_INFO, "must be an object"))?;
    let named = ["name", "version"]
        .iter()
        .all(|member| object.get(member).is_some_and(|value| value.is_string()));
    named
        .then_some(())
        .ok_or(fault(key::CLIENT_INFO, "needs `name` and `version`"))
}

fn known_level(level: &RawJson) -> Result<LogLevel, EnvelopeError> {
    let known = level.to_text().and_then(|text| text.parse().ok());
    known.ok_or(fault(key::LOG_LEVEL, "must be a log level, such as \"info\""))
}

fn fault(member: &'static str, fault: &'static str) -> EnvelopeError {
    EnvelopeError { member, fault }
}

/// The progress token of a request, as the text the client wrote; only a string or an integer is one.
pub fn progress_token(meta: &Object) -> Option<RawJson> {
    let token = meta.get(key::PROGRESS_TOKEN)?;
    crate::Id::new(token.clone()).map(|_| token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Result<Option<Envelope>, EnvelopeError> {
        Envelope::read(&Object::read(&RawJson::from_static(text)).unwrap())
    }

    #[test]
    fn without_a_version_there_is_no_claim() {
        assert!(read(r#"{"progressToken":1}"#).unwrap().is_none());
    }

    #[test]
    fn a_claim_must_be_whole() {
        let fault_of = |text| read(text).unwrap_err().to_string();
        assert!(fault_of(r#"{"io.modelcontextprotocol/protocolVersion":5}"#).contains("must be a string"));
        assert!(
            fault_of(r#"{"io.modelcontextprotocol/protocolVersion":"x"}"#)
                .contains("clientCapabilities` is missing")
        );
        assert!(
            fault_of(
                r#"{"io.modelcontextprotocol/protocolVersion":"x","io.modelcontextprotocol/clientCapabilities":{},
                    "io.modelcontextprotocol/clientInfo":{"name":"a"}}"#
            )
            .contains("needs `name` and `version`")
        );
    }
}
