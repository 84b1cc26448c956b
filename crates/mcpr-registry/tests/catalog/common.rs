//! Short ways to say what servers list.

use std::sync::Arc;

use bytes::Bytes;
use mcpr_protocol::{Era, RawJson};
use mcpr_registry::{
    Assignments, Built, Capabilities, Catalog, Kind, Listing, Naming, Offers, PrefixPolicy, ServerNaming,
    View,
};

pub(crate) fn json(text: &str) -> RawJson {
    RawJson::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

/// A server that lists nothing yet.
pub(crate) fn server(name: &str) -> Listing {
    Listing {
        server: name.parse().unwrap(),
        naming: ServerNaming::default(),
        overrides: Default::default(),
        stateless_http: false,
        offers: Arc::new(Offers::default()),
    }
}

pub(crate) trait Lists: Sized {
    fn offers(&mut self) -> &mut Offers;

    /// Adds items as they are.
    fn lists(mut self, kind: Kind, items: &[&str]) -> Self {
        self.offers()
            .items_mut(kind)
            .extend(items.iter().map(|item| json(item)));
        self
    }

    /// Adds tools by name.
    fn tools(self, names: &[&str]) -> Self {
        let items: Vec<String> = names.iter().map(|name| tool(name)).collect();
        self.lists(Kind::Tools, &items.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Adds resources by URI.
    fn resources(self, uris: &[&str]) -> Self {
        let items: Vec<String> = uris
            .iter()
            .map(|uri| format!(r#"{{"uri":{uri:?},"name":"x"}}"#))
            .collect();
        self.lists(
            Kind::Resources,
            &items.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }

    /// Adds templates.
    fn templates(self, templates: &[&str]) -> Self {
        let items: Vec<String> = templates
            .iter()
            .map(|text| format!(r#"{{"uriTemplate":{text:?},"name":"x"}}"#))
            .collect();
        self.lists(
            Kind::Templates,
            &items.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }

    /// Says that it has resources.
    fn able(mut self) -> Self {
        self.offers().capabilities = Capabilities {
            resources: true,
            ..Capabilities::default()
        };
        self
    }
}

impl Lists for Listing {
    fn offers(&mut self) -> &mut Offers {
        Arc::make_mut(&mut self.offers)
    }
}

pub(crate) fn tool(name: &str) -> String {
    format!(
        r#"{{"name":{},"inputSchema":{{"type":"object"}}}}"#,
        RawJson::string(name).as_str()
    )
}

pub(crate) fn prefix(prefix: PrefixPolicy) -> Naming {
    Naming {
        prefix,
        ..Naming::default()
    }
}

pub(crate) fn build(listings: &[Listing]) -> Built {
    Catalog::build(listings, &Naming::default(), &Assignments::default())
}

pub(crate) fn view(listings: &[Listing]) -> View {
    View::everything(Arc::new(build(listings).catalog))
}

/// The exposed names of a kind.
pub(crate) fn exposed(built: &Built, kind: Kind) -> Vec<String> {
    let view = View::everything(Arc::new(built.catalog.clone()));
    view.items(kind).map(|item| item.exposed.to_string()).collect()
}

pub(crate) fn warnings(built: &Built) -> Vec<String> {
    built.warnings.iter().map(ToString::to_string).collect()
}

pub(crate) fn list(view: &View, kind: Kind, era: Era) -> String {
    String::from_utf8(view.list(kind, era).to_vec()).unwrap()
}
