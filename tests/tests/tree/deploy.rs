//! What is shipped for deployment fits the tree: versions, paths, and the files that name each other.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tidy::root;

/// What a release is built for.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
];

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The formula, filled in from these checksums.
fn formula(sums: &str) -> (bool, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("SHA256SUMS");
    fs::write(&file, sums).expect("a file");
    let ran = Command::new(root().join(".ci/formula"))
        .arg(&file)
        .output()
        .expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (ran.status.success(), text(ran.stdout), text(ran.stderr))
}

fn sums(targets: &[&str]) -> String {
    let numbered = targets.iter().enumerate();
    numbered
        .map(|(n, target)| format!("{n:064}  mcpr-1.2.3-{target}.tar.gz\n"))
        .collect()
}

#[test]
fn the_formula_has_the_checksum_of_each_archive() {
    let (well, formula, _) = formula(&sums(&TARGETS));

    assert!(well && !formula.contains('@'), "{formula}");
    for (n, target) in TARGETS.iter().enumerate() {
        let entry = format!("v1.2.3/mcpr-1.2.3-{target}.tar.gz\"\n      sha256 \"{n:064}\"");
        assert!(formula.contains(&entry), "{target}: {formula}");
    }
}

#[test]
fn the_formula_of_a_version_with_hyphens_is_whole_too() {
    let (well, formula, _) = formula(&sums(&TARGETS).replace("1.2.3", "1.2.3-rc-1.x"));

    assert!(well && !formula.contains('@'), "{formula}");
    assert!(formula.contains("version \"1.2.3-rc-1.x\""), "{formula}");
    let archive = "download/v1.2.3-rc-1.x/mcpr-1.2.3-rc-1.x-aarch64-apple-darwin.tar.gz";
    assert!(formula.contains(archive), "{formula}");
}

#[test]
fn what_a_service_says_goes_where_its_user_alone_looks() {
    let plist = read("docs/deploy/launchd/dev.mcpr.gateway.plist");
    assert!(plist.contains("<string>/Users/NAME/Library/Logs/") && !plist.contains("/tmp/"));
    assert!(read("docs/deploy/launchd/README.md").contains("s|/Users/NAME|$HOME|"));
    let formula = read("docs/deploy/homebrew/mcpr.rb");
    assert!(formula.contains("def caveats") && formula.contains("mcpr-ctl tokens create --name NAME"));
}

#[test]
fn a_formula_without_all_archives_is_refused() {
    let (well, _, why) = formula(&sums(&TARGETS[1..]));
    assert!(
        !well && why.contains("no checksum for @x86_64-unknown-linux-musl@"),
        "{why}"
    );
}

#[test]
fn a_release_builds_what_the_formula_and_binstall_look_for() {
    let workflow = read(".github/workflows/release.yml");
    for target in TARGETS {
        assert!(workflow.contains(&format!("target: {target},")), "{target}");
    }
    let name = "mcpr-{ version }-{ target }.tar.gz";
    for program in ["mcpr-gateway", "mcpr-ctl"] {
        assert!(
            read(format!("bins/{program}/Cargo.toml")).contains(name),
            "{program}"
        );
    }
    assert!(read(".ci/dist").contains("name=mcpr-$version-$target"));
}

#[test]
fn the_changelog_has_a_chapter_for_the_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        read("CHANGELOG.md").contains(&format!("\n## {version} - ")),
        "{version}"
    );
}

#[test]
fn whoever_builds_an_image_finds_its_file_and_the_packages() {
    let folder = "docs/deploy/docker";
    let asking = [".github/workflows/release.yml", "docs/deploy/docker/compose.yaml"].map(read);
    for (file, tag) in [("Dockerfile", "-t mcpr ."), ("Dockerfile.full", "-t mcpr:full .")] {
        let text = read(format!("{folder}/{file}"));
        assert!(
            text.contains("-p mcpr-gateway -p mcpr-ctl") && text.contains(tag),
            "{file}"
        );
        assert!(asking[0].contains(&format!("file: {file},")), "{file}");
    }
    assert!(asking[1].contains("dockerfile: docs/deploy/docker/Dockerfile.full"));
    assert!(root().join(folder).join("../../../Cargo.lock").exists());
}

#[test]
fn scripts_of_ci_can_be_run_and_are_the_ones_that_workflows_call() {
    use std::os::unix::fs::PermissionsExt;
    for script in [".ci/run", ".ci/dist", ".ci/formula"] {
        let mode = root()
            .join(script)
            .metadata()
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o111, 0o111, "{script}");
    }
    assert!(read(".github/workflows/ci.yml").contains("run: .ci/run\n"));
    assert!(read(".github/workflows/release.yml").contains("run: .ci/dist ${{ matrix.target }}"));
}
