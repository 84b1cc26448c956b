//! The log of the gateway.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use insta::assert_snapshot;

use crate::open::interrupt;
use crate::samples::{SERVERS, STATUS};
use crate::stage::Stage;
use crate::terminal::shown_until;

const RUN: &str = "logs/mcpr_2027-01-15T08-00-00.log";
const NEXT: &str = "logs/mcpr_2027-01-15T09-00-00.log";

const PRETTY: &str = "\
2027-01-15T08:00:00.000Z  INFO mcpr_gateway: listening address=127.0.0.1:3282
2027-01-15T08:00:01.000Z DEBUG mcpr_transport::child::stderr: stderr server=git text=\"Serving \\\"web\\\"\"
2027-01-15T08:00:02.000Z  WARN mcpr_upstream::keeper: server lost server=docs reason=\"connection refused\" attempt=1
2027-01-15T08:00:03.000Z  INFO call: requestId=7 correlationId=0b7e serverName=git toolName=status method=tools/call duration=41.250 status=ok
2027-01-15T08:00:04.000Z  INFO call: requestId=8 correlationId=77aa method=tools/list duration=0.120 status=ok
";

const JSON: &str = r#"{"timestamp":"2027-01-15T09:00:00.000Z","level":"info","target":"mcpr_gateway","message":"listening","address":"127.0.0.1:3282"}
{"timestamp":"2027-01-15T09:00:01.000Z","level":"warn","target":"mcpr_upstream::keeper","message":"server\u001b[31m lost\nforged","server":"docs","attempt":1}
{"timestamp":"2027-01-15T09:00:02.000Z","level":"info","requestId":7,"correlationId":"0b7e","serverName":null,"toolName":null,"method":"tools/list","duration":0.120,"status":"ok"}
"#;

/// A home with these logs.
fn home(logs: &[(&str, &str)]) -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.path("logs")).unwrap();
    logs.iter()
        .for_each(|(name, text)| fs::write(stage.path(name), text).unwrap());
    stage
}

/// The status of a gateway that logs to this file.
fn status(log: &Path) -> &'static str {
    STATUS
        .replace(
            "/var/log/mcpr/mcpr_2027-01-15T08-00-00.log",
            log.to_str().unwrap(),
        )
        .leak()
}

fn append(path: &Path, text: &str) {
    let mut file = File::options().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn ctl_02_without_a_gateway_the_newest_log_is_shown() {
    let stage = home(&[(RUN, PRETTY), (NEXT, JSON), ("logs/notes.log", "not ours\n")]);

    assert_snapshot!(stage.ctl(&["logs"]));
    assert_eq!(stage.ctl(&["logs", "--json"]).out(), JSON);
}

#[test]
fn ctl_01_the_log_of_the_running_gateway_is_shown_whatever_is_newer() {
    let mut stage = home(&[(RUN, PRETTY), (NEXT, JSON)]);
    stage.run_gateway(&[("status", 200, status(&stage.path(RUN)))]);

    let people = stage.ctl(&["logs"]);

    assert_eq!((people.out(), people.stderr.as_str()), (PRETTY, ""));
    assert_snapshot!(stage.ctl(&["logs", "--json"]));
}

#[test]
fn ctl_01_lines_are_chosen() {
    let stage = home(&[(RUN, PRETTY)]);
    let first = |words: &[&str]| {
        let ran = stage.ctl(&[&["logs", "-q"], words].concat());
        let lines = ran.out().lines().map(|line| line[17..19].to_owned());
        (lines.collect::<Vec<_>>().join(" "), ran.stderr)
    };

    for (words, seconds) in [
        (&["--level", "warn"][..], "02"),
        (&["--level", "INFO"], "00 02 03 04"),
        (&["--server", "git"], "01 03"),
        (&["--request", "8"], "04"),
        (&["--request", "0b7e"], "03"),
        (&["--since", "2027-01-15T08:00:03Z"], "03 04"),
        (&["--lines", "2"], "03 04"),
        (&["-n", "1", "--server", "git"], "03"),
        (&["--level", "fatal"], ""),
    ] {
        assert_eq!(first(words), (seconds.to_owned(), String::new()), "{words:?}");
    }
}

#[test]
fn ctl_01_what_a_server_wrote_to_standard_error_is_shown_alone() {
    let mut stage = home(&[(RUN, PRETTY)]);
    stage.run_gateway(&[
        ("status", 200, status(&stage.path(RUN))),
        ("servers/list", 200, SERVERS),
    ]);

    assert_snapshot!(stage.ctl(&["servers", "logs", "git"]));
    assert_snapshot!(stage.ctl(&["servers", "logs", "docs"]));
    assert_snapshot!(stage.ctl(&["servers", "logs", "dcos"]));
    assert_eq!(stage.ctl(&["logs", "--server", "gti"]).code, 3);
}

#[test]
fn ctl_01_a_log_is_followed_into_rotated_files_and_later_runs() {
    let mut stage = home(&[(RUN, PRETTY)]);
    let (run, next) = (stage.path(RUN), stage.path(NEXT));
    stage.run_gateway(&[("status", 200, status(&run))]);
    let mut child = stage.start(&["logs", "-f", "-n", "1"]);
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let mut line = || shown_until(&mut stdout, "\n");
    let at = |second: &str| format!("2027-01-15T08:00:{second}.000Z  INFO mcpr_core: x\n");

    assert!(line().contains("requestId=8"));
    append(&run, &at("10"));
    assert_eq!(line(), at("10"));

    fs::rename(&run, stage.path("logs/rotated")).unwrap();
    append(&stage.path("logs/rotated"), &at("11"));
    append(&run, &at("12"));
    assert_eq!([line(), line()], [at("11"), at("12")]);
    assert!(shown_until(&mut stderr, "\n").starts_with("the log goes on in "));

    stage.end_gateway();
    append(&next, &at("13"));
    stage.run_gateway(&[("status", 200, status(&next))]);
    assert_eq!(line(), at("13"));

    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn ctl_04_a_log_that_is_not_there_is_told_with_what_to_do() {
    let unlogged = STATUS
        .replace(r#""logFile":"/var/log/mcpr/mcpr_2027-01-15T08-00-00.log","#, "")
        .leak();
    let unlogged = Stage::gateway(&[("status", 200, unlogged)]);
    let gone = Stage::gateway(&[("status", 200, STATUS)]);

    assert_snapshot!(Stage::new().ctl(&["logs"]));
    assert_snapshot!(unlogged.ctl(&["logs"]));
    assert_snapshot!(gone.ctl(&["logs"]));
    assert_snapshot!(Stage::new().ctl(&["logs", "--gateway", "http://box:3282"]));
    assert_eq!(Stage::new().ctl(&["logs", "--socket", "absent"]).code, 5);
}

#[test]
fn ctl_02_the_file_that_the_configuration_names_is_that_of_the_last_run() {
    let stage = home(&[(RUN, JSON)]);
    let own = stage.path("own.log");
    fs::write(&own, PRETTY).unwrap();
    let config = serde_json::json!({ "mcpServers": {}, "mcpr": { "log": { "file": own } } });
    fs::write(stage.path("mcpr.json"), config.to_string()).unwrap();

    assert_eq!(stage.ctl(&["logs"]).out(), PRETTY);
}

#[test]
fn ctl_01_who_has_read_enough_ends_the_log() {
    let stage = home(&[(RUN, &PRETTY.repeat(1000))]);

    assert_eq!(
        stage.unread(&["logs", "-q", "-f", "-n", "5000"]),
        (0, String::new())
    );
}
