//! The Inspector, which runs one method and ends.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::output;
use crate::peers;

/// Runs one method with the Inspector's command line, and gives the result.
///
/// `arguments` are the Inspector's own, such as `["--method", "tools/list"]`; `era` is `legacy`, `auto` or
/// `modern`.
///
/// # Errors
///
/// When the Inspector fails; the text holds its error.
pub async fn inspect(url: &str, token: Option<&str>, era: &str, arguments: &[&str]) -> Result<Value> {
    let mut words = peers::ready().inspector_cli();
    let fixed = [
        "--server-url",
        url,
        "--transport",
        "http",
        "--protocol-era",
        era,
        "--format",
        "json",
        "-q",
    ];
    words.extend(fixed.iter().chain(arguments).map(|&word| word.to_owned()));
    if let Some(token) = token {
        words.extend(["--header".to_owned(), format!("Authorization: Bearer {token}")]);
    }
    let told = output(&words, None)
        .await
        .with_context(|| format!("the Inspector at {url}"))?;
    let told: Value = serde_json::from_str(&told).with_context(|| format!("the Inspector told {told:?}"))?;
    Ok(told["result"].clone())
}
