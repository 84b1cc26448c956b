//! What every store promises of what is changed while a gateway runs.

use std::collections::BTreeMap;

use mcpr_auth::Timestamp;
use mcpr_store::{
    DEFAULT, Definition, OPERATOR, SavedEquip, SavedPin, SavedPins, SavedProject, SavedToolset, Store,
    StoreError, Switch,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix(1_800_000_000 + seconds)
}

fn toolset(owner: &str, name: &str, pins: &[(&str, &str)]) -> SavedToolset {
    let text = |text: &&str| (*text).to_owned();
    SavedToolset {
        owner: owner.into(),
        name: name.into(),
        description: None,
        tools: pins.iter().map(|(tool, _)| text(tool)).collect(),
        pins: pins.iter().map(|(tool, hash)| (text(tool), text(hash))).collect(),
        created: at(0),
        changed: at(0),
    }
}

fn definition(hash: &str) -> Definition {
    Definition {
        hash: hash.into(),
        body: format!(r#"{{ "name":"{hash}", "x":1E400 }}"#),
    }
}

async fn known(store: &dyn Store, hashes: &[&str]) -> Vec<String> {
    let hashes = hashes.iter().map(|hash| (*hash).to_owned()).collect();
    let found = store.definitions(hashes).await.unwrap();
    found.into_iter().map(|definition| definition.hash).collect()
}

pub(crate) async fn set_04_a_toolset_is_kept_whole_and_replaced_whole(store: &dyn Store) {
    let first = SavedToolset {
        description: Some("Jürgen's \"day\"".into()),
        tools: vec!["git.*".into(), "docs.search".into()],
        pins: BTreeMap::from([("docs.search".into(), "h1".into())]),
        changed: at(9),
        ..toolset(OPERATOR, "dev", &[])
    };
    store
        .put_toolset(first.clone(), vec![definition("h1")])
        .await
        .unwrap();
    assert_eq!(store.toolsets().await.unwrap(), [first]);

    let second = toolset(OPERATOR, "dev", &[]);
    store.put_toolset(second.clone(), Vec::new()).await.unwrap();

    assert_eq!(store.toolsets().await.unwrap(), [second]);
}

pub(crate) async fn set_04_a_name_belongs_to_its_owner(store: &dyn Store) {
    for (owner, name) in [("tk_b", "dev"), (OPERATOR, "web"), (OPERATOR, "dev")] {
        let toolset = toolset(owner, name, &[]);
        store.put_toolset(toolset, Vec::new()).await.unwrap();
    }
    let names = |toolsets: Vec<SavedToolset>| -> Vec<_> {
        let named = toolsets
            .into_iter()
            .map(|toolset| format!("{} {}", toolset.owner, toolset.name));
        named.collect()
    };
    assert_eq!(
        names(store.toolsets().await.unwrap()),
        ["operator dev", "operator web", "tk_b dev"]
    );

    assert!(store.delete_toolset("tk_b", "dev").await.unwrap());
    assert!(!store.delete_toolset("tk_b", "dev").await.unwrap());

    assert_eq!(
        names(store.toolsets().await.unwrap()),
        ["operator dev", "operator web"]
    );
}

pub(crate) async fn set_10_a_definition_is_kept_once_byte_for_byte_and_as_long_as_it_is_pinned(
    store: &dyn Store,
) {
    let [one, two] = [definition("h1"), definition("h2")];
    let dev = toolset(OPERATOR, "dev", &[("git.status", "h1"), ("git.log", "h2")]);
    let web = toolset(OPERATOR, "web", &[("git.status", "h1")]);
    store.put_toolset(dev, vec![one.clone(), two]).await.unwrap();
    store.put_toolset(web, vec![one.clone()]).await.unwrap();
    assert_eq!(known(store, &["h2", "h1", "h1", "absent"]).await, ["h1", "h2"]);

    let less = toolset(OPERATOR, "dev", &[("git.status", "h1")]);
    store.put_toolset(less, vec![one.clone()]).await.unwrap();
    assert_eq!(
        store.definitions(vec!["h1".into(), "h2".into()]).await.unwrap(),
        [one]
    );

    store.delete_toolset(OPERATOR, "dev").await.unwrap();
    assert_eq!(known(store, &["h1"]).await, ["h1"], "`web` still pins it");
    store.delete_toolset(OPERATOR, "web").await.unwrap();
    assert!(known(store, &["h1"]).await.is_empty());
}

pub(crate) async fn set_05_each_principal_has_one_toolset_equipped(store: &dyn Store) {
    let equip = |principal: &str, name: &str, seconds| SavedEquip {
        principal: principal.into(),
        owner: OPERATOR.into(),
        toolset: name.into(),
        at: at(seconds),
    };
    for (principal, name, seconds) in [("tk_a", "dev", 1), (DEFAULT, "web", 2), ("tk_a", "ops", 3)] {
        store.put_equip(equip(principal, name, seconds)).await.unwrap();
    }
    assert_eq!(
        store.equips().await.unwrap(),
        [equip(DEFAULT, "web", 2), equip("tk_a", "ops", 3)]
    );

    assert!(store.delete_equip("tk_a").await.unwrap());
    assert!(!store.delete_equip("tk_a").await.unwrap());

    assert_eq!(store.equips().await.unwrap(), [equip(DEFAULT, "web", 2)]);
}

pub(crate) async fn agg_13_a_switch_is_kept_until_it_says_nothing(store: &dyn Store) {
    let switch = |server: &str, tool: Option<&str>| Switch {
        server: server.into(),
        tool: tool.map(str::to_owned),
        ..Switch::default()
    };
    let off = Switch {
        enabled: Some(false),
        ..switch("git", None)
    };
    let renamed = Switch {
        enabled: Some(true),
        name: Some("state".into()),
        description: Some(String::new()),
        ..switch("git", Some("status"))
    };
    let other = Switch {
        enabled: Some(true),
        ..switch("docs", Some("a"))
    };
    for changed in [&renamed, &off, &other] {
        store.put_switch(changed.clone()).await.unwrap();
    }
    assert_eq!(
        store.switches().await.unwrap(),
        [other.clone(), off.clone(), renamed]
    );

    store.put_switch(switch("git", Some("status"))).await.unwrap();
    store.put_switch(switch("git", Some("never"))).await.unwrap();

    assert_eq!(store.switches().await.unwrap(), [other, off]);
}

pub(crate) async fn prj_01_a_project_is_kept_whole_until_it_is_replaced_or_deleted(store: &dyn Store) {
    let project = |name: &str| SavedProject {
        name: name.into(),
        description: None,
        servers: Vec::new(),
        tags: Vec::new(),
        toolset: None,
        created: at(0),
    };
    let full = SavedProject {
        description: Some("The shop".into()),
        servers: vec!["git".into(), "my server".into()],
        tags: vec!["eu".into()],
        toolset: Some("dev".into()),
        created: at(5),
        ..project("web")
    };
    for kept in [project("web"), project("api"), full.clone()] {
        store.put_project(kept).await.unwrap();
    }
    assert_eq!(store.projects().await.unwrap(), [project("api"), full.clone()]);

    assert!(store.delete_project("api").await.unwrap());
    assert!(!store.delete_project("api").await.unwrap());

    assert_eq!(store.projects().await.unwrap(), [full]);
}

pub(crate) async fn a_closed_store_changes_no_state_any_more(store: &dyn Store) {
    store.close().await;

    assert!(matches!(store.toolsets().await, Err(StoreError::Closed)));
    assert!(matches!(store.delete_project("a").await, Err(StoreError::Closed)));
    let nothing = store.put_switch(Switch::default()).await;
    assert!(matches!(nothing, Err(StoreError::Closed)));
}

fn pin(tool: &str, seconds: i64) -> SavedPin {
    SavedPin {
        tool: tool.into(),
        definition: format!(r#"{{ "name":"{tool}", "x":1E400 }}"#),
        at: at(seconds),
    }
}

fn first(server: &str, tools: &[&str]) -> SavedPins {
    SavedPins {
        server: server.into(),
        tools: tools.iter().map(|tool| pin(tool, 0)).collect(),
    }
}

pub(crate) async fn pins_what_a_server_showed_first_is_kept_and_not_replaced(store: &dyn Store) {
    let (git, empty) = (first("git", &["pull", "push"]), first("empty", &[]));

    assert!(store.put_first_pins(git.clone(), at(1)).await.unwrap());
    assert!(store.put_first_pins(empty.clone(), at(1)).await.unwrap());
    assert!(
        !store
            .put_first_pins(first("git", &["evil"]), at(2))
            .await
            .unwrap()
    );
    assert!(
        !store
            .put_first_pins(first("empty", &["evil"]), at(2))
            .await
            .unwrap()
    );

    assert_eq!(store.pins().await.unwrap(), [empty, git]);
}

pub(crate) async fn pins_approved_definitions_replace_older_ones_and_outlive_the_others(store: &dyn Store) {
    let git = first("git", &["clone", "pull", "push"]);
    store.put_first_pins(git, at(0)).await.unwrap();

    let approved = vec![pin("add", 9), pin("push", 9)];
    store
        .approve_pins("git", approved, vec!["pull".into(), "none".into()])
        .await
        .unwrap();

    let kept = store.pins().await.unwrap().remove(0);
    assert_eq!(kept.tools, [pin("add", 9), pin("clone", 0), pin("push", 9)]);
}
