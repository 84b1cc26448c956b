//! Every exit code that is documented is reached; 8, an address in use, by `mcpr-gateway`.

use std::os::unix::net::UnixListener;

use mcpr_admin::ExitCode;

use crate::open::{Open, first_line, interrupt};
use crate::samples::*;
use crate::stage::{Ran, Stage};

const EVENT: &str = "data: {\"kind\":\"catalog\",\"at\":\"2027-01-15T08:00:03.000Z\"}\n\n";

const DENIED: &str = r#"{"error":{"code":"permission","message":"the token has not the scope admin"}}"#;

/// A command that ends with this code.
fn reach(code: ExitCode) -> Option<i32> {
    let asked = |answer: (&'static str, u16, &'static str), words: &[&str]| {
        let ran = Stage::gateway(&[answer]).ctl(words);
        Some(explained(&ran))
    };
    match code {
        ExitCode::Ok => asked(("status", 200, ALL_WELL), &["status", "--exit-code"]),
        ExitCode::Failed => asked(("tools/call", 503, DOWN), &["tools", "call", "docs_search"]),
        ExitCode::Usage => Some(explained(&Stage::new().ctl(&["statsu"]))),
        ExitCode::NotFound => asked(("tools/call", 404, NO_TOOL), &["tools", "call", "git_statsu"]),
        ExitCode::Permission => asked(("reload", 403, DENIED), &["reload"]),
        ExitCode::NotRunning => Some(explained(&Stage::new().ctl(&["status"]))),
        ExitCode::Partly => asked(("status", 200, STATUS), &["status", "--exit-code"]),
        ExitCode::ConfigInvalid => Some(broken()),
        ExitCode::AddressInUse => None,
        ExitCode::TimedOut => Some(late()),
        ExitCode::Interrupted => Some(interrupted()),
    }
}

/// The code; one that is no success comes with a reason, unless the report itself is that.
fn explained(ran: &Ran) -> i32 {
    let reason = ran.stderr.starts_with("error: ") || !ran.stdout.is_empty();
    assert!(reason, "{ran}");
    ran.code
}

fn broken() -> i32 {
    let stage = Stage::new();
    std::fs::write(stage.path("mcpr.json"), "{").unwrap();
    explained(&stage.ctl(&["config", "check"]))
}

fn late() -> i32 {
    let stage = Stage::new();
    let listener = UnixListener::bind(stage.path("ctl.sock")).unwrap();
    let ran = stage.ctl(&["status", "--timeout", "100ms"]);
    drop(listener);
    explained(&ran)
}

fn interrupted() -> i32 {
    let open = Open::saying(EVENT);
    let mut child = open.stage.start(&["events"]);
    first_line(child.stdout.as_mut().unwrap());
    interrupt(&child);
    let code = child.wait().unwrap().code();
    open.left();
    code.unwrap()
}

#[test]
fn ctl_01_every_exit_code_is_reached() {
    for code in ExitCode::ALL {
        let reached = reach(*code).unwrap_or(i32::from(code.number()));
        assert_eq!(reached, i32::from(code.number()), "{}", code.meaning());
    }
}
