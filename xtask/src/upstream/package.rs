//! Where the tests come from, and the package that they are laid out in.

use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::NotThere;
use super::list::Suite;

/// The folder of the crate in cargo's cache; fetches it if it is not there.
///
/// # Errors
/// When it cannot be fetched ([`NotThere`]).
pub fn find(root: &Path, suite: &Suite) -> Result<PathBuf> {
    let name = format!("{}-{}", suite.krate, suite.version);
    if let Some(folder) = cached(&name)? {
        return Ok(folder);
    }
    let folder = root.join("target/upstream/fetch").join(&suite.name);
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[lib]\npath = \"empty.rs\"\n[dependencies]\n\
         {} = \"={}\"\n",
        suite.krate, suite.version
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    write(&folder.join("empty.rs"), "")?;
    let fetch = Command::new("cargo")
        .arg("fetch")
        .current_dir(&folder)
        .status();
    fetch.context("cannot start cargo")?;
    let gone = || {
        NotThere(format!(
            "{name} is not in cargo's cache, and could not be fetched"
        ))
    };
    Ok(cached(&name)?.ok_or_else(gone)?)
}

fn cached(name: &str) -> Result<Option<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registries = home
        .context("neither CARGO_HOME nor a home")?
        .join("registry/src");
    let Ok(registries) = std::fs::read_dir(registries) else {
        return Ok(None);
    };
    let mut folders = registries
        .flatten()
        .map(|registry| registry.path().join(name));
    Ok(folders.find(|folder| folder.join("Cargo.toml").is_file()))
}

/// Writes the package of a suite, with the tests as they are, and gives its folder.
///
/// # Errors
/// When a file is not there or cannot be written.
pub fn lay_out(root: &Path, suite: &Suite, source: &Path) -> Result<PathBuf> {
    let folder = root.join("target/upstream").join(&suite.name);
    let tests = folder.join("tests");
    let old = std::fs::read_dir(&tests).into_iter().flatten().flatten();
    let old = old.filter(|old| old.path().is_file() && !is_one_of(&old.path(), &suite.files));
    for old in old {
        std::fs::remove_file(old.path()).context("target/upstream")?;
    }
    for file in suite.files.iter().chain(&suite.helpers) {
        let from = source.join(format!("tests/{file}.rs"));
        let text = std::fs::read_to_string(&from).with_context(|| format!("{}", from.display()))?;
        write_if_new(&tests.join(format!("{file}.rs")), &text)?;
    }
    let theirs = std::fs::read_to_string(source.join("Cargo.toml")).context("its Cargo.toml")?;
    let facade = root.join(&suite.facade);
    let package = std::fs::read_to_string(facade.join("Cargo.toml")).context("the facade")?;
    let text = manifest(suite, &theirs.parse()?, &package.parse()?, &facade)?;
    write_if_new(&folder.join("Cargo.toml"), &text)?;
    write_if_new(&folder.join("empty.rs"), "")?;
    Ok(folder)
}

/// Whether it is the Rust file of one of these names.
fn is_one_of(path: &Path, names: &[String]) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    stem.is_some_and(|stem| names.iter().any(|name| *name == stem))
}

/// The package's manifest: the facade under the crate's name, what else the tests use as the crate itself asks for it,
/// and the crate's edition.
pub fn manifest(suite: &Suite, theirs: &Table, facade: &Table, at: &Path) -> Result<String> {
    let of = |table: &Table, key: &str| {
        let value = table.get("package").and_then(|package| package.get(key));
        value
            .cloned()
            .with_context(|| format!("a manifest without package.{key}"))
    };
    let mut package = Table::new();
    package.insert("name".into(), "black-box".into());
    package.insert("version".into(), "0.0.0".into());
    package.insert("edition".into(), of(theirs, "edition")?);
    let mut ours = Table::new();
    ours.insert("package".into(), of(facade, "name")?);
    ours.insert("path".into(), at.to_string_lossy().into_owned().into());
    let mut dependencies = Table::from_iter([(suite.krate.clone(), Value::Table(ours))]);
    for name in &suite.with {
        let theirs =
            used_by(theirs, name).with_context(|| format!("{} uses no {name}", suite.krate))?;
        let mut theirs = theirs.clone();
        if let Value::Table(theirs) = &mut theirs {
            // One that only a feature brings in is there all the same.
            theirs.remove("optional");
        }
        dependencies.insert(name.clone(), theirs);
    }
    let mut features = Table::new();
    features.insert("default".into(), suite.features.clone().into());
    for feature in &suite.features {
        let turns_on = theirs
            .get("features")
            .and_then(|table| table.get(feature)?.as_array());
        let turns_on = turns_on.into_iter().flatten().filter_map(Value::as_str);
        // Of what the tests use; the rest was for the crate that the facade stands for.
        let is_used = |what: &&str| {
            suite
                .with
                .iter()
                .any(|name| what.starts_with(&format!("{name}/")))
        };
        let turns_on: Vec<&str> = turns_on.filter(is_used).collect();
        features.insert(feature.clone(), turns_on.into());
    }
    let release = Table::from_iter([("debug-assertions".to_string(), Value::Boolean(true))]);
    let manifest = [
        ("package", package),
        ("workspace", Table::new()),
        (
            "lib",
            Table::from_iter([("path".to_string(), "empty.rs".into())]),
        ),
        ("features", features),
        ("dependencies", dependencies),
        (
            "profile",
            Table::from_iter([("release".to_string(), Value::Table(release))]),
        ),
    ];
    let manifest = manifest.map(|(key, table)| (key.to_string(), Value::Table(table)));
    Ok(Table::from_iter(manifest).to_string())
}

/// How a crate asks for what it uses, be it for some platforms only.
fn used_by<'a>(theirs: &'a Table, name: &str) -> Option<&'a Value> {
    let platforms = theirs.get("target").and_then(Value::as_table);
    let of_platforms = platforms.into_iter().flat_map(Table::values);
    let mut tables = iter::once(theirs).chain(of_platforms.filter_map(Value::as_table));
    tables.find_map(|table| {
        let mut kinds = ["dev-dependencies", "dependencies"].into_iter();
        kinds.find_map(|kind| table.get(kind)?.get(name))
    })
}

/// What is as it was keeps its date, so that it is not built anew.
fn write_if_new(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    write(path, text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().context("a file without a folder")?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, text))
        .with_context(|| format!("{}", path.display()))
}
