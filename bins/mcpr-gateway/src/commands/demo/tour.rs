//! What a newcomer can try in a minute.

use std::path::Path;

use mcpr_protocol::Method;

use crate::snippets::Snippets;

/// Where the demo is and how to get in.
#[derive(Debug)]
pub(super) struct Tour<'a> {
    pub(super) url: &'a str,
    pub(super) token: &'a str,
    pub(super) home: &'a Path,
    /// Whether that outlives the demo.
    pub(super) stays: bool,
    /// How `mcpr-ctl` is called here.
    pub(super) ctl: &'a str,
}

/// How `mcpr-ctl` is called: cargo, which has built this program only, builds the other one first.
pub(super) fn ctl() -> &'static str {
    match (std::env::var_os("CARGO").is_some(), cfg!(debug_assertions)) {
        (false, _) => "mcpr-ctl",
        (true, true) => "cargo run -q --bin mcpr-ctl --",
        (true, false) => "cargo run -q --release --bin mcpr-ctl --",
    }
}

impl Tour<'_> {
    /// The whole tour.
    pub(super) fn text(&self) -> String {
        let snippets = Snippets {
            url: self.url,
            token: self.token,
        };
        let (tool, uri) = ("calc_add", "resource://notes/note://welcome");
        let add = format!(r#""name":"{tool}","arguments":{{"a":2,"b":40}},"#);
        let list = snippets.curl(&Method::ToolsList, None, "");
        let call = snippets.curl(&Method::ToolsCall, Some(tool), &add);
        let read = snippets.curl(&Method::ResourcesRead, Some(uri), &format!(r#""uri":"{uri}","#));
        let claude = snippets.claude_code();
        let ctl = format!("MCPR_HOME={} {}", self.home.display(), self.ctl);
        let rest = match self.stays {
            false => "nothing of it stays behind.".to_owned(),
            true => format!(
                "what it kept stays in {}, its token until tomorrow\n(`mcpr-ctl tokens revoke demo` ends it at once).",
                self.home.display()
            ),
        };
        format!(
            "
Try it from another terminal.

One list with the tools of all three servers:
  {list}

A call, which goes to the server `calc`:
  {call}

A resource, which comes from the server `notes`:
  {read}

Claude Code:
  {claude}

The operator's view:
  {ctl} status
  {ctl} tools ls
  {ctl} tools call calc_count --arg to=8

Of all tools those that are needed, for every client, and all again:
  {ctl} toolsets create sums --tools calc.add,calc.multiply
  {ctl} toolsets equip sums
  {ctl} toolsets unequip

Ctrl-C ends the demo; {rest}
"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tour_has_a_list_a_call_a_resource_and_the_operator_s_view() {
        let tour = Tour {
            url: "http://127.0.0.1:3282/mcp",
            token: "mcpr_pat_x",
            home: Path::new("/tmp/mcpr-demo-7-1"),
            stays: false,
            ctl: "mcpr-ctl",
        };
        insta::assert_snapshot!(tour.text());
        let staying = Tour { stays: true, ..tour }.text();
        assert!(staying.contains("stays in /tmp/mcpr-demo-7-1"), "{staying}");
    }
}
