//! What goes over the wire, as the snapshots of this program have it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcpr_admin::PREFIX;

/// Where the snapshots of streams stand, by the path of the stream.
const STREAMS: [(&str, &str); 2] = [
    (
        "events",
        "contract__operations__ctl_03_what_happens_is_told_one_event_per_line",
    ),
    (
        "tools/call",
        "contract__streams__ctl_03_what_comes_of_a_call_comes_in_order",
    ),
];

/// What was sent and what was answered, by the path of the operation.
pub(super) struct Wire {
    samples: BTreeMap<String, Sample>,
}

/// What was sent and what was answered.
pub(super) struct Sample {
    pub(super) request: String,
    pub(super) status: String,
    pub(super) answer: String,
}

impl Wire {
    pub(super) fn read() -> Self {
        let files = fs::read_dir(folder()).expect("the folder of the snapshots");
        let texts = files.flatten().map(|file| content(&file.path()));
        Self {
            samples: texts.filter_map(|text| Sample::read(&text)).collect(),
        }
    }

    pub(super) fn sample(&self, path: &str) -> &Sample {
        let sample = self.samples.get(path);
        sample.unwrap_or_else(|| panic!("no snapshot has an exchange of `{path}`"))
    }

    /// What comes through a stream, line by line.
    pub(super) fn stream(&self, path: &str) -> String {
        let known = STREAMS.iter().find(|(known, _)| *known == path);
        let (_, name) = known.unwrap_or_else(|| panic!("no snapshot of the stream `{path}` is listed here"));
        let text = content(&folder().join(format!("{name}.snap")));
        if text.starts_with("event: ") {
            return text;
        }
        let events = text.lines().filter(|line| line.contains("\"at\""));
        let framed = events.map(|line| format!("event: message\ndata: {line}\n"));
        framed.collect::<Vec<_>>().join("\n")
    }
}

impl Sample {
    /// Reads `POST PATH`, what was sent, a blank line, the status and what was answered.
    fn read(text: &str) -> Option<(String, Self)> {
        let rest = text.strip_prefix(&format!("POST {PREFIX}"))?;
        let mut lines = rest.lines();
        let path = lines.next()?.to_owned();
        let request = lines.next()?.to_owned();
        let (status, answer) = (lines.nth(1)?.to_owned(), lines.next()?.to_owned());
        let sample = Self {
            request,
            status,
            answer,
        };
        Some((path, sample))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract/snapshots")
}

/// A snapshot without its head.
fn content(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a snapshot can be read");
    let content = text.splitn(3, "---\n").nth(2);
    content
        .unwrap_or_else(|| panic!("{} has no head", file.display()))
        .to_owned()
}
