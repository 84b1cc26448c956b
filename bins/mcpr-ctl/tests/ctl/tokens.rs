//! Tokens that are limited, and one token in full.

use insta::assert_snapshot;

use crate::online::{both, value};
use crate::samples::*;
use crate::stage::Stage;

const LIMITED: &str = r#"{"secret":"mcpr_pat_x7Qa0Tn","id":"tk_7h2k9qmd","kind":"pat","name":"laptop","prefix":"mcpr_pat_x7Q",
"state":"active","project":"web","toolset":"dve","scopes":["read","call"],"created":"2027-01-15T08:00:00Z"}"#;

#[test]
fn http_03_a_token_is_shown_by_its_id_or_its_name() {
    let (people, scripts) = both("tokens/list", TOKENS, &["tokens", "show", "laptop"]);

    assert_snapshot!(people);
    assert_eq!(scripts.json(), value(TOKENS)["tokens"][0]);
    let stage = Stage::gateway(&[("tokens/list", 200, TOKENS)]);
    assert_snapshot!(stage.ctl(&["token", "show", "tk_0000"]));
}

#[test]
fn ctl_04_a_mistyped_token_is_recognised() {
    let stage = Stage::gateway(&[("tokens/list", 200, TOKENS)]);

    assert_snapshot!(stage.ctl(&["tokens", "show", "laptpo"]));
}

#[test]
fn prj_02_a_token_is_limited_and_what_it_is_limited_to_may_come_later() {
    let stage = Stage::gateway(&[
        ("tokens/create", 200, LIMITED),
        ("projects/list", 200, PROJECTS),
        ("toolsets/list", 200, TOOLSETS),
    ]);

    let words = [
        "tokens",
        "create",
        "--name",
        "laptop",
        "--project",
        "web",
        "--toolset",
        "dve",
    ];
    assert_snapshot!(stage.ctl(&words));
    assert_eq!(
        stage.asked()[0],
        r#"tokens/create {"name":"laptop","project":"web","toolset":"dve","scopes":["read","call"]}"#
    );
}
