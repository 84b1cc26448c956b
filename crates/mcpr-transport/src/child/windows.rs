//! The rules of Windows for commands, as plain functions that any system can test.

/// A batch file that cannot be named on a command line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the batch file `{0}` cannot be started: its path holds a quote or ends with a backslash")]
pub struct BadBatchPath(pub String);

/// The file names that `command` can stand for, in the order in which they are tried.
///
/// A name with an extension of `pathext` stands for itself, any other for itself with each
/// extension. The bare name is not tried: beside `npx.cmd` lies a shell script `npx`, which
/// Windows cannot start.
pub fn candidates(command: &str, pathext: &str) -> Vec<String> {
    let extensions = || {
        pathext
            .split(';')
            .map(str::to_ascii_lowercase)
            .filter(|ext| ext.len() > 1)
    };
    let lower = command.to_ascii_lowercase();
    if extensions().any(|ext| lower.ends_with(&ext)) {
        return vec![command.to_owned()];
    }
    extensions().map(|ext| format!("{command}{ext}")).collect()
}

/// The arguments of `cmd.exe` that run the batch file `script` with `args` as they are.
///
/// Nothing in an argument is taken for a quote, an operator or a variable of the shell.
///
/// # Errors
///
/// When the path of the script cannot be quoted.
pub fn batch_line(script: &str, args: &[&str]) -> Result<String, BadBatchPath> {
    if script.contains('"') || script.ends_with('\\') {
        return Err(BadBatchPath(script.to_owned()));
    }
    let args: String = args.iter().map(|arg| format!(" {}", quoted(arg))).collect();
    Ok(format!(r#"/e:ON /v:OFF /d /c ""{script}"{args}""#))
}

/// One argument between quotes: quotes are doubled, `%` is kept from naming a variable by an
/// empty substring of `%cd%`, and backslashes before a quote are doubled.
fn quoted(arg: &str) -> String {
    let (mut text, mut backslashes) = (String::from('"'), 0);
    for c in arg.chars() {
        match c {
            '"' => text.extend(std::iter::repeat_n('\\', backslashes).chain(['"'])),
            '%' | '\r' => text.push_str("%%cd:~,"),
            _ => {}
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        text.push(c);
    }
    text.extend(std::iter::repeat_n('\\', backslashes).chain(['"']));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b27_a_bare_name_stands_for_each_extension() {
        assert_eq!(candidates("npx", ".EXE;.CMD"), ["npx.exe", "npx.cmd"]);
        assert_eq!(candidates("NPX.CMD", ".EXE;.CMD"), ["NPX.CMD"]);
        assert_eq!(
            candidates("server-1.2", ".EXE;;.CMD"),
            ["server-1.2.exe", "server-1.2.cmd"]
        );
    }

    #[test]
    fn b27_arguments_reach_a_batch_file_as_they_are() {
        let cases = [
            ("plain", r#""plain""#),
            ("two words", r#""two words""#),
            ("a&b|c>d^e", r#""a&b|c>d^e""#),
            (r#"say "hi""#, r#""say ""hi""""#),
            ("100%PATH%", r#""100%%cd:~,%PATH%%cd:~,%""#),
            (r"C:\Program Files\", r#""C:\Program Files\\""#),
            ("", r#""""#),
        ];
        for (arg, expected) in cases {
            assert_eq!(quoted(arg), expected, "{arg}");
        }
        let line = batch_line(r"C:\Program Files\nodejs\npx.cmd", &["-y", "a b"]).unwrap();
        assert_eq!(
            line,
            r#"/e:ON /v:OFF /d /c ""C:\Program Files\nodejs\npx.cmd" "-y" "a b"""#
        );
    }

    #[test]
    fn b27_a_path_that_would_end_its_quotes_is_refused() {
        assert!(batch_line(r#"C:\a" & calc "b.cmd"#, &[]).is_err());
    }
}
