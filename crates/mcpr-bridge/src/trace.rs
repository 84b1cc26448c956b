//! Trace context in `_meta` (SEP-414; the formats are those of W3C Trace Context).

use mcpr_protocol::{Edit, Object, RawJson};

pub(crate) const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";

/// The flag that says that a trace is kept.
const SAMPLED: u8 = 1;

/// The most a `tracestate` may hold; more may be dropped (Trace Context 3.3.1.5).
const STATE_MEMBERS: usize = 32;
const STATE_LENGTH: usize = 512;

/// A `traceparent` that keeps to the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceParent<'t> {
    trace: &'t str,
    span: &'t str,
    flags: u8,
}

impl<'t> TraceParent<'t> {
    /// Reads it; `None` where anything of it is not as the format demands.
    pub fn read(text: &'t str) -> Option<Self> {
        let mut parts = text.split('-');
        let [version, trace, span, flags] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let is_current = version == "00";
        let well_formed = is_hex(version, 2)
            && version != "ff"
            && is_id(trace, 32)
            && is_id(span, 16)
            && is_hex(flags, 2)
            && (!is_current || parts.next().is_none());
        // Of a later version only the sampled flag is known.
        let flags = u8::from_str_radix(flags, 16).ok()? & if is_current { 0xff } else { SAMPLED };
        well_formed.then_some(Self { trace, span, flags })
    }

    /// The id of the trace; never 0.
    pub fn trace(&self) -> u128 {
        u128::from_str_radix(self.trace, 16).unwrap_or_default()
    }

    /// The id of the span; never 0.
    pub fn span(&self) -> u64 {
        u64::from_str_radix(self.span, 16).unwrap_or_default()
    }

    /// Whether the trace is kept.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The same trace with another span.
    fn child(&self, span: u64) -> String {
        let Self { trace, flags, .. } = self;
        format!("00-{trace}-{span:016x}-{flags:02x}")
    }
}

/// Continues the client's trace on the hop to a server: the same trace, with a span of the hop's
/// own as the parent.
///
/// Where mcpr tells a collector of the hop, that is the span it tells of (`told`), and there is one even
/// if the client has none. What is malformed is dropped, and so is baggage, which would tell one
/// party's data to another.
pub(crate) fn carry_on(edit: &mut Edit<'_>, meta: &Object, told: Option<&str>) {
    edit.remove(BAGGAGE);
    let parent = meta.text(PARENT);
    let child = parent.and_then(|parent| Some(TraceParent::read(&parent)?.child(fresh_span()?)));
    let has_parent = child.is_some();
    match told.or(child.as_deref()) {
        Some(span) => edit.set(PARENT, RawJson::string(span)),
        None => edit.remove(PARENT),
    };
    if !has_parent || !meta.text(STATE).is_some_and(|state| is_tracestate(&state)) {
        edit.remove(STATE);
    }
}

fn fresh_span() -> Option<u64> {
    let span = getrandom::u64().ok()?;
    Some(span.max(1)) // Zero is no span.
}

fn is_id(text: &str, length: usize) -> bool {
    is_hex(text, length) && text.bytes().any(|digit| digit != b'0')
}

/// Digits in lower case, as the format demands.
fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a text is a `tracestate` that goes on: a list of `key=value` in visible ASCII, no longer than it must be taken.
pub fn is_tracestate(state: &str) -> bool {
    let members = || {
        state
            .split(',')
            .map(str::trim)
            .filter(|member| !member.is_empty())
    };
    let is_member = |member: &str| {
        let Some((key, value)) = member.split_once('=') else {
            return false;
        };
        !key.is_empty() && !value.is_empty() && !value.contains('=')
    };
    state.len() <= STATE_LENGTH
        && state.bytes().all(|byte| matches!(byte, 0x20..=0x7e | b'\t'))
        && (1..=STATE_MEMBERS).contains(&members().count())
        && members().all(is_member)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn child_of(parent: &str, span: u64) -> Option<String> {
        Some(TraceParent::read(parent)?.child(span))
    }

    fn carried(meta: &str) -> String {
        let object = Object::read(&RawJson::trusted(meta.to_owned())).unwrap();
        let mut edit = Edit::new(&object);
        carry_on(&mut edit, &object, None);
        String::from_utf8(edit.finish().into_bytes().to_vec()).unwrap()
    }

    #[test]
    fn the_trace_goes_on_with_a_span_of_its_own() {
        assert_eq!(
            child_of(PARENT, 0xabc).unwrap(),
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000abc-01"
        );
        let carried = carried(&format!(
            r#"{{"traceparent":"{PARENT}","tracestate":"a=1, b@c=x"}}"#
        ));
        assert!(carried.starts_with(r#"{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-"#));
        assert!(carried.ends_with(r#"-01","tracestate":"a=1, b@c=x"}"#));
        assert!(!carried.contains("b7ad6b7169203331"));
    }

    #[test]
    fn a_span_that_a_collector_is_told_of_is_the_one_that_goes_on() {
        let told = child_of(PARENT, 0xabc).unwrap();
        for (meta, sent) in [
            ("{}".to_owned(), format!(r#"{{"traceparent":"{told}"}}"#)),
            (
                format!(r#"{{"traceparent":"{PARENT}","tracestate":"a=1"}}"#),
                format!(r#"{{"traceparent":"{told}","tracestate":"a=1"}}"#),
            ),
            (
                r#"{"traceparent":"odd","tracestate":"a=1"}"#.to_owned(),
                format!(r#"{{"traceparent":"{told}"}}"#),
            ),
        ] {
            let object = Object::read(&RawJson::trusted(meta)).unwrap();
            let mut edit = Edit::new(&object);
            carry_on(&mut edit, &object, Some(&told));
            let text = String::from_utf8(edit.finish().into_bytes().to_vec()).unwrap();
            assert_eq!(text, sent);
        }
    }

    #[test]
    fn log_07_the_ids_are_those_of_the_text() {
        let parent = TraceParent::read(PARENT).unwrap();
        let ids = (parent.trace(), parent.span(), parent.is_sampled());
        assert_eq!(
            ids,
            (
                0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c,
                0xb7ad_6b71_6920_3331,
                true
            )
        );
        let unkept = PARENT.replace("-01", "-02");
        assert!(!TraceParent::read(&unkept).unwrap().is_sampled());
    }

    #[test]
    fn a_later_version_is_continued_in_ours() {
        let later = PARENT.replacen("00", "cc", 1).replace("-01", "-ff-more");
        assert!(child_of(&later, 1).unwrap().ends_with("-0000000000000001-01"));
    }

    #[test]
    fn what_is_malformed_is_dropped_with_its_state() {
        for parent in [
            "00-1".to_owned(),
            String::new(),
            PARENT.to_uppercase(),
            format!("{PARENT}-"),
            format!(" {PARENT}"),
            format!("{PARENT} "),
            "00-1-2-01".to_owned(),
            PARENT.replacen("00", "0", 1),
            PARENT.replace("-0af7", "-+af7").replace("-b7ad", "-+7ad"),
            PARENT.replace("-0af7", "-00af7"),
            PARENT.replace("-01", "-001"),
            PARENT.replacen("00", "ff", 1),
            PARENT.replace("b7ad6b7169203331", "0000000000000000"),
            PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
        ] {
            let meta = format!(r#"{{"traceparent":"{parent}","tracestate":"a=1","x":1}}"#);
            assert_eq!(carried(&meta), r#"{"x":1}"#, "{parent}");
        }
        assert_eq!(carried(r#"{"traceparent":5,"tracestate":"a=1"}"#), "{}");
    }

    #[test]
    fn baggage_stays_here_and_state_needs_a_trace() {
        assert_eq!(
            carried(r#"{"x":1,"baggage":"user=anna","tracestate":"a=1"}"#),
            r#"{"x":1}"#
        );
        for state in ["", "a", "a=é", "a=1,b", &"a=1,".repeat(33)] {
            let meta = format!(r#"{{"traceparent":"{PARENT}","tracestate":"{state}"}}"#);
            assert!(!carried(&meta).contains("tracestate"), "{state}");
        }
    }
}
