//! An address that speaks https.

use insta::assert_snapshot;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use crate::http::ask;
use crate::stage::{Running, Stage, until};

/// Writes a new certificate for this machine, and its key, into the home.
fn certify(stage: &Stage) {
    let key = KeyPair::generate().unwrap();
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    stage.write("cert.pem", &certificate.pem());
    stage.write("key.pem", &key.serialize_pem());
}

/// A gateway with a certificate, and where it listens.
fn serving(stage: &Stage, words: &[&str]) -> (Running, String) {
    let mut gateway = stage.start(&[&["serve", "--port", "0"], words].concat());
    gateway.hears("; `mcpr-ctl status` shows more");
    let url = gateway.word("https://127.0.0.1:");
    (gateway, url)
}

/// The tools that a client gets to see over https, if it trusts this certificate.
fn tools(stage: &Stage, url: &str, token: &str) -> Result<Vec<Value>, String> {
    let trusted = stage.path("cert.pem").display().to_string();
    let variables = [("MCPR_TOKEN", token), ("SSL_CERT_FILE", &trusted)];
    let mut client = stage.start_with(&["connect", "--url", url], &variables);
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    client.says(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
    client.says(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.says(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }));
    client.leave();
    if client.exit_code() != 0 {
        return Err(client.told.join("\n"));
    }
    let lines = client.rest();
    let answer = lines.iter().find_map(|line| {
        let message: Value = serde_json::from_str(line).unwrap();
        (message["id"] == 2).then_some(message)
    });
    Ok(answer.unwrap()["result"]["tools"].as_array().unwrap().clone())
}

#[test]
fn a_certificate_makes_the_address_speak_https_and_is_read_again_when_it_changes() {
    let stage = Stage::serving(&["calc"]);
    certify(&stage);
    let (mut gateway, url) = serving(&stage, &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let token = gateway.token();
    until("the server is listed", || {
        (tools(&stage, &url, &token).unwrap().len() > 7).then_some(())
    });

    certify(&stage);

    gateway.hears("a new certificate counts from now on");
    assert!(
        tools(&stage, &url, &token).is_ok(),
        "only the new one is trusted now"
    );
}

#[test]
fn plain_http_is_answered_with_what_to_do() {
    let stage = Stage::serving(&[]);
    certify(&stage);
    stage.write(
        "mcpr.json",
        r#"{ "mcpr": { "tls": { "cert": "cert.pem", "key": "key.pem" } } }"#,
    );
    let mut gateway = stage.start(&["serve", "--port", "0"]);
    gateway.hears("no servers");
    let url = gateway.word("https://127.0.0.1:");
    let port = url
        .trim_start_matches("https://127.0.0.1:")
        .trim_end_matches("/mcp")
        .parse()
        .unwrap();

    let (status, answer) = ask(port, Some(&gateway.token()), "tools/list", json!({}));

    assert_eq!(status, 400);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("https://"), "{message}");
}

#[test]
fn cfg_04_a_certificate_that_cannot_be_used_ends_the_start_with_7() {
    let stage = Stage::serving(&[]);
    certify(&stage);
    let key = std::fs::read_to_string(stage.path("key.pem")).unwrap();
    certify(&stage);
    stage.write("other.pem", &key);
    stage.write("text.pem", "hello");
    let start = |cert: &str, key: &str| {
        let [cert, key] = [cert, key].map(|name| stage.path(name).display().to_string());
        stage.run(&["serve", "--port", "0", "--tls-cert", &cert, "--tls-key", &key])
    };

    let ran = [
        start("missing.pem", "key.pem"),
        start("text.pem", "key.pem"),
        start("cert.pem", "text.pem"),
        start("cert.pem", "other.pem"),
    ];

    assert!(ran.iter().all(|ran| ran.code == 7));
    assert_snapshot!(ran.map(|ran| ran.to_string()).join("\n\n"));
    let half = stage.run(&["serve", "--tls-cert", "cert.pem"]);
    assert!(half.code == 2 && half.stderr.contains("--tls-key"), "{half}");
}
