//! What children write and are written.

use super::*;

const ECHO: &str = "import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
";

async fn say(child: &Child, text: &str) {
    soon(child.writer().send(text.to_owned().into())).await.unwrap();
}

#[tokio::test]
async fn b03_a_banner_is_given_line_by_line_and_what_follows_is_whole() {
    let (child, mut stdout) = start(&sh(
        "echo 'Starting v1.2'; echo '🖥 mode: STDIO'; echo '[1]'; exec cat",
    ))
    .await;
    say(&child, "{\"id\":1}").await;
    for expected in ["Starting v1.2", "🖥 mode: STDIO", "[1]", "{\"id\":1}"] {
        assert_eq!(next_line(&mut stdout).await, text(expected));
    }
}

#[tokio::test]
async fn b07_a_server_that_fills_its_stderr_first_still_answers() {
    let noisy = format!("import sys\nfor _ in range(4096): sys.stderr.write('x' * 63 + '\\n')\n{ECHO}");
    let (child, mut stdout) = start(&python(&noisy)).await;
    say(&child, "{}").await;
    assert_eq!(next_line(&mut stdout).await, text("{}"));
}

#[tokio::test]
async fn b58_fifty_megabytes_of_stderr_in_one_line_are_taken_and_forgotten() {
    let endless = format!("import sys\nfor _ in range(500): sys.stderr.write('x' * 100000)\n{ECHO}");
    let (child, mut stdout) = start(&python(&endless)).await;
    say(&child, "{}").await;
    assert_eq!(next_line(&mut stdout).await, text("{}"));
    assert!(child.stderr_tail().len() <= 4096);
}

#[tokio::test]
async fn the_tail_hides_configured_values() {
    let env = vec![("API_KEY".to_owned(), EnvValue::new("s3cr3t-value"))];
    let spec = ChildSpec {
        env,
        ..sh("echo \"bad key $API_KEY\" >&2")
    };
    let (child, _stdout) = start(&spec).await;
    soon(child.wait()).await;
    assert_eq!(child.last_words().await, "bad key [env API_KEY]");
}

#[tokio::test]
async fn b36_ten_megabytes_go_there_and_back() {
    let (child, mut stdout) = start(&python(ECHO)).await;
    let long = "x".repeat(10 << 20);
    for _ in 0..3 {
        say(&child, &long).await;
        assert!(next_line(&mut stdout).await == text(&long));
    }
}

#[tokio::test]
async fn b89_a_line_over_the_limit_does_not_end_the_conversation() {
    let runaway = format!("import sys\nsys.stdout.write('x' * 40_000_000 + '\\n')\n{ECHO}");
    let (child, mut stdout) = start(&python(&runaway)).await;
    say(&child, "{}").await;
    let Line::TooLong(too_long) = next_line(&mut stdout).await else {
        panic!("the line is too long")
    };
    assert_eq!(too_long.bytes, 40_000_000);
    assert_eq!(next_line(&mut stdout).await, text("{}"));
}

#[tokio::test]
async fn b90_strange_bytes_do_not_end_the_conversation() {
    let (child, mut stdout) = start(&sh(r"printf '\357\273\277\n\264\330 \n{}\r\n'; exec cat")).await;
    say(&child, "[]").await;
    assert!(matches!(next_line(&mut stdout).await, Line::NotUtf8(_)));
    assert_eq!(next_line(&mut stdout).await, text("{}"));
    assert_eq!(next_line(&mut stdout).await, text("[]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_senders_share_one_pipe() {
    let (child, mut stdout) = start(&ChildSpec::new("test", "cat")).await;
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..8 {
        let writer = child.writer().clone();
        senders.spawn(async move {
            for n in 0..2000 {
                writer
                    .send(format!("{{\"id\":{}}}", sender * 2000 + n).into())
                    .await
                    .unwrap();
            }
        });
    }
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 16_000 {
        assert!(seen.insert(format!("{:?}", next_line(&mut stdout).await)));
    }
    senders.join_all().await;
}
