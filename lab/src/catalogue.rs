//! What the contenders.toml of each language says: the tools that are needed, the builds, the contenders, and those
//! that cannot be had any more.
//!
//! Adding a contender is adding to such a file and its folder; no code here knows any by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::workloads::find;

/// One file, or all of them together.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// Tools and headers that builds ask for by name.
    #[serde(default, rename = "need")]
    pub needs: Vec<Need>,
    /// Builds; several contenders may share one.
    #[serde(default, rename = "build")]
    pub builds: Vec<Build>,
    /// The contenders, in the order in which they are listed and run.
    #[serde(default, rename = "contender")]
    pub contenders: Vec<Contender>,
    /// What the seeds compare or name, and nobody can run here.
    #[serde(default, rename = "absent")]
    pub absent: Vec<Absent>,
}

/// Something that cannot be measured any more.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// Its name.
    pub name: String,
    /// Why it cannot be installed.
    pub why: String,
}

/// Something a build needs to find on the machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The name that builds use.
    pub name: String,
    /// A program that must be on the path.
    pub tool: Option<String>,
    /// A C header that must compile.
    pub header: Option<String>,
    /// A command that must end well; the first line it prints is the version. `{here}` in it is the file's folder.
    #[serde(default)]
    pub check: Vec<String>,
    /// The arguments that make the tool print its version.
    #[serde(default)]
    pub version: Vec<String>,
    /// The Debian packages that bring it.
    #[serde(default)]
    pub debian: Vec<String>,
    /// What to tell someone who lacks it.
    pub install: String,
}

/// How to build one program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The name that contenders use.
    pub name: String,
    /// The needs without which it is not tried.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The folder to build in, relative to the file; absolute once it has been read.
    #[serde(default)]
    pub dir: PathBuf,
    /// The command.
    pub argv: Vec<String>,
}

/// One row of the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// `gossamer/<kind>` for ours, `<peer>` or `<peer>-<variant>` for the others.
    pub name: String,
    /// The language it is written in.
    pub language: String,
    /// What its threads are: `lightweight`, `POSIX`, `Ruby` as in the seed, or `control`.
    #[serde(default)]
    pub category: String,
    /// One line on what it is.
    pub about: String,
    /// The files in which its ring stands, without what it shares with others; relative to the list, absolute once it
    /// has been read.
    #[serde(default)]
    pub sources: Vec<PathBuf>,
    /// Whether its instructions can be counted: it is native and runs on one thread.
    #[serde(default)]
    pub counted: bool,
    /// The build that makes it.
    pub build: Option<String>,
    /// The command, `{workload}` standing for the name, for workloads that have none of their own.
    #[serde(default)]
    pub run: Vec<String>,
    /// How to run each workload it has.
    pub workload: BTreeMap<String, RunSpec>,
}

/// How a contender runs one workload.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The command, unless it is the contender's; the lab appends the workload's options.
    #[serde(default)]
    pub run: Vec<String>,
    /// Roughly what one operation costs, in nanoseconds; sizes a run, never enters a result.
    pub cost_ns: f64,
    /// An option that the cost is in proportion to; the cost is for its usual value.
    pub cost_grows_with: Option<String>,
    /// Options that must not be larger than this, or the row is skipped.
    #[serde(default)]
    pub at_most: BTreeMap<String, u64>,
    /// Options that must not be smaller than this, or the row is skipped.
    #[serde(default)]
    pub at_least: BTreeMap<String, u64>,
    /// The names of a choice that it has, or the row is skipped.
    #[serde(default)]
    pub choices: BTreeMap<String, Vec<String>>,
    /// What happens beyond that, for the row.
    #[serde(default)]
    pub beyond: String,
    /// Roughly the memory that one more of an option takes, in bytes; what does not fit into the machine is skipped.
    #[serde(default)]
    pub bytes_each: BTreeMap<String, u64>,
}

impl Contender {
    /// The command for one of its workloads, before its options; empty if there is none.
    #[must_use]
    pub fn command(&self, workload: &str) -> Vec<String> {
        let own = self.workload.get(workload).map(|spec| &spec.run);
        let run = own.filter(|run| !run.is_empty()).unwrap_or(&self.run);
        run.iter()
            .map(|word| word.replace("{workload}", workload))
            .collect()
    }
}

impl Catalogue {
    /// Reads and checks one file, or a folder in which each language has one (`c/contenders.toml`, …).
    ///
    /// # Errors
    /// A file cannot be read, is not what this module describes, or names what it lacks.
    pub fn load(path: &Path) -> Result<Catalogue> {
        let mut all = Catalogue::default();
        for file in files(path)? {
            let one = Catalogue::read(&file)?;
            all.needs.extend(one.needs);
            all.builds.extend(one.builds);
            all.contenders.extend(one.contenders);
            all.absent.extend(one.absent);
        }
        all.check()
            .with_context(|| format!("in {}", path.display()))?;
        Ok(all)
    }

    fn read(file: &Path) -> Result<Catalogue> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the list of contenders {}", file.display()))?;
        let mut one: Catalogue = toml::from_str(&text)
            .with_context(|| format!("{} is not a list of contenders", file.display()))?;
        let folder = file.parent().unwrap_or(Path::new("."));
        for build in &mut one.builds {
            build.dir = folder.join(&build.dir);
        }
        for file in one
            .contenders
            .iter_mut()
            .flat_map(|entry| &mut entry.sources)
        {
            *file = folder.join(&*file);
        }
        for word in one.needs.iter_mut().flat_map(|need| &mut need.check) {
            *word = word.replace("{here}", &folder.to_string_lossy());
        }
        Ok(one)
    }

    fn check(&self) -> Result<()> {
        for build in &self.builds {
            ensure!(
                !build.argv.is_empty(),
                "build {} has an empty argv",
                build.name
            );
            for need in &build.needs {
                ensure!(
                    self.need(need).is_some(),
                    "build {} needs unknown {need}",
                    build.name
                );
            }
        }
        for (index, contender) in self.contenders.iter().enumerate() {
            let name = &contender.name;
            if self.contenders[..index]
                .iter()
                .any(|earlier| earlier.name == *name)
            {
                bail!("contender {name} is listed twice");
            }
            if let Some(build) = &contender.build {
                ensure!(
                    self.build(build).is_some(),
                    "contender {name}: unknown build {build}"
                );
            }
            for (key, spec) in &contender.workload {
                let what = format!("contender {name}, workload {key}");
                let workload = find(key).with_context(|| format!("{what}: there is none"))?;
                ensure!(
                    !contender.command(key).is_empty(),
                    "{what}: there is no run"
                );
                ensure!(spec.cost_ns > 0.0, "{what}: cost_ns must be above 0");
                for option in spec
                    .cost_grows_with
                    .iter()
                    .chain(spec.at_most.keys())
                    .chain(spec.at_least.keys())
                    .chain(spec.choices.keys())
                    .chain(spec.bytes_each.keys())
                {
                    let known = workload.option(option).is_some();
                    ensure!(known, "{what}: there is no option {option}");
                }
            }
        }
        Ok(())
    }

    /// The need of this name.
    #[must_use]
    pub fn need(&self, name: &str) -> Option<&Need> {
        self.needs.iter().find(|need| need.name == name)
    }

    /// The build of this name.
    #[must_use]
    pub fn build(&self, name: &str) -> Option<&Build> {
        self.builds.iter().find(|build| build.name == name)
    }

    /// The contenders that have one of these workloads, or of them those in `only`.
    ///
    /// # Errors
    /// The first name in `only` that is not one of them; the message lists all that are.
    pub fn select(&self, workloads: &[&str], only: &[String]) -> Result<Vec<&Contender>, String> {
        let able = |entry: &&Contender| {
            workloads
                .iter()
                .any(|name| entry.workload.contains_key(*name))
        };
        let able: Vec<&Contender> = self.contenders.iter().filter(able).collect();
        let is_able = |name: &String| able.iter().any(|entry| entry.name == *name);
        if let Some(unknown) = only.iter().find(|name| !is_able(name)) {
            let valid: Vec<&str> = able.iter().map(|entry| entry.name.as_str()).collect();
            let (workloads, valid) = (workloads.join(", "), valid.join(", "));
            return Err(format!(
                "unknown contender '{unknown}' for {workloads}; the valid ones are: {valid}"
            ));
        }
        let chosen = |entry: &&Contender| only.is_empty() || only.contains(&entry.name);
        Ok(able.into_iter().filter(chosen).collect())
    }
}

fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).with_context(|| format!("{}", path.display()))? {
        files.push(entry?.path().join("contenders.toml"));
    }
    files.retain(|file| file.exists());
    files.sort();
    Ok(files)
}
