//! The gateway's own `instructions`, merged from those of the servers (AGG-15).

use crate::{Listing, Naming, PrefixPolicy};

/// The longest text, in bytes.
const LIMIT: usize = 2000;
/// A line shorter than this says nothing; some servers are then only counted.
const SHORTEST_LINE: usize = 32;
const ELLIPSIS: &str = "…";

/// One text of at most 2,000 bytes: a line that says what this is and how tools are named, then a
/// line for each server with how many tools it has and what it says of itself. Where that is too
/// much, the longest lines are cut first, after a sentence if one ends in the second half.
pub fn instructions(listings: &[Listing], naming: &Naming) -> String {
    let heading = heading(naming);
    let lines: Vec<String> = listings.iter().map(line).collect();
    let (shown, more) = fitting(&lines, LIMIT - heading.len());
    let longest = longest_line(shown, LIMIT - heading.len() - more.len());
    let cut = shown.iter().map(|line| format!("\n{}", cut(line, longest)));
    format!("{heading}{}{more}", cut.collect::<String>())
}

fn heading(naming: &Naming) -> String {
    let separator: String = naming.separator.chars().take(8).collect();
    let names = match naming.prefix {
        PrefixPolicy::Always => format!("tool `status` of server `git` is named `git{separator}status`."),
        PrefixPolicy::Conflict => {
            format!(
                "tools keep their names; where two are alike, `status` of `git` is named `git{separator}status`."
            )
        }
        PrefixPolicy::Never => "tools keep the names that their servers gave them.".to_owned(),
    };
    format!("mcpr joins the tools, prompts and resources of several MCP servers; {names}")
}

fn line(listing: &Listing) -> String {
    let offers = &listing.offers;
    let tools = match offers.tools.len() {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    };
    let said = offers
        .instructions
        .as_deref()
        .map(on_one_line)
        .filter(|text| !text.is_empty());
    let said = said.or_else(|| offers.title().map(|title| on_one_line(&title)));
    let said = said.map_or_else(String::new, |text| format!(": {text}"));
    format!("- {} ({tools}){said}", listing.server)
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As many lines as can say something, and a last line that counts the others.
fn fitting(lines: &[String], room: usize) -> (&[String], String) {
    let most = room / (SHORTEST_LINE + 1);
    let total: usize = lines.iter().map(|line| line.len() + 1).sum();
    if lines.len() <= most || total <= room {
        return (lines, String::new());
    }
    let shown = &lines[..most - 1];
    (
        shown,
        format!("\n- and {} more servers", lines.len() - shown.len()),
    )
}

/// The length to which lines are cut so that all fit with their line ends.
fn longest_line(lines: &[String], room: usize) -> usize {
    let mut lengths: Vec<usize> = lines.iter().map(String::len).collect();
    lengths.sort_unstable();
    let mut room = room.saturating_sub(lengths.len());
    for (index, length) in lengths.iter().enumerate() {
        let share = room / (lengths.len() - index);
        if *length > share {
            return share;
        }
        room -= length;
    }
    usize::MAX
}

fn cut(line: &str, longest: usize) -> String {
    if line.len() <= longest {
        return line.to_owned();
    }
    let mut end = longest.saturating_sub(ELLIPSIS.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let kept = &line[..end];
    match kept.rfind(". ").filter(|end| *end > kept.len() / 2) {
        Some(end) => kept[..=end].to_owned(),
        None => format!("{}{ELLIPSIS}", kept.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::sync::Arc;

    use mcpr_protocol::RawJson;

    use super::*;
    use crate::{Offers, ServerNaming};

    fn listing(server: &str, instructions: Option<&str>, tools: usize) -> Listing {
        let offers = Offers {
            instructions: instructions.map(Into::into),
            tools: vec![RawJson::from_static("{}"); tools],
            server_info: Some(RawJson::from_static(r#"{"name":"x","title":"A title"}"#)),
            ..Offers::default()
        };
        Listing {
            server: server.parse().unwrap(),
            naming: ServerNaming::default(),
            overrides: Default::default(),
            stateless_http: false,
            offers: Arc::new(offers),
        }
    }

    #[test]
    fn agg_15_each_server_has_one_line() {
        let listings = [
            listing("git", Some("Works on a repository.\n\n  Commit often.\t"), 12),
            listing("time", None, 1),
            listing("empty", Some(" \n"), 0),
        ];
        insta::assert_snapshot!(instructions(&listings, &Naming::default()));
    }

    #[test]
    fn the_longest_lines_are_cut_first_and_after_a_sentence() {
        let long = format!("{}. And more. {}", "a".repeat(800), "é".repeat(3000));
        let text = instructions(
            &[listing("a", Some(&long), 1), listing("b", Some("Short."), 1)],
            &Naming::default(),
        );
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with('…'), "{}", lines[1]);
        assert_eq!(lines[2], "- b (1 tool): Short.");
        assert!((1990..=2000).contains(&text.len()), "{}", text.len());
        let cut = cut("One sentence. Another that is long", 26);
        assert_eq!(cut, "One sentence.");
    }

    #[test]
    fn more_servers_than_lines_are_counted() {
        let servers: Vec<Listing> = (0..500)
            .map(|n| listing(&format!("server-{n}"), Some("Says a lot."), 3))
            .collect();
        let text = instructions(&servers, &Naming::default());
        assert!(text.len() <= 2000);
        assert!(text.lines().last().unwrap().ends_with("more servers"), "{text}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn agg_15_never_more_than_2000_bytes(lengths in prop::collection::vec(0..400_usize, 0..80)) {
            let server = |(index, length): (usize, &usize)| {
                let text: String = "é x. ".chars().cycle().take(*length).collect();
                listing(&format!("é{index}"), Some(&text), index)
            };
            let listings: Vec<Listing> = lengths.iter().enumerate().map(server).collect();
            let text = instructions(&listings, &Naming::default());
            prop_assert!(text.len() <= LIMIT, "{}", text.len());
            prop_assert!(text.lines().count() <= listings.len() + 1);
        }
    }
}
