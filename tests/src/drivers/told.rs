//! What a real client tells.

use serde::Deserialize;
use serde_json::Value;

/// What a client tells.
#[derive(Clone, Debug, Deserialize)]
pub struct Told {
    /// The `serverInfo` of the other side.
    pub server: Value,
    /// The protocol version that was agreed on.
    pub version: Option<String>,
    /// One result for each operation.
    pub results: Vec<Outcome>,
    /// What it was asked, in order.
    pub asked: Vec<Asked>,
}

/// A question that a client got.
#[derive(Clone, Debug, Deserialize)]
pub struct Asked {
    /// For what.
    pub method: String,
    /// The parameters as the client's library understood them.
    pub params: Value,
}

/// The result of one operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The result as the client's library understood it.
    Ok(Value),
    /// The error, as `{code, message}`.
    Error(Value),
}

impl Told {
    /// The result of operation number `index`, if it went well.
    ///
    /// # Panics
    ///
    /// When it failed; the text holds the error.
    pub fn ok(&self, index: usize) -> &Value {
        match &self.results[index] {
            Outcome::Ok(result) => result,
            Outcome::Error(error) => panic!("operation {index} failed: {error}"),
        }
    }

    /// The text of the error of operation number `index`.
    ///
    /// # Panics
    ///
    /// When it went well.
    pub fn failure(&self, index: usize) -> String {
        match &self.results[index] {
            Outcome::Error(error) => error["message"].as_str().unwrap_or_default().to_owned(),
            Outcome::Ok(result) => panic!("operation {index} went well: {result}"),
        }
    }

    /// The code of the error of operation number `index`, if it failed and the client's library gives one.
    pub fn code(&self, index: usize) -> Option<i64> {
        match &self.results[index] {
            Outcome::Error(error) => error["code"].as_i64(),
            Outcome::Ok(_) => None,
        }
    }

    /// The names of the tools that operation number `index` listed.
    pub fn tools(&self, index: usize) -> Vec<&str> {
        let tools = self.ok(index)["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// The first text of the result of operation number `index`.
    ///
    /// # Panics
    ///
    /// When it failed, or its result has no text.
    pub fn text(&self, index: usize) -> &str {
        let result = self.ok(index);
        let text = result["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text in {result}"))
    }

    /// The methods of what it was asked, in order.
    pub fn questions(&self) -> Vec<&str> {
        self.asked.iter().map(|asked| asked.method.as_str()).collect()
    }
}
