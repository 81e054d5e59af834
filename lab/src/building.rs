//! Builds contenders, apart from measuring them; a build that fails skips its rows, no more.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use crate::bounded::{self, End};
use crate::catalogue::{Build, Catalogue, Contender};
use crate::esayln;
use crate::format::shorten;
use crate::paths::Paths;
use crate::probe::Tools;

/// What became of each build that some contender asks for: nothing to say, or why not.
pub type Built = BTreeMap<String, Result<(), String>>;

/// Makes every build that the selected contenders ask for, and says on stderr how long it took. A
/// signal to the lab ends the one that it comes in, and there is no other then.
#[must_use]
pub fn build_all(
    catalogue: &Catalogue,
    selected: &[&Contender],
    paths: &Paths,
    tools: &Tools,
) -> Built {
    let mut built = Built::new();
    for name in selected
        .iter()
        .filter_map(|contender| contender.build.as_ref())
    {
        let Some(build) = catalogue.build(name).filter(|_| !built.contains_key(name)) else {
            continue;
        };
        if tools.go_on().is_err() {
            break;
        }
        let start = Instant::now();
        let outcome = build_one(catalogue, build, paths, tools);
        match &outcome {
            Ok(()) => esayln!("built {name} in {:.1} s", start.elapsed().as_secs_f64()),
            Err(reason) => esayln!("not built: {name}: {reason}"),
        }
        built.insert(name.clone(), outcome);
    }
    built
}

fn build_one(
    catalogue: &Catalogue,
    build: &Build,
    paths: &Paths,
    tools: &Tools,
) -> Result<(), String> {
    let mut needs = build.needs.iter().filter_map(|name| catalogue.need(name));
    if let Some(lack) = needs.find_map(|need| tools.lack(need)) {
        return Err(lack);
    }
    std::fs::create_dir_all(&paths.bin)
        .map_err(|error| format!("cannot make {}: {error}", paths.bin.display()))?;
    let argv: Vec<String> = build.argv.iter().map(|word| paths.fill(word)).collect();
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).current_dir(&build.dir);
    let limits = tools.building();
    let ran = bounded::run(&mut command, limits, tools.stop())
        .map_err(|error| format!("build failed: cannot start {}: {error}", argv[0]))?;
    let what = match ran.end {
        End::Exited(status) if status.success() => return Ok(()),
        End::Exited(_) => {
            let mut lines = ran.stderr.lines().rev();
            let last = lines.find(|line| !line.trim().is_empty());
            shorten(last.unwrap_or("it said nothing"))
        }
        End::Late => format!("stopped after {}", limits.time_text()),
        End::Flooded => limits.flood_text(),
        End::Interrupted(signal) => format!("interrupted by signal {signal}"),
    };
    Err(format!("build failed: {what}"))
}
