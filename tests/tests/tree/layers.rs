//! Arrows only go down, and a layer never sees itself (docs/architecture.md).

use std::collections::BTreeMap;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Every crate of the product, from the bottom up.
const LAYERS: [&[&str]; 7] = [
    &["mcpr-protocol", "mcpr-telemetry", "mcpr-secrets"],
    &["mcpr-registry", "mcpr-transport"],
    &["mcpr-upstream", "mcpr-auth", "mcpr-admin", "mcpr-bridge"],
    &["mcpr-router", "mcpr-store"],
    &["mcpr-config"],
    &["mcpr-core"],
    &["mcpr-gateway", "mcpr-ctl"],
];

/// Packages that may see everything: nothing depends on them.
const OUTSIDE: [&str; 2] = ["mcpr-tests", "mcpr-examples"];

fn metadata() -> Metadata {
    MetadataCommand::new()
        .no_deps()
        .exec()
        .expect("cargo describes the workspace")
}

fn layers() -> BTreeMap<&'static str, usize> {
    let numbered = LAYERS.into_iter().enumerate();
    numbered
        .flat_map(|(layer, names)| names.iter().map(move |name| (*name, layer)))
        .collect()
}

/// What a package needs to run, of the workspace.
fn needs(package: &Package) -> impl Iterator<Item = &str> {
    let own = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.path.is_some());
    own.filter(|dependency| dependency.kind == DependencyKind::Normal)
        .map(|dependency| dependency.name.as_str())
}

#[test]
fn every_package_has_a_layer() {
    let layers = layers();
    for package in &metadata().packages {
        let name = package.name.as_str();
        assert!(
            layers.contains_key(name) || OUTSIDE.contains(&name),
            "`{name}` is in no layer"
        );
    }
}

#[test]
fn arrows_only_go_down() {
    let layers = layers();
    for package in &metadata().packages {
        let Some(layer) = layers.get(package.name.as_str()) else {
            continue;
        };
        for need in needs(package) {
            let below = layers
                .get(need)
                .unwrap_or_else(|| panic!("`{}` needs `{need}`", package.name));
            assert!(
                below < layer,
                "`{}` (layer {layer}) must not need `{need}` (layer {below})",
                package.name
            );
        }
    }
}

#[test]
fn the_protocol_does_no_io_and_the_registry_is_synchronous() {
    for package in &metadata().packages {
        if matches!(
            package.name.as_str(),
            "mcpr-protocol" | "mcpr-registry" | "mcpr-bridge"
        ) {
            let mut runtime = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind == DependencyKind::Normal);
            let heavy =
                runtime.find(|dependency| ["tokio", "hyper", "rusqlite"].contains(&dependency.name.as_str()));
            assert!(heavy.is_none(), "`{}` needs {heavy:?}", package.name);
        }
    }
}
