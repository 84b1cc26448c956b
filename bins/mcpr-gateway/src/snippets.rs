//! What can be pasted to reach the gateway.

use mcpr_config::clients::{ClientApp, Link, Token};
use mcpr_protocol::{Method, Version, key};

/// How to reach one gateway with one token.
#[derive(Debug)]
pub(crate) struct Snippets<'a> {
    pub(crate) url: &'a str,
    pub(crate) token: &'a str,
}

impl Snippets<'_> {
    /// The command that tells Claude Code.
    pub(crate) fn claude_code(&self) -> String {
        let snippet = ClientApp::ClaudeCode.snippet(&self.link());
        snippet
            .command
            .expect("Claude Code has a command that adds a URL")
    }

    /// What goes into Cursor's file.
    pub(crate) fn cursor(&self) -> String {
        ClientApp::Cursor.snippet_line(&self.link())
    }

    fn link(&self) -> Link {
        Link::Http {
            url: self.url.to_owned(),
            token: Token::Text(self.token.to_owned()),
            headers: Vec::new(),
        }
    }

    /// The command that makes one request with these members of `params`. It is of the stateless
    /// era, which needs no handshake.
    pub(crate) fn curl(&self, method: &Method, name: Option<&str>, params: &str) -> String {
        let version = Version::NEWEST_STATELESS;
        let meta = format!(
            r#"{{"{}":"{version}","{}":{{}}}}"#,
            key::PROTOCOL_VERSION,
            key::CLIENT_CAPABILITIES
        );
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{meta}}}}}"#);
        let headers = [
            Some(format!("Authorization: Bearer {}", self.token)),
            Some("Content-Type: application/json".to_owned()),
            Some(format!("MCP-Protocol-Version: {version}")),
            Some(format!("Mcp-Method: {method}")),
            name.map(|name| format!("Mcp-Name: {name}")),
        ];
        let headers = headers
            .into_iter()
            .flatten()
            .map(|header| format!(" \\\n    -H '{header}'"));
        format!(
            "curl -s {}{} \\\n    -d '{body}'",
            self.url,
            headers.collect::<String>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNIPPETS: Snippets<'_> = Snippets {
        url: "http://127.0.0.1:3282/mcp",
        token: "mcpr_pat_x",
    };

    #[test]
    fn clients_are_told_in_their_own_words() {
        insta::assert_snapshot!([SNIPPETS.claude_code(), SNIPPETS.cursor()].join("\n"));
    }

    #[test]
    fn a_request_by_hand_has_the_headers_of_its_era() {
        let list = SNIPPETS.curl(&Method::ToolsList, None, "");
        let call = SNIPPETS.curl(&Method::ToolsCall, Some("now"), r#""name":"now","#);
        insta::assert_snapshot!([list, call].join("\n"));
    }
}
