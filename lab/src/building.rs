//! Builds contenders, apart from measuring them; a build that fails skips its rows, no more.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::catalogue::{Build, Catalogue, Contender};
use crate::esayln;
use crate::paths::Paths;
use crate::probe::{Found, probe};

/// What became of each build that some contender asks for: nothing to say, or why not.
pub type Built = BTreeMap<String, Result<(), String>>;

/// Makes every build that the selected contenders ask for, and says on stderr how long it took.
#[must_use]
pub fn build_all(catalogue: &Catalogue, selected: &[&Contender], paths: &Paths) -> Built {
    let mut built = Built::new();
    for name in selected
        .iter()
        .filter_map(|contender| contender.build.as_ref())
    {
        let Some(build) = catalogue.build(name).filter(|_| !built.contains_key(name)) else {
            continue;
        };
        let start = Instant::now();
        let outcome = build_one(catalogue, build, paths);
        match &outcome {
            Ok(()) => esayln!("built {name} in {:.1} s", start.elapsed().as_secs_f64()),
            Err(reason) => esayln!("not built: {name}: {reason}"),
        }
        built.insert(name.clone(), outcome);
    }
    built
}

fn build_one(catalogue: &Catalogue, build: &Build, paths: &Paths) -> Result<(), String> {
    for need in build.needs.iter().filter_map(|name| catalogue.need(name)) {
        if probe(need) == Found::No {
            return Err(format!("{} is not installed ({})", need.name, need.install));
        }
    }
    std::fs::create_dir_all(&paths.bin)
        .map_err(|error| format!("cannot make {}: {error}", paths.bin.display()))?;
    let argv: Vec<String> = build.argv.iter().map(|word| paths.fill(word)).collect();
    let output = Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(&build.dir)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("build failed: cannot start {}: {error}", argv[0]))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!(
        "build failed: {}",
        last.unwrap_or("it said nothing").trim()
    ))
}
