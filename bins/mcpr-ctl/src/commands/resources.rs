//! The resources of all servers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcpr_admin::{ExitCode, ListResources, ReadResource, ResourceList};
use serde::Deserialize;

use crate::cli::Filter;
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::look::Look;
use crate::out::phrase::size;
use crate::out::table::Table;
use crate::out::text::printable;
use crate::out::watch;
use crate::problem::Problem;
use crate::suggest;

/// The result of a read, as far as people need it.
#[derive(Debug, Deserialize)]
struct ReadResult {
    contents: Vec<Content>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    text: Option<String>,
    blob: Option<String>,
    mime_type: Option<String>,
}

/// `resources ls`
pub(super) async fn list(gateway: &Gateway, out: &Out, filter: &Filter) -> Result<ExitCode, Problem> {
    let server = filter.server.as_deref();
    let operation = ListResources {
        server: filter.server.clone(),
    };
    let ask = async || match gateway.ask(&operation).await {
        Ok(list) => Ok(list),
        Err(error) => Err(suggest::server(gateway, server, error.into()).await),
    };
    let shown = watch::report(out, filter.repeat, ask, table).await?;
    if shown
        .once()
        .is_some_and(|list| list.resources.is_empty() && list.templates.is_empty())
    {
        out.note("there are no resources; `mcpr-ctl status` shows how the servers are doing");
    }
    Ok(shown.code())
}

/// Resources first, then templates, which have braces in their URI and no size.
fn table(list: &ResourceList, look: &Look) -> String {
    let mut table = Table::new(&["URI", "SERVER", "NAME", "TYPE", "SIZE", "DESCRIPTION"]);
    for resource in &list.resources {
        let [mime, about] = [&resource.mime_type, &resource.description].map(Option::as_deref);
        let [uri, server, name] =
            [&resource.uri, &resource.server, &resource.name].map(|text| text.as_str().into());
        table.row([
            uri,
            server,
            name,
            mime.into(),
            resource.size.map(size).into(),
            about.into(),
        ]);
    }
    for template in &list.templates {
        let [mime, about] = [&template.mime_type, &template.description].map(Option::as_deref);
        let [uri, server, name] =
            [&template.uri_template, &template.server, &template.name].map(|text| text.as_str().into());
        table.row([
            uri,
            server,
            name,
            mime.into(),
            None::<String>.into(),
            about.into(),
        ]);
    }
    table.draw(look)
}

/// `resources read`
pub(super) async fn read(gateway: &Gateway, out: &Out, uri: &str, force: bool) -> Result<ExitCode, Problem> {
    let raw = match gateway.relay(&ReadResource { uri: uri.to_owned() }).await {
        Ok(raw) => raw,
        Err(error) => return Err(suggest::resource(gateway, uri, error.into()).await),
    };
    if out.is_json() {
        return out.json(&raw).map(|()| ExitCode::Ok);
    }
    let result: ReadResult = raw.read().map_err(|error| misshapen(&error))?;
    for content in &result.contents {
        out.bytes(&content.bytes(uri, out.is_terminal() && !force)?)?;
    }
    Ok(ExitCode::Ok)
}

impl Content {
    /// What to write. A person at a terminal gets no bytes that could command it.
    fn bytes(&self, uri: &str, seen: bool) -> Result<Vec<u8>, Problem> {
        match (&self.text, &self.blob) {
            (Some(text), _) if seen => Ok(printable(text).into_bytes()),
            (Some(text), _) => Ok(text.clone().into_bytes()),
            (None, Some(_)) if seen => Err(self.binary(uri)),
            (None, Some(blob)) => STANDARD.decode(blob).map_err(|error| misshapen(&error)),
            (None, None) => Ok(Vec::new()),
        }
    }

    fn binary(&self, uri: &str) -> Problem {
        let kind = self.mime_type.as_deref().unwrap_or("of no known type");
        let problem = Problem::failed(format!(
            "`{uri}` is binary ({kind}), which a terminal cannot show"
        ));
        problem.hint(format!(
            "write it to a file with `mcpr-ctl resources read '{uri}' > FILE`, or add --force"
        ))
    }
}

fn misshapen(error: &dyn std::error::Error) -> Problem {
    let problem = Problem::failed(format!(
        "the server's answer is not the content of a resource: {error}"
    ));
    problem.hint("--json shows the answer as it is")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(json: &str) -> Content {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn bytes_are_written_as_they_are_where_nobody_looks() {
        let text = content(r#"{"text":"a\u001b[31m"}"#);
        let blob = content(r#"{"blob":"AP9h","mimeType":"image/png"}"#);

        assert_eq!(text.bytes("u", false).unwrap(), b"a\x1b[31m");
        assert_eq!(blob.bytes("u", false).unwrap(), b"\x00\xffa");
    }

    #[test]
    fn a_terminal_gets_neither_binary_nor_commands() {
        let text = content(r#"{"text":"a\u001b[31m\n"}"#);
        let blob = content(r#"{"blob":"AP9h","mimeType":"image/png"}"#);

        assert_eq!(text.bytes("u", true).unwrap(), b"a[31m\n");
        assert_eq!(
            blob.bytes("u", true).unwrap_err().message,
            "`u` is binary (image/png), which a terminal cannot show"
        );
    }
}
