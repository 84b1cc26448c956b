//! How resources are exposed and found.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use mcpr_registry::{Assignments, Catalog, Kind, Listing, Naming, Route, UriError, UriPolicy, View};

use crate::common::{Lists, build, server, view};

/// The route as `server original`, or what stands in its way.
fn route(view: &View, uri: &str) -> String {
    match view.resource(uri) {
        Ok(Route { server, uri }) => format!("{server} {uri}"),
        Err(error) => error.to_string(),
    }
}

fn raw(mut listing: Listing) -> Listing {
    listing.naming.uris = Some(UriPolicy::Raw);
    listing
}

#[test]
fn b51_exposed_uris_are_distinct_and_come_back_as_they_were() {
    let uris = [
        "file:///a",
        "memo:///a",
        "memo://a",
        "http://h/a?x=1#f",
        "x:opaque",
    ];
    let view = view(&[server("one").resources(&uris), server("two").resources(&uris)]);
    let exposed: HashSet<String> = view
        .items(Kind::Resources)
        .map(|item| item.exposed.to_string())
        .collect();
    assert_eq!(exposed.len(), 10);
    for item in view.items(Kind::Resources) {
        assert_eq!(
            route(&view, &item.exposed),
            format!("{} {}", item.origin.server, item.origin.name)
        );
    }
    assert!(exposed.contains("resource://one/http://h/a?x=1#f"));
}

#[test]
fn b79_uris_are_opaque_texts() {
    let uris = [
        "file:///my docs/a.txt",
        "file:///caf%C3%A9",
        "file:///café",
        "kb://a/b%2Fc",
        "KB://A/..",
    ];
    let view = view(&[server("s").resources(&uris), server("other").able()]);
    for uri in uris {
        assert_eq!(route(&view, uri), format!("s {uri}"));
        assert_eq!(
            route(&view, &view.expose_uri(&"s".parse().unwrap(), uri).unwrap()),
            format!("s {uri}")
        );
    }
}

#[test]
fn b80_a_read_by_template_is_routed_in_both_forms() {
    let view = view(&[
        server("s").templates(&["data://{id}{?format}"]),
        server("other").able(),
    ]);
    let template = view.items(Kind::Templates).next().unwrap();
    assert_eq!(&*template.exposed, "resource://s/data://{id}{?format}");
    assert_eq!(
        route(&view, "resource://s/data://123?format=xml"),
        "s data://123?format=xml"
    );
    assert_eq!(route(&view, "data://123?format=xml"), "s data://123?format=xml");
    assert_eq!(
        route(&view, "data://123/4"),
        "s data://123/4",
        "loosely, where nothing fits exactly"
    );
    assert_eq!(
        route(&view, &template.exposed),
        "s data://{id}{?format}",
        "as completion asks"
    );
}

#[test]
fn sec_05_templates_without_bounds_are_listed_and_make_no_read_slow() {
    let endless = format!("x://{}", "{+a}".repeat(100_000));
    let long = format!("x://{}", "{a}y".repeat(300));
    let view = view(&[
        server("s").templates(&[&endless, &long, "y://{id}"]),
        server("other").templates(&["x://{+id}"]),
    ]);
    assert_eq!(view.len(Kind::Templates), 4);
    let began = Instant::now();
    let uri = format!("x://{}", "z".repeat(8000));
    assert_eq!(route(&view, &uri), format!("other {uri}"));
    assert_eq!(route(&view, "y://1"), "s y://1");
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn b42_everything_is_listed_with_one_server_or_more() {
    let full = server("full")
        .lists(Kind::Prompts, &[r#"{"name":"p"}"#])
        .resources(&["file:///a"]);
    let listings = [full, server("templates").templates(&["t://{x}"]), server("none")];
    for count in 1..=3 {
        let view = view(&listings[..count]);
        assert_eq!((view.len(Kind::Prompts), view.len(Kind::Resources)), (1, 1));
        assert_eq!(view.len(Kind::Templates), usize::from(count > 1));
        assert_eq!(route(&view, "resource://full/file:///a"), "full file:///a");
    }
}

#[test]
fn agg_09_an_original_that_several_could_own_is_an_error_that_names_them() {
    let view = view(&[
        server("b").resources(&["file:///a"]).templates(&["x:{n}"]),
        server("a").resources(&["file:///a"]).templates(&["x:{n}"]),
        server("none"),
    ]);
    let ambiguous = UriError::Ambiguous(vec!["b".parse().unwrap(), "a".parse().unwrap()]);
    for uri in ["file:///a", "x:1", "nobody:lists-this"] {
        assert_eq!(view.resource(uri), Err(ambiguous.clone()), "{uri}");
    }
    let text = "several servers could have this resource: `b`, `a`; ask for `resource://SERVER/URI` with one of them";
    assert_eq!(ambiguous.to_string(), text);
    assert_eq!(route(&view, "resource://a/file:///a"), "a file:///a");
}

#[test]
fn agg_09_the_only_server_with_resources_gets_what_nobody_lists() {
    assert_eq!(route(&view(&[server("a").able(), server("b")]), "x:1"), "a x:1");
    assert_eq!(view(&[server("b")]).resource("x:1"), Err(UriError::Unknown));
    assert_eq!(view(&[]).resource("resource://b/x:1"), Err(UriError::Unknown));
}

#[test]
fn agg_09_raw_schemes_and_raw_servers_keep_their_uris() {
    let view = view(&[
        server("app").resources(&["ui://app/main", "UI://app/x", "uix://y"]),
        raw(server("raw").resources(&["file:///r"])),
    ]);
    let exposed: Vec<&str> = view.items(Kind::Resources).map(|item| &*item.exposed).collect();
    assert_eq!(
        exposed,
        [
            "ui://app/main",
            "UI://app/x",
            "resource://app/uix://y",
            "file:///r"
        ]
    );
    assert_eq!(view.expose_uri(&"app".parse().unwrap(), "ui://app/other"), None);
    assert_eq!(view.expose_uri(&"raw".parse().unwrap(), "file:///x"), None);
    assert_eq!(route(&view, "ui://app/main"), "app ui://app/main");
    assert_eq!(
        route(&view, "resource://raw/file:///r"),
        "raw file:///r",
        "still readable so"
    );
}

#[test]
fn agg_09_raw_for_the_whole_gateway() {
    let naming = Naming {
        uris: UriPolicy::Raw,
        ..Naming::default()
    };
    let mut wrapped = server("w").resources(&["file:///w"]);
    wrapped.naming.uris = Some(UriPolicy::Wrapped);
    let built = Catalog::build(
        &[server("r").resources(&["file:///r"]), wrapped],
        &naming,
        &Assignments::default(),
    );
    let view = View::everything(Arc::new(built.catalog));
    let exposed: Vec<&str> = view.items(Kind::Resources).map(|item| &*item.exposed).collect();
    assert_eq!(exposed, ["file:///r", "resource://w/file:///w"]);
}

#[test]
fn a_server_named_like_the_host_of_its_own_uris_gets_them_as_they_are() {
    let docs = server("docs")
        .resources(&["resource://docs/a"])
        .templates(&["resource://docs/by-id/{id}"]);
    let view = view(&[docs, server("other").able()]);
    let own = ["resource://docs/a", "resource://docs/by-id/5"];
    for uri in own {
        assert_eq!(route(&view, uri), format!("docs {uri}"));
        assert_eq!(
            route(&view, &format!("resource://docs/{uri}")),
            format!("docs {uri}")
        );
    }
}

#[test]
fn no_server_draws_the_exposed_uris_of_another_to_itself() {
    let thief = server("thief")
        .resources(&["resource://git/file:///x"])
        .templates(&["{+all}"]);
    let view = view(&[thief, server("git").able()]);
    assert_eq!(route(&view, "resource://git/file:///x"), "git file:///x");
    assert_eq!(
        route(&view, "resource://thief/resource://git/file:///x"),
        "thief resource://git/file:///x"
    );
}

#[test]
fn the_name_of_a_server_is_encoded_where_a_uri_or_a_template_could_not_hold_it() {
    let listing = server("my {é} server").resources(&["file:///a"]);
    let view = view(&[
        listing,
        server("my%20x").resources(&["file:///b"]),
        server("my x").resources(&["file:///c"]),
    ]);
    let exposed: Vec<&str> = view.items(Kind::Resources).map(|item| &*item.exposed).collect();
    assert_eq!(
        exposed,
        [
            "resource://my%20%7B%C3%A9%7D%20server/file:///a",
            "resource://my%2520x/file:///b",
            "resource://my%20x/file:///c"
        ]
    );
    assert_eq!(route(&view, exposed[0]), "my {é} server file:///a");
    assert_eq!(
        route(&view, "resource://my {é} server/file:///z"),
        "my {é} server file:///z",
        "as it is, too"
    );
    assert_eq!(route(&view, "resource://my%20x/file:///z"), "my x file:///z");
}

#[test]
fn a_server_out_of_sight_owns_nothing() {
    let catalog = Arc::new(build(&[server("a").resources(&["file:///a"]), server("b").able()]).catalog);
    let view = View::of(catalog, |asked| asked.server.as_str() == "b");
    assert_eq!(route(&view, "file:///a"), "b file:///a", "the only one in sight");
    assert_eq!(route(&view, "resource://a/file:///a"), "b resource://a/file:///a");
    assert_eq!(view.len(Kind::Resources), 0);
}
