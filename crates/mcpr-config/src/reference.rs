//! The grammar of `${…}`.

/// A piece of a text that is to be expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'t> {
    /// Stays as it is.
    Plain(&'t str),
    /// Stands for something else.
    Reference(Reference<'t>),
}

/// What a `${…}` stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reference<'t> {
    /// `${NAME}`, `${env:NAME}`, either with `:-default`.
    Variable { name: &'t str, default: Option<&'t str> },
    /// `${file:PATH}`: the content of a file.
    File(&'t str),
    /// `${secret:NAME}`.
    Secret(&'t str),
    /// `${input:ID}`: VS Code asks for it, mcpr cannot.
    Input(&'t str),
    /// `${userHome}`.
    Home,
    /// `${workspaceFolder}`: the folder of the file.
    Folder,
    /// `${workspaceFolderBasename}`.
    FolderName,
    /// `${pathSeparator}` or `${/}`.
    Separator,
    /// Something between the braces that has no meaning.
    Unknown(&'t str),
}

/// Splits a text at its references. There is no nesting: a reference ends at the first `}`.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((plain, inside, after)) = next(rest) {
        pieces.extend([Piece::Plain(plain), Piece::Reference(Reference::parse(inside))]);
        rest = after;
    }
    pieces.push(Piece::Plain(rest));
    pieces.retain(|piece| *piece != Piece::Plain(""));
    pieces
}

/// The next reference: what is before it, inside and after it.
pub(crate) fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (plain, rest) = text.split_once("${")?;
    let (inside, after) = rest.split_once('}')?;
    Some((plain, inside, after))
}

impl<'t> Reference<'t> {
    /// The name of what must have a value.
    pub(crate) fn wanted(self) -> Option<&'t str> {
        match self {
            Self::Variable { name, default: None }
            | Self::File(name)
            | Self::Secret(name)
            | Self::Input(name) => Some(name),
            _ => None,
        }
    }

    /// The name of the secret that is meant, if one is.
    pub(crate) fn secret(self) -> Option<&'t str> {
        match self {
            Self::Secret(name) | Self::Input(name) => Some(name),
            _ => None,
        }
    }

    /// What stands between the braces.
    pub(crate) fn parse(inside: &'t str) -> Self {
        match inside {
            "userHome" => Self::Home,
            "workspaceFolder" => Self::Folder,
            "workspaceFolderBasename" => Self::FolderName,
            "pathSeparator" | "/" => Self::Separator,
            _ => Self::with_scheme(inside).unwrap_or_else(|| Self::variable(inside, inside)),
        }
    }

    fn with_scheme(inside: &'t str) -> Option<Self> {
        let (scheme, rest) = inside.split_once(':')?;
        match scheme {
            "env" => Some(Self::variable(inside, rest)),
            "file" if !rest.is_empty() => Some(Self::File(rest)),
            "secret" if mcpr_secrets::is_name(rest) => Some(Self::Secret(rest)),
            "input" if mcpr_secrets::is_name(rest) => Some(Self::Input(rest)),
            _ => None,
        }
    }

    fn variable(inside: &'t str, text: &'t str) -> Self {
        let (name, default) = match text.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (text, None),
        };
        if is_variable_name(name) {
            Self::Variable { name, default }
        } else {
            Self::Unknown(inside)
        }
    }
}

fn is_variable_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Reference<'_> {
        match pieces(text)[..] {
            [Piece::Reference(reference)] => reference,
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn cfg_03_every_form_is_known() {
        let variable = |name, default| Reference::Variable { name, default };

        assert_eq!(only("${VAR}"), variable("VAR", None));
        assert_eq!(only("${VAR:-a b:-c}"), variable("VAR", Some("a b:-c")));
        assert_eq!(only("${VAR:-}"), variable("VAR", Some("")));
        assert_eq!(only("${env:VAR}"), variable("VAR", None));
        assert_eq!(only("${file:/run/key}"), Reference::File("/run/key"));
        assert_eq!(only("${secret:jira-token}"), Reference::Secret("jira-token"));
        assert_eq!(only("${input:id}"), Reference::Input("id"));
        assert_eq!(only("${userHome}"), Reference::Home);
        assert_eq!(only("${workspaceFolder}"), Reference::Folder);
        assert_eq!(only("${workspaceFolderBasename}"), Reference::FolderName);
        assert_eq!(only("${pathSeparator}"), Reference::Separator);
        assert_eq!(only("${/}"), Reference::Separator);
    }

    #[test]
    fn cfg_03_what_means_nothing_is_told_apart() {
        for text in [
            "${}",
            "${1}",
            "${a-b}",
            "${command:x}",
            "${secret:../x}",
            "${secret:.x}",
            "${file:}",
            "${env:}",
        ] {
            assert!(matches!(only(text), Reference::Unknown(_)), "{text}");
        }
    }

    #[test]
    fn cfg_03_a_dollar_alone_or_an_open_brace_is_plain() {
        assert_eq!(pieces("$VAR {x} ${"), [Piece::Plain("$VAR {x} ${")]);
        assert_eq!(
            pieces("Bearer ${T}!"),
            [
                Piece::Plain("Bearer "),
                Piece::Reference(Reference::Variable {
                    name: "T",
                    default: None
                }),
                Piece::Plain("!")
            ]
        );
    }

    #[test]
    fn cfg_03_references_do_not_nest() {
        let name = Reference::Variable {
            name: "A",
            default: Some("${B"),
        };
        assert_eq!(pieces("${A:-${B}}"), [Piece::Reference(name), Piece::Plain("}")]);
    }
}
