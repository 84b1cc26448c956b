//! What holds for names whatever the servers list.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcpr_registry::{
    Assignments, Built, Catalog, Hyphens, Kind, Listing, Naming, PrefixPolicy, ToolOverride, View,
};
use proptest::prelude::*;

use crate::common::{Lists, server};

/// Few letters, so that names collide often.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab._-]{1,4}",
        "[ab]{1,2}[._ é-][ab1]{1,3}",
        "[0-9][a-b.]{0,3}",
        "a{40,60}[bc.]{0,3}",
        "\\PC{1,8}",
        Just("equip-toolset".to_owned()),
    ]
}

fn listing() -> impl Strategy<Value = Listing> {
    let server_name = "[ab]([._-][ab])?|[0-9]|a{45}";
    let prefix =
        prop_oneof![3 => Just(None), 1 => Just(Some(String::new())), 1 => "[ab._]{1,3}".prop_map(Some)];
    let tools = prop::collection::hash_map(name(), prop::option::weighted(0.2, name()), 0..8);
    (server_name, prefix, tools).prop_map(|(server_name, prefix, tools)| {
        let names: Vec<&str> = tools.keys().map(String::as_str).collect();
        let mut listing = server(&server_name).tools(&names);
        listing.naming.prefix = prefix;
        let overrides = tools.into_iter().filter(|(_, name)| name.is_some());
        let overrides = overrides.map(|(tool, name)| {
            (
                tool,
                ToolOverride {
                    name,
                    description: None,
                },
            )
        });
        listing.overrides = Arc::new(overrides.collect());
        listing
    })
}

fn listings() -> impl Strategy<Value = Vec<Listing>> {
    prop::collection::vec(listing(), 0..6).prop_map(|mut listings| {
        let mut seen = HashSet::new();
        listings.retain(|listing| seen.insert(listing.server.clone()));
        listings
    })
}

fn naming() -> impl Strategy<Value = Naming> {
    let separator = prop_oneof![Just("_"), Just("__"), Just("-"), Just(""), Just(".")];
    let policy = prop_oneof![Just(PrefixPolicy::Always), Just(PrefixPolicy::Conflict)];
    (separator, policy, 8..64_usize, any::<bool>()).prop_map(|(separator, prefix, max_length, keep)| Naming {
        prefix,
        separator: separator.into(),
        max_length,
        hyphens: if keep { Hyphens::Keep } else { Hyphens::Underscore },
        ..Naming::default()
    })
}

/// Exposed names by origin.
fn names(built: &Built) -> HashMap<String, String> {
    let view = View::everything(Arc::new(built.catalog.clone()));
    view.items(Kind::Tools)
        .map(|item| (format!("{:?}", item.origin), item.exposed.to_string()))
        .collect()
}

fn is_legal(name: &str, limit: usize) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '-');
    let rest = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    first && rest && name.len() <= limit
}

fn count(listings: &[Listing]) -> usize {
    listings.iter().map(|listing| listing.offers.tools.len()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn agg_02_names_are_unique_legal_and_lead_back(listings in listings(), naming in naming()) {
        let built = Catalog::build(&listings, &naming, &Assignments::default());
        let view = View::everything(Arc::new(built.catalog.clone()));
        let unique: HashSet<&str> = view.tools().map(|tool| &*tool.exposed).collect();
        prop_assert_eq!(unique.len(), count(&listings));
        for tool in view.tools() {
            prop_assert!(is_legal(&tool.exposed, naming.max_length), "{}", tool.exposed);
            let found = view.tool(&tool.exposed).unwrap();
            prop_assert_eq!(&found.origin, &tool.origin);
        }
    }

    #[test]
    fn agg_02_names_are_deterministic(listings in listings(), naming in naming()) {
        let once = Catalog::build(&listings, &naming, &Assignments::default());
        let twice = Catalog::build(&listings, &naming, &Assignments::default());
        prop_assert_eq!(names(&once), names(&twice));
        prop_assert_eq!(once.new_rows, twice.new_rows);
    }

    #[test]
    fn agg_02_names_survive_a_restart(listings in listings(), naming in naming()) {
        let before = Catalog::build(&listings, &naming, &Assignments::default());
        let stored = Assignments::from_rows(before.new_rows.clone());
        let after = Catalog::build(&listings, &naming, &stored);
        prop_assert_eq!(names(&before), names(&after));
        prop_assert!(after.new_rows.is_empty());
    }

    #[test]
    fn agg_02_names_stay_when_servers_join_and_leave(
        listings in listings(),
        visits in prop::collection::vec(prop::collection::vec(any::<bool>(), 6), 1..5),
    ) {
        let mut known = Assignments::default();
        let mut given = HashMap::new();
        for visit in visits {
            let there: Vec<Listing> =
                listings.iter().zip(visit).filter(|(_, there)| *there).map(|(listing, _)| listing.clone()).collect();
            let built = Catalog::build(&there, &Naming::default(), &known);
            for (origin, exposed) in names(&built) {
                prop_assert_eq!(given.entry(origin).or_insert_with(|| exposed.clone()), &exposed);
            }
            known = built.assignments;
        }
        prop_assert_eq!(given.values().collect::<HashSet<_>>().len(), given.len());
    }

    #[test]
    fn names_made_under_other_options_never_break_the_rules(
        listings in listings(), before in naming(), after in naming(),
    ) {
        let known = Catalog::build(&listings, &before, &Assignments::default()).assignments;
        let built = Catalog::build(&listings, &after, &known);
        let names = names(&built);
        prop_assert_eq!(names.values().collect::<HashSet<_>>().len(), count(&listings));
        prop_assert!(names.values().all(|name| is_legal(name, after.max_length)));
    }

    #[test]
    fn agg_04_with_never_each_name_is_there_once(listings in listings()) {
        let naming = Naming { prefix: PrefixPolicy::Never, ..Naming::default() };
        let built = Catalog::build(&listings, &naming, &Assignments::default());
        let names = names(&built);
        let unique: HashSet<&String> = names.values().collect();
        prop_assert_eq!(unique.len(), names.len());
        let overridden = built.warnings.iter().filter(|warning| warning.to_string().contains("overrides")).count();
        prop_assert_eq!(names.len() + overridden, count(&listings));
    }
}
