//! What the fields of a head say of the body and of the connection (RFC 9112, sections 6 and 9).

/// What was said.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Fields {
    pub(in super::super) length: Length,
    /// Whether the length was said as a list.
    pub(in super::super) listed: bool,
    pub(in super::super) transfer: Option<Transfer>,
    /// No message is to follow on the connection.
    pub(in super::super) close: bool,
    /// One is, which goes without saying since HTTP/1.1.
    pub(in super::super) keep: bool,
}

/// What `Content-Length` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in super::super) enum Length {
    #[default]
    Unsaid,
    Said(u64),
    /// It is no number, or several.
    Senseless,
}

/// What `Transfer-Encoding` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Transfer {
    /// `chunked`, and nothing else.
    Chunked,
    /// `chunked` is applied last, behind something else.
    Packed,
    /// Something else is, so that the body goes on until the connection ends.
    Other,
}

impl Fields {
    /// What says so, field by field: names differ in length, so that one comparison decides for most.
    pub(in super::super) fn note(&mut self, name: &str, value: &[u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            10 if is("connection") => self.connection(value),
            14 if is("content-length") => self.content_length(value),
            17 if is("transfer-encoding") => self.transfer_encoding(value),
            _ => {}
        }
    }

    /// Whether another message can follow on the connection, by all that the fields say of it.
    pub(in super::super) fn stays(&self, minor: u8) -> bool {
        !self.close && (minor > 0 || self.keep)
    }

    fn connection(&mut self, value: &[u8]) {
        for option in parts(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// The same number may be said more than once (RFC 9110, section 8.6).
    fn content_length(&mut self, value: &[u8]) {
        self.listed |= value.contains(&b',');
        for one in parts(value) {
            let digits = !one.is_empty() && one.iter().all(u8::is_ascii_digit);
            let length = std::str::from_utf8(one).ok().filter(|_| digits);
            self.length = match (length.and_then(|length| length.parse().ok()), self.length) {
                (Some(length), Length::Unsaid) => Length::Said(length),
                (Some(length), Length::Said(before)) if length == before => Length::Said(length),
                _ => Length::Senseless,
            };
        }
    }

    fn transfer_encoding(&mut self, value: &[u8]) {
        for coding in parts(value) {
            let chunked = coding.eq_ignore_ascii_case(b"chunked");
            self.transfer = Some(match (self.transfer, chunked) {
                (None, true) => Transfer::Chunked,
                (Some(_), true) => Transfer::Packed,
                (_, false) => Transfer::Other,
            });
        }
    }
}

fn parts(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(fields: &[(&str, &str)]) -> Fields {
        let mut said = Fields::default();
        fields
            .iter()
            .for_each(|(name, value)| said.note(name, value.as_bytes()));
        said
    }

    #[test]
    fn one_length_is_one_however_often_it_is_said() {
        let length = |values: &[&str]| {
            let fields: Vec<_> = values.iter().map(|value| ("Content-Length", *value)).collect();
            said(&fields).length
        };
        assert_eq!(length(&[]), Length::Unsaid);
        assert_eq!(length(&["7"]), Length::Said(7));
        assert_eq!(length(&["7, 7", "7"]), Length::Said(7));
        for wrong in ["7, 8", "-1", "+1", "0x1", "1 2", "", "99999999999999999999", "7;"] {
            assert_eq!(length(&[wrong]), Length::Senseless, "{wrong}");
        }
        assert_eq!(length(&["7", "8"]), Length::Senseless);
        assert_eq!(length(&["8", "x", "8"]), Length::Senseless);
    }

    #[test]
    fn only_chunked_alone_is_chunked() {
        let transfer = |values: &[&str]| {
            let fields: Vec<_> = values.iter().map(|value| ("transfer-encoding", *value)).collect();
            said(&fields).transfer
        };
        assert_eq!(transfer(&[]), None);
        assert_eq!(transfer(&["Chunked"]), Some(Transfer::Chunked));
        for packed in [
            &["gzip, chunked"][..],
            &["gzip", "chunked"],
            &["chunked, chunked"],
        ] {
            assert_eq!(transfer(packed), Some(Transfer::Packed), "{packed:?}");
        }
        for other in [
            &["chunked, gzip"][..],
            &["chunked", "identity"],
            &["xchunked"],
            &[""],
        ] {
            assert_eq!(transfer(other), Some(Transfer::Other), "{other:?}");
        }
    }

    #[test]
    fn the_connection_stays_as_its_version_has_it_unless_it_is_said() {
        let stays = |value, minor| said(&[("Connection", value)]).stays(minor);
        assert!(stays("", 1) && !stays("", 0) && stays("Keep-Alive", 0) && !stays("upgrade, Close", 1));
        assert!(!stays("keep-alive, close", 0));
    }
}
