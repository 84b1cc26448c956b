//! Why a request was not let in, in words that help its sender.

use crate::{Timestamp, TokenId};

/// Why a request was not let in.
///
/// `Display` says what is wrong and [`Denied::next_step`] what to do; neither shows more of the
/// presented text than the first twelve letters of something that begins like a token of mcpr.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// There is no bearer token.
    #[error("the request carries no bearer token, and this gateway needs one")]
    Missing,
    /// What was presented does not begin like a token of mcpr.
    #[error("the bearer token is not one of mcpr's, which begin with mcpr_pat_, mcpr_svc_ or mcpr_adm_")]
    NotAToken,
    /// The token is mistyped or cut off.
    #[error("the token {prefix}… fails its checksum: a character is wrong or an end is missing")]
    BadChecksum {
        /// The beginning of the token.
        prefix: String,
    },
    /// The token is well formed, and nobody here knows it.
    #[error("the token {prefix}… is not in this gateway's database")]
    Unknown {
        /// The beginning of the token.
        prefix: String,
    },
    /// The token was revoked.
    #[error("the token {id} was revoked at {at}")]
    Revoked {
        /// The token's id.
        id: TokenId,
        /// When it was revoked.
        at: Timestamp,
    },
    /// The token has another text since it was rotated, and the time of this one is over.
    #[error("this text of the token {id} was replaced, and was accepted until {at}")]
    Replaced {
        /// The token's id.
        id: TokenId,
        /// Until when it was accepted.
        at: Timestamp,
    },
    /// The token's time is over.
    #[error("the token {id} expired at {at}")]
    Expired {
        /// The token's id.
        id: TokenId,
        /// When it expired.
        at: Timestamp,
    },
    /// A token store of an embedding program says no, in these words.
    #[error("{0}")]
    Refused(String),
}

impl Denied {
    /// The kind of denial as one stable word, for bodies, logs and metrics.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::NotAToken => "not_a_token",
            Self::BadChecksum { .. } => "bad_checksum",
            Self::Unknown { .. } => "unknown",
            Self::Revoked { .. } => "revoked",
            Self::Replaced { .. } => "replaced",
            Self::Expired { .. } => "expired",
            Self::Refused(_) => "refused",
        }
    }

    /// What the sender can do about it, as whole sentences.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Missing => {
                "Make a token with `mcpr-ctl tokens create --client claude-code` and send it in the header \
                 `Authorization: Bearer mcpr_pat_…`."
            }
            Self::NotAToken => {
                "Look at what the client sends: a variable that was not filled in or another service's key \
                 reads like this. `mcpr-ctl tokens create --client claude-code` makes a token."
            }
            Self::BadChecksum { .. } => {
                "Copy the token again, whole. If it is lost, `mcpr-ctl tokens create --client claude-code` \
                 makes a new one."
            }
            Self::Unknown { .. } => {
                "Check with `mcpr-ctl tokens ls` that the client talks to the right gateway, or make a token \
                 with `mcpr-ctl tokens create --client claude-code`."
            }
            Self::Replaced { .. } => {
                "Put the text that `mcpr-ctl tokens rotate` showed in place of this one. If it is lost, rotate \
                 again, or make a new token with `mcpr-ctl tokens create --client claude-code`."
            }
            Self::Revoked { .. } | Self::Expired { .. } => {
                "Make a new token with `mcpr-ctl tokens create --client claude-code` and put it in place of \
                 this one."
            }
            Self::Refused(_) => "Ask whoever runs this gateway for a token that is good here.",
        }
    }
}

/// Takes the token out of the value of an `Authorization` header.
///
/// # Errors
///
/// [`Denied::Missing`] if there is no header or it is of another scheme, [`Denied::NotAToken`] if
/// the value is not text.
pub fn bearer(authorization: Option<&[u8]>) -> Result<&str, Denied> {
    let value = str::from_utf8(authorization.ok_or(Denied::Missing)?).map_err(|_| Denied::NotAToken)?;
    let (scheme, token) = value.trim().split_once(' ').ok_or(Denied::Missing)?;
    // The scheme's case does not matter: RFC 9110 section 11.1.
    if scheme.eq_ignore_ascii_case("bearer") {
        Ok(token.trim_start())
    } else {
        Err(Denied::Missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Denied; 8] {
        let (prefix, at) = (String::from("mcpr_pat_abc"), Timestamp::from_unix(1_800_000_000));
        let id: TokenId = "tk_01234567".parse().unwrap();
        [
            Denied::Missing,
            Denied::NotAToken,
            Denied::BadChecksum {
                prefix: prefix.clone(),
            },
            Denied::Unknown { prefix },
            Denied::Revoked { id: id.clone(), at },
            Denied::Replaced { id: id.clone(), at },
            Denied::Expired { id, at },
            Denied::Refused("Ann has left".into()),
        ]
    }

    #[test]
    fn http_03_every_denial_names_the_way_to_a_token() {
        let own = all().into_iter().filter(|denied| denied.reason() != "refused");
        for denied in own {
            assert!(
                denied
                    .next_step()
                    .contains("`mcpr-ctl tokens create --client claude-code`"),
                "{denied}"
            );
        }
    }

    #[test]
    fn http_03_every_denial_has_its_own_words() {
        let said = all().map(|denied| format!("{}: {denied}", denied.reason()));

        assert_eq!(
            said,
            [
                "missing: the request carries no bearer token, and this gateway needs one",
                "not_a_token: the bearer token is not one of mcpr's, which begin with mcpr_pat_, mcpr_svc_ or mcpr_adm_",
                "bad_checksum: the token mcpr_pat_abc… fails its checksum: a character is wrong or an end is missing",
                "unknown: the token mcpr_pat_abc… is not in this gateway's database",
                "revoked: the token tk_01234567 was revoked at 2027-01-15T08:00:00Z",
                "replaced: this text of the token tk_01234567 was replaced, and was accepted until 2027-01-15T08:00:00Z",
                "expired: the token tk_01234567 expired at 2027-01-15T08:00:00Z",
                "refused: Ann has left",
            ]
        );
    }

    #[test]
    fn http_03_the_token_is_taken_out_of_the_header() {
        for value in ["Bearer abc", "bearer abc", "BEARER   abc ", " Bearer abc"] {
            assert_eq!(bearer(Some(value.as_bytes())), Ok("abc"), "{value}");
        }
        for value in ["", "Bearer", "Bearer ", "Basic abc", "abc"] {
            assert_eq!(bearer(Some(value.as_bytes())), Err(Denied::Missing), "{value}");
        }
        assert_eq!(bearer(None), Err(Denied::Missing));
        assert_eq!(bearer(Some(b"Bearer \xff")), Err(Denied::NotAToken));
    }
}
