//! The names under which tools are offered.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpr_config::Config;
use mcpr_config::clients::shell_word;
use mcpr_protocol::RawJson;
use mcpr_registry::{
    Assignments, Catalog, Kind, Listing, Naming, Oddity, Offers, PrefixPolicy, Row, ServerName, Warning,
};

use super::report::Check;
use super::scene::{Running, Scene, Stored};

const CHECK: &str = "names";

pub(super) fn checks(scene: &Scene) -> Vec<Check> {
    let Ok(config) = &scene.config else {
        return Vec::new();
    };
    let (offers, given) = match &scene.gateway {
        Ok(running) => running_offers(running),
        Err(_) => stored_offers(&scene.stored),
    };
    let odd = odd(&listings(config, &offers), &config.gateway.naming, &given);
    let clashes = clashes(config);
    let found: Vec<_> = clashes.into_iter().chain(odd).collect();
    match (found.is_empty(), offers.is_empty()) {
        (false, _) => found,
        (true, true) if config.servers.is_empty() => Vec::new(),
        (true, true) => {
            vec![Check::unchecked(
                CHECK,
                "no server has been listed yet, so the names of its tools are not known",
            )]
        }
        (true, false) => vec![Check::ok(
            CHECK,
            "all tools have the names that their servers give them",
        )],
    }
}

type AllOffers = BTreeMap<ServerName, Arc<Offers>>;

/// What the gateway lists, as far as names go, and the names that it has given.
fn running_offers(running: &Running) -> (AllOffers, Assignments) {
    let mut offers: BTreeMap<ServerName, Offers> = BTreeMap::new();
    let mut given = Assignments::default();
    for tool in running.tools.iter().flatten() {
        let Ok(server) = tool.server.parse::<ServerName>() else {
            continue;
        };
        offers
            .entry(server.clone())
            .or_default()
            .tools
            .push(named(&tool.origin));
        given.put(Row {
            kind: Kind::Tools,
            server,
            origin: tool.origin.clone(),
            exposed: tool.name.clone(),
        });
    }
    let shared = offers
        .into_iter()
        .map(|(server, offers)| (server, Arc::new(offers)));
    (shared.collect(), given)
}

/// What earlier runs have seen.
fn stored_offers(stored: &Stored) -> (AllOffers, Assignments) {
    let listings = stored.listings.iter().filter_map(|saved| {
        let offers = Offers::from_blob(saved.body.clone().into()).ok()?;
        Some((saved.server.parse().ok()?, Arc::new(offers)))
    });
    let rows = stored.assignments.iter().filter_map(|row| {
        Some(Row {
            kind: row.kind.parse().ok()?,
            server: row.server.parse().ok()?,
            origin: row.origin.clone(),
            exposed: row.exposed.clone(),
        })
    });
    (listings.collect(), Assignments::from_rows(rows))
}

fn named(origin: &str) -> RawJson {
    let name = RawJson::string(origin);
    let text = format!(
        r#"{{"name":{},"inputSchema":{{"type":"object"}}}}"#,
        name.as_str()
    );
    RawJson::parse(text.into()).expect("it was put together as JSON")
}

fn listings(config: &Config, offers: &AllOffers) -> Vec<Listing> {
    let listing = |entry: &mcpr_config::ServerEntry| Listing {
        server: entry.name.clone(),
        naming: entry.naming.clone(),
        stateless_http: false,
        overrides: Arc::new(entry.tools.overrides.clone()),
        offers: offers.get(&entry.name).cloned().unwrap_or_default(),
    };
    config.servers.iter().map(listing).collect()
}

/// Tools whose names are not their own, one check for each server.
fn odd(listings: &[Listing], naming: &Naming, given: &Assignments) -> Vec<Check> {
    let mut by_server: BTreeMap<ServerName, Vec<String>> = BTreeMap::new();
    for warning in Catalog::build(listings, naming, given).warnings {
        if let Some(what) = renamed(&warning) {
            by_server.entry(warning.server).or_default().push(what);
        }
    }
    by_server.iter().map(|(server, what)| one(server, what)).collect()
}

fn renamed(warning: &Warning) -> Option<String> {
    let item = &warning.item;
    match &warning.what {
        Oddity::Shortened { exposed } => Some(format!(
            "`{item}` is too long for clients and offered as `{exposed}`"
        )),
        Oddity::Renamed { wanted, exposed } => Some(format!(
            "`{item}` would be `{wanted}`, which is taken, and is offered as `{exposed}`"
        )),
        Oddity::Overridden { by } => Some(format!("`{item}` is hidden by that of `{}`", by.server)),
        _ => None,
    }
}

fn one(server: &ServerName, what: &[String]) -> Check {
    let more = match what.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let first = what.first().map(String::as_str).unwrap_or_default();
    Check::warning(CHECK, format!("{first}{more}"))
        .of(server.as_str())
        .fix(prefix_of_its_own(server))
}

/// Servers whose names flatten to the same prefix: which of two like-named tools keeps its name is then chance.
fn clashes(config: &Config) -> Vec<Check> {
    if config.gateway.naming.prefix != PrefixPolicy::Always {
        return Vec::new();
    }
    let probe = Arc::new(Offers {
        tools: vec![named("x")],
        ..Offers::default()
    });
    let names = config.servers.iter().map(|entry| entry.name.clone());
    let offers = names.map(|name| (name, probe.clone())).collect();
    let built = Catalog::build(
        &listings(config, &offers),
        &config.gateway.naming,
        &Assignments::default(),
    );
    let clash = |warning: &Warning| match &warning.what {
        Oddity::Renamed { wanted, .. } => Some(clash(&warning.server, wanted.trim_end_matches('x'))),
        _ => None,
    };
    built.warnings.iter().filter_map(clash).collect()
}

fn clash(server: &ServerName, prefix: &str) -> Check {
    let what = match prefix {
        "" => "its tools have no prefix, like those of another server".to_owned(),
        _ => format!("the names of its tools begin with `{prefix}`, like those of another server"),
    };
    Check::warning(CHECK, what)
        .of(server.as_str())
        .fix(prefix_of_its_own(server))
}

fn prefix_of_its_own(server: &ServerName) -> String {
    format!(
        "mcpr-ctl servers set {} mcpr.prefix=SHORT",
        shell_word(server.as_str())
    )
}
