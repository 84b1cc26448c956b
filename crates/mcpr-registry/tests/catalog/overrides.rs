//! Names and descriptions that operators give to tools.

use std::sync::Arc;

use mcpr_protocol::{Era, Object};
use mcpr_registry::{
    Assignments, BUILT_IN_TOOLS, Built, Catalog, Kind, Listing, Naming, PrefixPolicy, ToolOverride, View,
};

use crate::common::{Lists, build, exposed, prefix, server, warnings};

fn renamed(listing: Listing, tool: &str, name: &str) -> Listing {
    overridden(listing, tool, Some(name), None)
}

fn described(listing: Listing, tool: &str, description: &str) -> Listing {
    overridden(listing, tool, None, Some(description))
}

fn overridden(mut listing: Listing, tool: &str, name: Option<&str>, description: Option<&str>) -> Listing {
    let (name, description) = (name.map(str::to_owned), description.map(str::to_owned));
    let overrides = Arc::make_mut(&mut listing.overrides);
    overrides.insert(tool.into(), ToolOverride { name, description });
    listing
}

fn tools(built: &Built) -> Vec<String> {
    exposed(built, Kind::Tools)
}

fn after(before: &Built, listings: &[Listing]) -> Built {
    Catalog::build(listings, &Naming::default(), &before.assignments)
}

#[test]
fn agg_02_an_override_is_the_whole_name_as_far_as_clients_take_it() {
    let git = || server("git").tools(&["status"]);
    let name = |name: &str| tools(&build(&[renamed(git(), "status", name)])).remove(0);
    assert_eq!(name("state"), "state");
    assert_eq!(name("work-state"), "work-state", "the operator's hyphens stay");
    assert_eq!(name("7 états.x"), "_7__tats_x");
    assert_eq!(name(""), "git_status");
    let long = name(&"x".repeat(60));
    assert!(long.len() == 50 && long.starts_with("xxx"), "{long}");
    for policy in [PrefixPolicy::Conflict, PrefixPolicy::Never] {
        let listings = [renamed(git(), "status", "state")];
        let built = Catalog::build(&listings, &prefix(policy), &Assignments::default());
        assert_eq!(tools(&built), ["state"]);
    }
}

#[test]
fn agg_02_an_override_of_a_raw_server_is_cut_like_any() {
    let mut raw = renamed(server("git").tools(&["a.b", "c.d"]), "a.b", &"x".repeat(60));
    raw.naming.raw = true;
    let names = tools(&build(&[raw]));
    assert_eq!(names[0].len(), 50);
    assert_eq!(names[1], "c.d");
}

#[test]
fn agg_02_the_later_claim_on_an_overriding_name_gets_the_hash_and_a_warning() {
    let listings = [
        server("git").tools(&["status"]),
        renamed(server("hg").tools(&["st"]), "st", "git_status"),
    ];
    let built = build(&listings);
    let [first, second] = &tools(&built)[..] else {
        panic!()
    };
    assert_eq!(first, "git_status");
    assert!(
        second.starts_with("git_status_") && second.len() == 17,
        "{second}"
    );
    let warning = format!(
        "server `hg`, tool `st`: its name `git_status` belongs to another one, it is exposed as `{second}`"
    );
    assert_eq!(warnings(&built), [warning]);
    let again = after(&built, &listings);
    assert_eq!(tools(&again), tools(&built));
    assert!(again.new_rows.is_empty());
}

#[test]
fn b109_no_override_takes_the_name_of_a_built_in_tool() {
    for name in BUILT_IN_TOOLS {
        let built = build(&[renamed(server("git").tools(&["status"]), "status", name)]);
        assert_ne!(tools(&built), [name]);
        assert_eq!(built.warnings.len(), 1);
    }
}

#[test]
fn agg_02_an_override_is_kept_in_the_assignments_and_gives_way_when_it_ends() {
    let git = || server("git").tools(&["status", "log"]);
    let plain = build(&[git()]);
    let with = [renamed(git(), "status", "state")];
    let given = after(&plain, &with);
    assert_eq!(tools(&given), ["state", "git_log"]);
    assert_eq!(given.new_rows.len(), 1, "only the one that is named anew");

    let restarted = after(&given, &with);
    assert_eq!(tools(&restarted), ["state", "git_log"]);
    assert!(restarted.new_rows.is_empty());

    let ended = after(&restarted, &[git()]);
    assert_eq!(tools(&ended), ["git_status", "git_log"]);
    assert_eq!(ended.assignments, plain.assignments);
}

#[test]
fn agg_02_an_override_that_ended_keeps_its_name_from_nobody() {
    let git = || server("git").tools(&["status"]);
    let given = build(&[renamed(git(), "status", "state")]);
    let other = renamed(server("hg").tools(&["st"]), "st", "state");
    assert_eq!(tools(&after(&given, &[git(), other])), ["git_status", "state"]);
}

#[test]
fn set_09_an_overriding_description_takes_the_place_of_the_other_and_all_else_stays() {
    const TOOL: &str =
        r#"{ "name":"status", "description" : "Old.","inputSchema":{"type":"object","n":1E400} }"#;
    const BARE: &str = r#"{"name":"log","inputSchema":{"type":"object"},"x":[ 1 ]}"#;
    let listing = described(
        server("git").lists(Kind::Tools, &[TOOL, BARE]),
        "status",
        "\"New\"\n",
    );
    let view = View::everything(Arc::new(build(&[described(listing, "log", "Added.")]).catalog));
    let rendered = |name: &str| {
        view.tool(name)
            .unwrap()
            .rendered(Era::Session)
            .as_str()
            .to_owned()
    };
    insta::assert_snapshot!(format!("{}\n{}", rendered("git.status"), rendered("git.log")));

    let tool = view.tool("git.status").unwrap();
    assert_eq!(tool.definition.as_str(), TOOL, "what the server sent");
    assert_eq!(tool.description().as_deref(), Some("\"New\"\n"));
}

#[test]
fn set_09_only_tools_are_overridden() {
    let item = r#"{"name":"status","description":"Mine."}"#;
    let listing = server("git").lists(Kind::Prompts, &[item]).resources(&["status"]);
    let built = build(&[overridden(listing, "status", Some("state"), Some("Other."))]);
    assert_eq!(exposed(&built, Kind::Prompts), ["git_status"]);
    let view = View::everything(Arc::new(built.catalog));
    let prompt = Object::read(view.prompt("git_status").unwrap().rendered(Era::Session)).unwrap();
    assert_eq!(prompt.text("description").as_deref(), Some("Mine."));
    let resource = view.items(Kind::Resources).next().unwrap();
    assert_eq!(resource.description(), None);
}
