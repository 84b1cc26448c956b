//! Which files count, and how they lie one over the other.

use super::*;

fn names(config: &Config) -> Vec<&str> {
    config.servers.iter().map(|server| server.name.as_str()).collect()
}

#[test]
fn cfg_01_a_later_file_wins_per_server_and_per_key_of_the_gateway() {
    let env = Fixed::default()
        .file(
            "/base/a.json",
            r#"{"mcpServers": {"one": {"command": "a1"}, "two": {"command": "a2"}},
                "mcpr": {"listen": "127.0.0.1:1", "startup": {"mode": "strict", "order": "sequential"}}}"#,
        )
        .file(
            "/base/sub/b.json",
            r#"{"mcpServers": {"three": {"command": "./b3"}, "one": {"command": "b1"}},
                "mcpr": {"startup": {"mode": "strict"}}}"#,
        );
    let locations = Locations::from_env(&["a.json".into(), "sub/b.json".into()], &env).unwrap();

    let config = Config::load(&locations, &env).unwrap();

    assert_eq!(names(&config), ["one", "two", "three"]);
    assert_eq!(process(&config.servers[0]).command, "b1");
    assert_eq!(process(&config.servers[2]).command, "/base/sub/b3");
    assert_eq!(config.gateway.listen.port(), 1);
    assert_eq!(config.gateway.startup.order, crate::StartOrder::Parallel);
    assert_eq!(config.files.len(), 2);
}

#[test]
fn cfg_01_of_the_usual_files_only_the_first_that_exists_is_read() {
    let user = r#"{"mcpServers": {"mine": {"command": "x"}}}"#;
    let system = r#"{"mcpServers": {"everyone's": {"command": "x"}}}"#;
    let both = Fixed::default()
        .file("/home/ann/.config/mcpr/mcpr.json", user)
        .file("/etc/mcpr/mcpr.json", system)
        .file(
            "/base/.mcp.json",
            r#"{"mcpServers": {"stray": {"command": "x"}}}"#,
        );
    let one = Fixed::default().file("/etc/mcpr/mcpr.json", system);
    let load = |env: &Fixed| Config::load(&Locations::from_env(&[], env).unwrap(), env).unwrap();

    assert_eq!(names(&load(&both)), ["mine"]);
    assert_eq!(names(&load(&one)), ["everyone's"]);
}

#[test]
fn cfg_01_without_a_file_there_are_no_servers_and_a_warning_says_where_one_was_looked_for() {
    let env = Fixed::default();
    let config = Config::load(&Locations::from_env(&[], &env).unwrap(), &env).unwrap();

    assert!(config.servers.is_empty());
    insta::assert_snapshot!(warnings(&config).join("\n"));
}

#[test]
fn cfg_01_a_named_file_must_exist() {
    let env = Fixed::default().with("MCPR_CONFIG", "/nowhere.json");
    let error = Config::load(&Locations::from_env(&[], &env).unwrap(), &env).unwrap_err();

    assert_eq!(
        error.to_string(),
        "the configuration file `/nowhere.json` cannot be read"
    );
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn an_embedding_program_needs_no_home() {
    let env = Fixed::default()
        .homeless()
        .file("/base/mcpr.json", r#"{"mcpServers": {"a": {"command": "x"}}}"#);
    assert_eq!(names(&Config::from_files(&[FILE.into()], &env).unwrap()), ["a"]);
}

#[test]
fn log_04_the_values_that_come_of_all_files_are_told_without_secrets() {
    let args = r#"["--to", "S3CRET1", "--token", "S3CRET2", "--env=DB_PASSWORD=S3CRET3", "-v"]"#;
    let entry = format!(r#"{{"command": "x", "args": {args}, "env": {{"KEY": "S3CRET1"}}}}"#);
    let file = format!(r#"{{"mcpServers": {{"one": {entry}}}}}"#);
    let env = Fixed::default().file("/base/a.json", file);
    let locations = Locations::from_env(&["a.json".into()], &env).unwrap();

    let settings = crate::Effective::read(&locations, &env).unwrap().settings();

    let told: Vec<_> = settings.iter().map(|setting| setting.value.as_str()).collect();
    let args = r#"["--to","[redacted]","--token","•••","--env=DB_PASSWORD=•••","-v"]"#;
    assert_eq!(told, [r#""x""#, args, r#""•••""#]);
}
