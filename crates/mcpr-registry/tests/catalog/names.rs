//! Which names tools and prompts get, and what is found by them.

use std::sync::Arc;

use mcpr_registry::{Assignments, Built, Catalog, Hyphens, Kind, Listing, Naming, PrefixPolicy, Row, View};

use crate::common::{Lists, build, exposed, prefix, server, view, warnings};

fn with_prefix(mut listing: Listing, prefix: &str) -> Listing {
    listing.naming.prefix = Some(prefix.into());
    listing
}

fn raw(mut listing: Listing) -> Listing {
    listing.naming.raw = true;
    listing
}

fn tools(built: &Built) -> Vec<String> {
    exposed(built, Kind::Tools)
}

fn names(listings: &[Listing], naming: &Naming) -> Vec<String> {
    tools(&Catalog::build(listings, naming, &Assignments::default()))
}

fn origin_of(view: &View, name: &str) -> Option<String> {
    view.tool(name).map(|tool| tool.origin.to_string())
}

#[test]
fn b04_long_names_are_cut_with_a_hash_and_routed_by_table() {
    let tail = ["a".repeat(55) + "12345", "a".repeat(55) + "67890"];
    let tail = tail.each_ref().map(String::as_str);
    let listings = [server("my-very-long-internal-company-server").tools(&tail)];
    let built = build(&listings);
    let names = tools(&built);
    assert!(names.iter().all(|name| name.len() == 50), "{names:?}");
    assert_ne!(names[0], names[1]);
    assert_eq!(names, tools(&build(&listings)), "the same after a restart");
    assert!(warnings(&built)[0].starts_with("server `my-very-long-internal-company-server`, tool `aaa"));
    let view = view(&listings);
    let routed = names
        .iter()
        .map(|name| view.tool(name).unwrap().origin.name.to_string());
    assert!(routed.eq(tail));
}

#[test]
fn b05_no_exposed_name_has_a_dot_and_the_server_is_called_by_its_own() {
    let view = view(&[server("s").tools(&["calendar.read", "Node.js_restart"])]);
    let names: Vec<_> = view
        .tools()
        .map(|tool| (tool.exposed.to_string(), tool.origin.name.to_string()))
        .collect();
    let pair = |exposed: &str, origin: &str| (exposed.to_owned(), origin.to_owned());
    assert_eq!(
        names,
        [
            pair("s_calendar_read", "calendar.read"),
            pair("s_Node_js_restart", "Node.js_restart")
        ]
    );
}

#[test]
fn b15_the_same_tool_on_two_servers_is_two_tools() {
    let built = build(&[server("a").tools(&["search"]), server("b").tools(&["search"])]);
    assert_eq!(tools(&built), ["a_search", "b_search"]);
    assert!(built.warnings.is_empty());
}

#[test]
fn b16_a_hyphen_as_separator_and_in_names_leads_nowhere_wrong() {
    let listings = [
        server("backstage").tools(&["get-catalog-entity"]),
        server("get").tools(&["catalog-entity"]),
    ];
    let naming = Naming {
        separator: "-".into(),
        hyphens: Hyphens::Keep,
        ..Naming::default()
    };
    let built = Catalog::build(&listings, &naming, &Assignments::default());
    let view = View::everything(Arc::new(built.catalog));
    assert_eq!(
        origin_of(&view, "backstage-get-catalog-entity").unwrap(),
        "backstage.get-catalog-entity"
    );
    assert_eq!(
        origin_of(&view, "get-catalog-entity").unwrap(),
        "get.catalog-entity",
        "exposed beats bare"
    );
}

#[test]
fn b82_prompts_are_named_like_tools() {
    let prompt = r#"{"name":"review","arguments":[{"name":"diff","x":1}]}"#;
    let listings = ["a", "b"].map(|name| server(name).lists(Kind::Prompts, &[prompt]).tools(&["review"]));
    let built = build(&listings);
    assert_eq!(exposed(&built, Kind::Prompts), ["a_review", "b_review"]);
    let view = view(&listings);
    assert_eq!(view.prompt("b_review").unwrap().origin.to_string(), "b.review");
    assert_eq!(view.prompt("a.review").unwrap().origin.to_string(), "a.review");
    assert!(view.prompt("review").is_none(), "two have that name");
}

#[test]
fn b101_a_newcomer_changes_no_name() {
    let first = server("a.b").tools(&["x", "y_z"]);
    let alone = build(std::slice::from_ref(&first));
    let newcomers = [server("a_b").tools(&["x"]), server("a").tools(&["b_x"])];
    // Even if it stands first in the file.
    let listings = [newcomers[0].clone(), first, newcomers[1].clone()];
    let later = Catalog::build(&listings, &Naming::default(), &alone.assignments);
    let [newcomer, kept @ .., other] = &tools(&later)[..] else {
        panic!()
    };
    assert_eq!(kept, ["a_b_x", "a_b_y_z"]);
    assert!(newcomer.starts_with("a_b_x_") && other.starts_with("a_b_x_") && newcomer != other);
    assert_eq!(later.new_rows.len(), 2);
    assert_eq!(
        warnings(&later)[0],
        format!(
            "server `a_b`, tool `x`: its name `a_b_x` belongs to another one, it is exposed as `{newcomer}`"
        )
    );
}

#[test]
fn b109_names_differ_by_case_and_nobody_gets_the_name_of_a_built_in_tool() {
    let listings =
        ["a.b", "a_b", "A_b"].map(|name| server(name).tools(&["GetUser", "getuser", "equip-toolset"]));
    let names = tools(&build(&listings));
    let unique: std::collections::HashSet<&String> = names.iter().collect();
    assert_eq!(unique.len(), 9, "{names:?}");
    for naming in [
        prefix(PrefixPolicy::Never),
        prefix(PrefixPolicy::Conflict),
        Naming::default(),
    ] {
        let built = Catalog::build(
            &[raw(server("a").tools(&["equip-toolset"]))],
            &naming,
            &Assignments::default(),
        );
        assert!(
            tools(&built)[0].starts_with("equip-toolset_"),
            "{:?}",
            tools(&built)
        );
    }
}

#[test]
fn agg_02_the_first_claimant_keeps_the_name_even_while_it_is_away() {
    let both = [
        with_prefix(server("a").tools(&["x"]), ""),
        with_prefix(server("b").tools(&["x"]), ""),
    ];
    let first = Catalog::build(&both[..1], &Naming::default(), &Assignments::default());
    let gone = Catalog::build(&both[1..], &Naming::default(), &first.assignments);
    assert!(tools(&gone)[0].starts_with("x_"), "{:?}", tools(&gone));
    let back = Catalog::build(&both, &Naming::default(), &gone.assignments);
    assert_eq!(tools(&back), ["x", &tools(&gone)[0]]);
    assert!(back.new_rows.is_empty());
}

#[test]
fn agg_02_claims_at_the_same_time_are_settled_by_the_order_of_the_configuration() {
    let listings = ["a", "b"].map(|name| with_prefix(server(name).tools(&["x"]), ""));
    let [first, second] = &names(&listings, &Naming::default())[..] else {
        panic!()
    };
    assert_eq!(first, "x");
    assert!(second.starts_with("x_") && second.len() == 8);
}

#[test]
fn a_name_made_under_other_options_is_made_anew() {
    let listings = [server("git").tools(&["status", "log"])];
    let before = build(&listings);
    let naming = Naming {
        separator: "__".into(),
        ..Naming::default()
    };
    let after = Catalog::build(&listings, &naming, &before.assignments);
    assert_eq!(tools(&after), ["git__status", "git__log"]);
    assert_eq!(after.new_rows.len(), 2);
    assert_eq!(after.assignments.len(), 2, "new rows take the place of the old");
    let back = Catalog::build(&listings, &Naming::default(), &after.assignments);
    assert_eq!(tools(&back), ["git_status", "git_log"]);
}

#[test]
fn a_name_that_an_absent_tool_had_under_other_options_is_free() {
    let row = Row {
        kind: Kind::Tools,
        server: "a".parse().unwrap(),
        origin: "gone".into(),
        exposed: "b_x".into(),
    };
    let known = Assignments::from_rows([row]);
    let built = Catalog::build(
        &[server("a"), server("b").tools(&["x"])],
        &Naming::default(),
        &known,
    );
    assert_eq!(tools(&built), ["b_x"]);
    let unlisted = Catalog::build(&[server("b").tools(&["x"])], &Naming::default(), &known);
    assert!(
        tools(&unlisted)[0].starts_with("b_x_"),
        "what cannot be derived stays reserved"
    );
}

#[test]
fn agg_04_with_conflict_every_member_of_a_conflict_gets_its_prefix() {
    let listings = [
        server("a").tools(&["search", "only-a"]),
        server("b").tools(&["search"]),
        server("c").tools(&["x", "x "]),
    ];
    let conflict = prefix(PrefixPolicy::Conflict);
    let both = Catalog::build(&listings, &conflict, &Assignments::default());
    let named = tools(&both);
    assert_eq!(named[..4], ["a_search", "only_a", "b_search", "x"]);
    assert_eq!(named[4], "x_");
    assert!(both.new_rows.is_empty() && both.assignments.is_empty());
    assert_eq!(names(&listings[..1], &conflict), ["search", "only_a"]);
}

#[test]
fn agg_04_a_conflict_among_servers_without_prefix_gets_the_hash() {
    let listings = [
        with_prefix(server("a").tools(&["x"]), ""),
        with_prefix(server("b").tools(&["x"]), ""),
    ];
    let [first, second] = &names(&listings, &prefix(PrefixPolicy::Conflict))[..] else {
        panic!()
    };
    assert_eq!(first, "x");
    assert!(second.starts_with("x_"));
}

#[test]
fn agg_04_with_never_the_later_server_overrides_and_a_warning_names_both() {
    let listings = [
        server("a").tools(&["search", "a.b-c"]),
        server("b").tools(&["search"]),
    ];
    let built = Catalog::build(&listings, &prefix(PrefixPolicy::Never), &Assignments::default());
    assert_eq!(tools(&built), ["a.b-c", "search"]);
    let view = View::everything(Arc::new(built.catalog.clone()));
    assert_eq!(origin_of(&view, "search").unwrap(), "b.search");
    assert_eq!(origin_of(&view, "a.search"), None);
    let warning =
        "server `a`, tool `search`: `search` of server `b` overrides it, because `naming.prefix` is `never`";
    assert_eq!(warnings(&built), [warning]);
}

#[test]
fn agg_04_with_never_two_tools_of_one_server_do_not_override_each_other() {
    let listings = [server("a").tools(&["a b", "a/b"])];
    let [first, second] = &names(&listings, &prefix(PrefixPolicy::Never))[..] else {
        panic!()
    };
    assert_eq!(first, "a_b");
    assert!(second.starts_with("a_b_") && second.len() == 10);
}

#[test]
fn agg_05_raw_names_stay_untouched() {
    let odd = ["a.b", "7-up", "Ärger !"];
    assert_eq!(names(&[raw(server("a").tools(&odd))], &Naming::default()), odd);
    let prefixed = with_prefix(raw(server("a").tools(&["a.b"])), "p.q");
    assert_eq!(names(&[prefixed], &Naming::default()), ["p.q_a.b"]);
    let two = ["a", "b"].map(|name| raw(server(name).tools(&["a.b"])));
    let [first, second] = &names(&two, &Naming::default())[..] else {
        panic!()
    };
    assert_eq!(first, "a.b");
    assert!(second.starts_with("a.b_"));
}

#[test]
fn agg_06_origin_forms_and_bare_names_are_found_when_they_mean_one_tool() {
    let listings = [
        server("a").tools(&["b.c", "one"]),
        server("a.b").tools(&["c", "two.three"]),
        server("x").tools(&["one"]),
    ];
    let view = view(&listings);
    assert_eq!(origin_of(&view, "a.one").unwrap(), "a.one");
    assert_eq!(origin_of(&view, "a.b.two.three").unwrap(), "a.b.two.three");
    assert_eq!(origin_of(&view, "two.three").unwrap(), "a.b.two.three");
    assert_eq!(origin_of(&view, "one"), None, "two have it");
    assert_eq!(origin_of(&view, "a.b.c"), None, "two origins read so");
    assert_eq!(
        view.tool("a_b_c").unwrap().origin.server.as_str(),
        "a",
        "the exposed name is unique"
    );
    assert_eq!(origin_of(&view, "A_one"), None, "names are case-sensitive");
}

#[test]
fn agg_07_what_is_not_visible_is_not_found_by_any_name() {
    let catalog = Arc::new(build(&[server("a").tools(&["x", "y"]), server("b").tools(&["y"])]).catalog);
    let view = View::of(catalog, |item| item.server.as_str() != "a");
    assert_eq!(
        ["a_x", "a.x", "x", "a_y"].map(|name| origin_of(&view, name)),
        [const { None }; 4]
    );
    assert_eq!(origin_of(&view, "y").unwrap(), "b.y", "only one is visible");
    assert_eq!((view.len(Kind::Tools), view.is_empty()), (1, false));
}
