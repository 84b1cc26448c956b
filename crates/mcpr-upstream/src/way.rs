//! The gateways that listed items come through (B110).
//!
//! Gateways may have one another as servers, even in a circle. Each writes down, in what it takes over from another,
//! that it came from there; and what has been through itself, or through the other, before is not taken over. So an
//! item goes through each gateway at most once, however they are joined.

use mcpr_protocol::{Edit, Object, RawJson, key};

/// The way from a server to here.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    /// Which gateway this is.
    pub(crate) to: &'a str,
    /// Which gateway the server is, if it is one.
    pub(crate) from: Option<&'a str>,
}

impl Way<'_> {
    /// The item as it arrives; `None` where it has been here before.
    pub(crate) fn take(self, item: RawJson) -> Option<RawJson> {
        let Ok(object) = Object::read(&item) else {
            return Some(item); // The catalog says what is wrong with it.
        };
        let meta = object.object("_meta");
        let through = meta.as_ref().map(come_through).unwrap_or_default();
        let been = |gateway: &str| through.iter().any(|one| one == gateway);
        if been(self.to) || self.from.is_some_and(been) {
            return None;
        }
        let Some(from) = self.from else {
            return Some(item);
        };
        let noted = noted(meta.as_ref(), &through, from);
        let noted = Edit::new(&object).set("_meta", noted).finish();
        Some(RawJson::trusted(noted.into_bytes()))
    }
}

/// The gateways that an item says it has come through.
fn come_through(meta: &Object) -> Vec<String> {
    let said = meta.get(key::GATEWAYS).and_then(|gateways| gateways.elements());
    said.iter().flatten().filter_map(RawJson::to_text).collect()
}

/// The `_meta` of an item with one gateway more.
fn noted(meta: Option<&Object>, through: &[String], from: &str) -> RawJson {
    let gateways: Vec<&str> = through.iter().map(String::as_str).chain([from]).collect();
    let none = Object::default();
    let mut edit = Edit::new(meta.unwrap_or(&none));
    edit.set(key::GATEWAYS, RawJson::render(&gateways));
    RawJson::trusted(edit.finish().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "here";

    fn taken(from: Option<&str>, item: &'static str) -> Option<String> {
        let way = Way { to: HERE, from };
        way.take(RawJson::from_static(item))
            .map(|item| item.as_str().to_owned())
    }

    #[test]
    fn b110_what_comes_from_no_gateway_is_taken_as_it_is() {
        for item in [
            r#"{ "name" :"a" }"#,
            r#"{"_meta":{"x":1}}"#,
            r#"{"_meta":7}"#,
            "7",
        ] {
            assert_eq!(taken(None, item).as_deref(), Some(item));
        }
    }

    #[test]
    fn b110_what_comes_from_a_gateway_says_so() {
        let first = taken(Some("b"), r#"{"name":"a"}"#);
        assert_eq!(
            first.as_deref(),
            Some(r#"{"name":"a","_meta":{"dev.mcpr/gateways":["b"]}}"#)
        );
        let later = taken(
            Some("c"),
            r#"{"_meta":{"x": 1,"dev.mcpr/gateways":["b"]},"name":"a"}"#,
        );
        assert_eq!(
            later.as_deref(),
            Some(r#"{"_meta":{"x": 1,"dev.mcpr/gateways":["b","c"]},"name":"a"}"#)
        );
    }

    #[test]
    fn b110_what_has_been_here_or_there_before_is_not_taken() {
        let round = r#"{"name":"a","_meta":{"dev.mcpr/gateways":["here","b"]}}"#;
        assert_eq!(taken(Some("c"), round), None);
        assert_eq!(taken(Some("b"), round), None);
        assert_eq!(taken(None, round), None);
        // A gateway that started anew is another; the one it came from knows it by its old name.
        let stale = r#"{"name":"a","_meta":{"dev.mcpr/gateways":["old","b","c"]}}"#;
        assert_eq!(taken(Some("b"), stale), None);
    }
}
