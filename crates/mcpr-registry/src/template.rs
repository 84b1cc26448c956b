//! Which URIs a resource template could have made (RFC 6570), nearly.

/// A template taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Vec<Piece>);

/// How exactly a URI has to follow a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fit {
    /// As RFC 6570 expands it.
    Exact,
    /// Any text in the place of an expression: many servers mean paths by `{path}`.
    Loose,
}

#[derive(Clone, Debug)]
enum Piece {
    Literal(String),
    Expression(Expression),
}

/// What an expression can expand to: nothing, or a value behind its first character.
#[derive(Clone, Copy, Debug)]
struct Expression {
    first: Option<u8>,
    /// What the value never holds, because the expansion encodes it or it ends there.
    never: &'static [u8],
    /// Whether it can be absent as a whole.
    optional: bool,
}

/// The longest URI that is compared with templates.
const LONGEST: usize = 8 * 1024;

impl Pattern {
    /// Takes a template apart. What is no expression is taken as it stands.
    pub(crate) fn new(template: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some((before, inside, behind)) = next_expression(rest) {
            if !before.is_empty() {
                pieces.push(Piece::Literal(before.to_owned()));
            }
            pieces.push(Piece::Expression(Expression::new(inside)));
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Self(pieces)
    }

    /// Whether the template could have made all of `uri`.
    ///
    /// Follows every way at once, piece by piece, so that no template makes it slow: the cost is
    /// the length of the URI for each piece.
    pub(crate) fn matches(&self, uri: &str, fit: Fit) -> bool {
        if uri.len() > LONGEST || !self.could_start(uri) {
            return false;
        }
        let mut ends = vec![false; uri.len() + 1];
        ends[0] = true;
        for piece in &self.0 {
            ends = match piece {
                Piece::Literal(text) => after_literal(&ends, uri.as_bytes(), text.as_bytes()),
                Piece::Expression(expression) => expression.after(&ends, uri.as_bytes(), fit),
            };
        }
        ends[uri.len()]
    }

    /// What it takes to compare it with a URI, at the most: so many looks at the whole of that.
    pub(crate) fn cost(&self) -> usize {
        let costs = self.0.iter().map(|piece| match piece {
            Piece::Literal(text) => 1 + text.len() / 64,
            Piece::Expression(_) => 1,
        });
        costs.sum()
    }

    fn could_start(&self, uri: &str) -> bool {
        match self.0.first() {
            Some(Piece::Literal(text)) => uri.starts_with(text.as_str()),
            _ => true,
        }
    }
}

fn next_expression(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, behind) = rest.split_once('}')?;
    Some((before, inside, behind))
}

/// Where `uri` can be after a literal, by where it could be before.
fn after_literal(ends: &[bool], uri: &[u8], literal: &[u8]) -> Vec<bool> {
    let mut after = vec![false; ends.len()];
    for (at, _) in ends.iter().enumerate().filter(|(_, reached)| **reached) {
        if uri[at..].starts_with(literal) {
            after[at + literal.len()] = true;
        }
    }
    after
}

impl Expression {
    /// By the operator of RFC 6570 section 2.2; `{path*}` without one is what some SDKs write for a path.
    fn new(inside: &str) -> Self {
        let of = |first, never: &'static [u8], optional| Self {
            first,
            never,
            optional,
        };
        match inside.bytes().next() {
            Some(b'+') => of(None, b"", true),
            Some(b'#') => of(Some(b'#'), b"", true),
            Some(b'.') => of(Some(b'.'), b"/?#", true),
            Some(b'/') => of(Some(b'/'), b"?#", true),
            Some(b';') => of(Some(b';'), b"/?#", true),
            Some(b'?') => of(Some(b'?'), b"#", true),
            Some(b'&') => of(Some(b'&'), b"#", true),
            _ if inside.ends_with('*') => of(None, b"?#", false),
            _ => of(None, b"/?#", false),
        }
    }

    /// Where `uri` can be after the expression, by where it could be before.
    fn after(self, ends: &[bool], uri: &[u8], fit: Fit) -> Vec<bool> {
        let mut after = if self.optional {
            ends.to_vec()
        } else {
            vec![false; ends.len()]
        };
        let mut inside = false;
        for (at, byte) in uri.iter().enumerate() {
            let value = fit == Fit::Loose || !self.never.contains(byte);
            let starts = ends[at] && self.first.map_or(value, |first| first == *byte);
            inside = starts || (inside && value);
            after[at + 1] |= inside;
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(template: &str, uri: &str) -> bool {
        Pattern::new(template).matches(uri, Fit::Exact)
    }

    #[test]
    fn b80_a_query_may_be_there_or_not() {
        let template = "data://{id}{?format}";
        assert!(fits(template, "data://123"));
        assert!(fits(template, "data://123?format=xml"));
        assert!(!fits(template, "data://123/4"));
        assert!(!fits(template, "data://"));
        assert!(fits("x://a?b=1{&c}", "x://a?b=1&c=2"));
    }

    #[test]
    fn each_operator_takes_what_it_expands_to() {
        let cases = [
            ("file:///{+path}", "file:///a/b c/é", true),
            ("file:///{path}", "file:///a/b", false),
            ("file:///{path*}", "file:///a/b", true),
            ("x:{a}/{b}", "x:1/2", true),
            ("x:{a}/{b}", "x:1/2/3", false),
            ("x:{/seg*}", "x:/1/2", true),
            ("x:{/seg*}", "x:", true),
            ("x:{/seg*}", "x:1", false),
            ("x:a{.ext}", "x:a.tar", true),
            ("x:a{#part}", "x:a#b/c?d", true),
            ("x:a{;p}", "x:a;p=1", true),
            ("x:{a}-{b}-c", "x:1-2-3-c", true),
            ("x:{a}-{b}-c", "x:1-c", false),
            ("x:{open", "x:{open", true),
            ("KB://A", "kb://A", false),
        ];
        for (template, uri, expected) in cases {
            assert_eq!(fits(template, uri), expected, "{template} {uri}");
        }
    }

    #[test]
    fn loosely_an_expression_is_any_text() {
        let pattern = Pattern::new("file:///{path}.md");
        assert!(pattern.matches("file:///a/b.md", Fit::Loose));
        assert!(!pattern.matches("file:///a/b.txt", Fit::Loose));
    }

    proptest! {
        #[test]
        fn no_template_and_no_uri_make_it_panic(template in "[a{}+?é/]{0,12}", uri in "[a{}+?é/]{0,12}") {
            let _ = fits(&template, &uri);
        }

        #[test]
        fn what_is_expanded_is_matched(a in "[a-z%.~-]{1,6}", b in "[a-z/?#]{0,6}") {
            let uri = format!("x://{a}/{b}");
            let fits = fits("x://{a}/{+b}", &uri);
            prop_assert!(fits);
        }
    }
}
