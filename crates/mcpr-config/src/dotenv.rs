//! Files of `NAME=value` lines, as `envFile` names them.

/// Reads the variables, in the order of the file; values are taken as they are.
///
/// # Errors
///
/// The number of the first line that is neither a variable, nor a comment, nor blank.
pub(crate) fn parse(text: &str) -> Result<Vec<(String, String)>, usize> {
    let numbered = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()));
    let meant = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    meant.map(|(number, line)| variable(line).ok_or(number)).collect()
}

fn variable(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let legal = !name.is_empty() && !name.contains(|c: char| c.is_whitespace());
    legal.then(|| (name.to_owned(), unquoted(value.trim())))
}

fn unquoted(value: &str) -> String {
    if let Some(inside) = between(value, '\'') {
        return inside.to_owned();
    }
    if let Some(inside) = between(value, '"') {
        return inside.replace("\\n", "\n").replace("\\\"", "\"");
    }
    // Only a `#` after a space begins a comment: it is common in passwords.
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

fn between(value: &str, quote: char) -> Option<&str> {
    value.strip_prefix(quote)?.strip_suffix(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_the_usual_tools_do() {
        let text = "# mine\n\nA=1\nexport B = two words # said\nC='x # y'\nD=\"a\\nb\"\nE=p#q\r\nF=\n";
        let pairs = parse(text).unwrap();
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();

        assert_eq!(
            pairs,
            [
                ("A", "1"),
                ("B", "two words"),
                ("C", "x # y"),
                ("D", "a\nb"),
                ("E", "p#q"),
                ("F", "")
            ]
        );
    }

    #[test]
    fn a_line_that_is_no_variable_is_named() {
        assert_eq!(parse("A=1\nnonsense\n"), Err(2));
        assert_eq!(parse("=1"), Err(1));
    }
}
