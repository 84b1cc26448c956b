//! A gateway with TLS, looked after from elsewhere.

use std::process::Output;

use mcpr_tests::{Brood, Program, gateway};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use serde_json::json;

/// A gateway that speaks https on loopback, with a certificate of its own in its home.
async fn program() -> Program {
    certified(IsCa::NoCa).await
}

async fn certified(is_ca: IsCa) -> Program {
    let tls = json!({ "cert": "cert.pem", "key": "key.pem" });
    let program = gateway().own("tls", tls).program(&Brood::new()).await;
    let key = KeyPair::generate().unwrap();
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let mut params = CertificateParams::new(names).unwrap();
    params.is_ca = is_ca;
    let certificate = params.self_signed(&key).unwrap();
    std::fs::write(program.home().join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(program.home().join("key.pem"), key.serialize_pem()).unwrap();
    program.launch();
    program.listening().await;
    program
}

/// How `status` ends when the gateway is named by its URL, and what it tells.
async fn status(program: &Program, url: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let shown = [("MCPR_TOKEN", &*program.token)];
    let variables = [&shown, variables].concat();
    let words = ["status", "--gateway", url];
    let Output {
        status,
        stdout,
        stderr,
    } = program.ctl_with(&words, "", &variables).await;
    (
        status.code(),
        String::from_utf8([stdout, stderr].concat()).unwrap(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_a_gateway_with_tls_is_looked_after_over_https() {
    let program = program().await;
    let url = format!("https://127.0.0.1:{}/mcp", program.port);
    let file = program.home().join("cert.pem").display().to_string();

    for trust in ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"] {
        let (code, told) = status(&program, &url, &[(trust, &file)]).await;
        assert_eq!(code, Some(0), "{told}");
        assert!(told.contains(&url) && !told.contains("unencrypted"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_a_gateway_whose_certificate_nobody_vouches_for_is_not_shown_the_token() {
    let program = program().await;
    let url = format!("https://127.0.0.1:{}", program.port);

    let (code, told) = status(&program, &url, &[]).await;

    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains(&format!("{url} cannot be reached")), "{told}");
    assert!(told.contains("NODE_EXTRA_CA_CERTS"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_a_certificate_of_an_authority_in_the_place_of_a_server_s_is_told_with_the_way_out() {
    let program = certified(IsCa::Ca(BasicConstraints::Unconstrained)).await;
    let url = format!("https://127.0.0.1:{}", program.port);
    let file = program.home().join("cert.pem").display().to_string();

    let (code, told) = status(&program, &url, &[("SSL_CERT_FILE", &file)]).await;

    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains("basicConstraints=critical,CA:FALSE"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctl_02_http_to_a_gateway_with_tls_is_answered_with_what_to_do() {
    let program = program().await;

    let (code, told) = status(&program, &format!("http://127.0.0.1:{}", program.port), &[]).await;

    assert_eq!(code, Some(2), "{told}");
    assert!(
        told.contains("call it with https:// in place of http://"),
        "{told}"
    );
}
