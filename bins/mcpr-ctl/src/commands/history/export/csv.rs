//! CSV as RFC 4180 has it, harmless for spreadsheets.

use mcpr_admin::CallReport;

const HEADS: [&str; 15] = [
    "id",
    "at",
    "durationUs",
    "method",
    "server",
    "tool",
    "status",
    "code",
    "error",
    "principal",
    "client",
    "project",
    "requestId",
    "correlationId",
    "arguments",
];

/// The line of headings.
pub(super) fn head() -> Vec<u8> {
    line(HEADS.map(str::to_owned))
}

/// The line of a call.
pub(super) fn row(call: &CallReport) -> Vec<u8> {
    let text = |text: &str| field(&harmless(text));
    let optional = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    let arguments = call.arguments.as_ref().map(|arguments| arguments.as_str());
    line([
        text(&call.id),
        text(&call.at),
        call.duration_us.to_string(),
        text(&call.method),
        optional(&call.server),
        optional(&call.tool),
        text(&call.status),
        number(call.code),
        optional(&call.error),
        text(&call.principal),
        optional(&call.client),
        optional(&call.project),
        text(&call.request_id),
        text(&call.correlation_id),
        text(arguments.unwrap_or_default()),
    ])
}

fn line(fields: [String; HEADS.len()]) -> Vec<u8> {
    (fields.join(",") + "\r\n").into_bytes()
}

/// A spreadsheet takes a text that begins like this for a formula, and would compute it; the apostrophe
/// says that it is a text (OWASP, CSV injection).
fn harmless(text: &str) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// RFC 4180, 2.6 and 2.7: what could end a field stands in quotes, and quotes are doubled. In many countries a
/// spreadsheet ends fields with `;`, and what stands behind one could be a formula again.
fn field(text: &str) -> String {
    match text.contains([',', ';', '\t', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_06_a_field_is_quoted_where_it_must_be() {
        for (text, written) in [
            ("", ""),
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("a;=1+1", "\"a;=1+1\""),
            ("a\t=1+1", "\"a\t=1+1\""),
            ("say \"a\"", "\"say \"\"a\"\"\""),
            ("a\r\nb", "\"a\r\nb\""),
        ] {
            assert_eq!(field(text), written);
        }
    }

    #[test]
    fn log_06_no_text_is_a_formula() {
        for text in ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1"] {
            assert_eq!(harmless(text), format!("'{text}"));
        }
        assert_eq!(harmless("a=1"), "a=1");
    }
}
