//! What a child finds around it.

use super::super::env::DEPTH_LIMIT;
use super::*;

/// All that the script prints.
async fn output(spec: &ChildSpec) -> Vec<String> {
    let (_child, mut stdout) = start(spec).await;
    let mut lines = Vec::new();
    while let Some(line) = soon(stdout.next()).await.unwrap() {
        let Line::Text(line) = line else {
            panic!("text expected: {line:?}")
        };
        lines.push(String::from_utf8(line.to_vec()).unwrap());
    }
    lines
}

#[tokio::test]
async fn b09_a_bare_command_starts_although_its_entry_has_variables() {
    let spec = ChildSpec {
        env: vec![("X".into(), EnvValue::new("1"))],
        ..sh("echo $X; echo ${PATH:+path} ${HOME:+home}")
    };
    assert_eq!(output(&spec).await, ["1", "path home"]);
}

#[tokio::test]
async fn b61_a_server_sees_its_own_variables_only() {
    let with_secret = ChildSpec {
        env: vec![("SECRET_A".into(), EnvValue::new("1"))],
        ..sh("env")
    };
    let (a, b) = (output(&with_secret).await, output(&sh("env")).await);
    assert!(a.contains(&"SECRET_A=1".to_owned()));
    assert!(!b.iter().any(|line| line.starts_with("SECRET_A")));
    // Cargo's own variables stand for whatever else this process has.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!b.iter().any(|line| line.starts_with("CARGO_MANIFEST_DIR")));
    let own: Vec<_> = b
        .iter()
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| name.starts_with("MCPR_"))
        .collect();
    assert_eq!(own.len(), 2, "{own:?}");
    assert!(own.contains(&("MCPR_DEPTH", "1")));
}

#[tokio::test]
async fn b61_the_working_folder_is_honoured() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let spec = ChildSpec {
        cwd: Some(folder.clone()),
        ..sh("pwd")
    };
    assert_eq!(output(&spec).await, [folder.to_str().unwrap()]);
}

#[tokio::test]
async fn arguments_are_given_as_they_are() {
    let args = [
        "-c",
        "for arg; do echo \"$arg\"; done",
        "sh",
        "a b",
        "$HOME",
        "\"*\"",
        "é",
    ]
    .map(str::to_owned);
    let spec = ChildSpec {
        args: args.to_vec(),
        ..ChildSpec::new("test", "sh")
    };
    assert_eq!(output(&spec).await, ["a b", "$HOME", "\"*\"", "é"]);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let refusal = async |spec: ChildSpec| {
        Child::spawn(&spec, &Guardian::none())
            .await
            .unwrap_err()
            .to_string()
    };

    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();

    let hint = "; is the interpreter that its first line names installed?";
    assert_eq!(
        refusal(ChildSpec::new("test", "/no/such/bin")).await,
        "no program at `/no/such/bin`"
    );
    assert_eq!(
        refusal(ChildSpec::new("test", script)).await,
        format!("starting `{script}` failed{hint}")
    );
    let lost = ChildSpec {
        cwd: Some("/no/such/folder".into()),
        ..sh("true")
    };
    assert_eq!(
        refusal(lost).await,
        "the working folder `/no/such/folder` does not exist"
    );
}

#[test]
fn b110_gateways_do_not_start_one_another_without_end() {
    let variables = |depth| sh("true").variables("mark", depth);
    assert_eq!(variables(0).unwrap()[std::ffi::OsStr::new("MCPR_DEPTH")], "1");
    let error = variables(DEPTH_LIMIT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "4 gateways have started one another in a row; remove mcpr from its own servers"
    );
}
