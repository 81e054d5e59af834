//! The arrows between layers, read from each `Cargo.toml`: they only go downwards.
//!
//! Cargo forbids cycles; this table forbids the arrow that would be a wrong one without being a
//! cycle. Dependencies of tests are free.

use toml::{Table, Value};

use super::Finding;
use crate::repo::{File, Repo};

/// Each layer (a folder in `crates/`) and the layers it may depend on.
const LAYERS: [(&str, &[&str]); 14] = [
    ("core", &[]),
    ("time", &["core"]),
    ("sync", &["core", "time"]),
    ("channel", &["core", "time"]),
    ("task", &["core"]),
    ("fiber", &["core"]),
    ("par", &["core"]),
    ("sched", &["core", "task", "time"]),
    ("io", &["core", "time", "sync", "task", "sched"]),
    ("structure", &["core", "sync", "task", "fiber", "sched"]),
    ("sim", &["core", "task", "sched", "fiber", "time", "sync"]),
    ("experiment", &["par", "sim"]),
    ("macros", &[]),
    (
        "gossamer",
        &[
            "core",
            "sync",
            "channel",
            "task",
            "fiber",
            "time",
            "sched",
            "par",
            "structure",
            "sim",
            "experiment",
            "io",
            "macros",
        ],
    ),
];

/// Every arrow goes downwards, and the lab's harness has none.
pub(super) fn arrows(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files() {
        let parts: Vec<&str> = file.path.split('/').collect();
        match parts.as_slice() {
            ["crates", layer, "Cargo.toml"] => match allowed(layer) {
                Some(below) => check(file, layer, below, &["dev-dependencies"], &mut findings),
                None => {
                    let found = format!("the layer `{layer}` is not in the table of layers");
                    let expected = "add it to LAYERS in xtask/src/tidy/layers.rs";
                    findings.push(Finding::new(&file.path, 1, found, expected));
                }
            },
            ["lab", "Cargo.toml"] => check(file, "lab", &[], &[], &mut findings),
            _ => {}
        }
    }
    findings
}

fn allowed(layer: &str) -> Option<&'static [&'static str]> {
    LAYERS
        .iter()
        .find(|(name, _)| *name == layer)
        .map(|(_, below)| *below)
}

fn check(file: &File, layer: &str, below: &[&str], free: &[&str], findings: &mut Vec<Finding>) {
    let manifest: Table = match file.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => {
            let found = format!("cannot be parsed ({error})");
            findings.push(Finding::new(
                &file.path,
                1,
                found,
                "a manifest that cargo reads",
            ));
            return;
        }
    };
    for (key, target) in dependencies(&manifest, free) {
        if !below.contains(&target.as_str()) {
            let line = file
                .text
                .lines()
                .position(|line| line.trim_start().starts_with(&key));
            let found = format!("`{layer}` depends on `{target}`");
            let expected = match below {
                [] => format!("`{layer}` depends on no crate of ours"),
                _ => format!("`{layer}` may depend only on {}", below.join(", ")),
            };
            findings.push(Finding::new(
                &file.path,
                line.unwrap_or(0) + 1,
                found,
                expected,
            ));
        }
    }
}

/// Key and layer of every dependency on a crate of ours, also those of one target only.
fn dependencies(manifest: &Table, free: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else {
            continue;
        };
        if key == "target" {
            for target in table.values().filter_map(Value::as_table) {
                found.extend(dependencies(target, free));
            }
        } else if key.ends_with("dependencies") && !free.contains(&key.as_str()) {
            let ours = |(key, value)| Some((String::clone(key), layer_of(key, value)?));
            found.extend(table.iter().filter_map(ours));
        }
    }
    found
}

/// The layer a dependency means, by its package name or its path.
fn layer_of(key: &str, value: &Value) -> Option<String> {
    let text = |name| value.get(name).and_then(Value::as_str);
    let package = text("package").unwrap_or(key);
    let by_name = match package {
        "gossamer-rt" => Some("gossamer"),
        _ => package.strip_prefix("gossamer-"),
    };
    let by_path = text("path").and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    let known = |name: &&str| allowed(name).is_some();
    by_name
        .filter(known)
        .or(by_path.filter(known))
        .map(str::to_string)
}
