//! Stories of files that are changed by a program.

mod disk;
mod files;
mod properties;
mod shapes;

use std::path::Path;

use mcpr_protocol::RawJson;

use super::Document;
use crate::environment::tests::Fixed;

/// The document with this text.
fn document(text: &str) -> Document {
    let env = Fixed::default().file("/base/mcpr.json", text);
    Document::open(Path::new("mcpr.json"), &env).unwrap()
}

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned().into()).unwrap()
}

/// The text after a server was put into it.
fn with_server(text: &str, name: &str, entry: &str) -> String {
    let mut document = document(text);
    document.set_server(name, &raw(entry)).unwrap();
    document.text().to_owned()
}

/// The text after a server was taken out of it.
fn without_server(text: &str, name: &str) -> String {
    let mut document = document(text);
    assert!(document.remove_server(name).unwrap());
    document.text().to_owned()
}

/// The text after one value was changed; an empty one removes the key.
fn with(text: &str, path: &[&str], value: &str) -> String {
    let mut document = document(text);
    let value = (!value.is_empty()).then(|| raw(value));
    document.set(path, value.as_ref()).unwrap();
    document.text().to_owned()
}
