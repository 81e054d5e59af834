//! Inputs that contenders read from a file: the lab makes them, apart from the measuring.
//!
//! A contender of such a workload gets no options, which are in the file, but the file: `{input}` in its command. One
//! that was made stays, for the next run.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::catalogue::Contender;
use crate::esayln;
use crate::paths::Paths;
use crate::workload::{Values, Workload};
use crate::workloads::nucleotides;

/// What stands for the file in a command.
const PLACE: &str = "{input}";

type Writer = fn(&Values, &mut dyn Write) -> io::Result<()>;

/// What writes the inputs of a workload that has any, and how their names end.
fn writer(workload: &Workload) -> Option<(Writer, &'static str)> {
    match workload.name {
        "k-nucleotide" => Some((nucleotides::write, "fa")),
        _ => None,
    }
}

/// The file for these values; `None` if the workload has none.
fn path(workload: &Workload, values: &Values, paths: &Paths) -> Option<PathBuf> {
    let (_, end) = writer(workload)?;
    let values = values.words().concat().replace("--", "-");
    let name = format!("{}{values}.{end}", workload.name);
    Some(paths.out.join("inputs").join(name))
}

/// What to start for these values.
#[must_use]
pub fn command(
    contender: &Contender,
    workload: &Workload,
    values: &Values,
    paths: &Paths,
) -> Vec<String> {
    let words = contender.command(workload.name);
    let words = words.iter().map(|word| paths.fill(word));
    match path(workload, values, paths) {
        None => words.chain(values.words()).collect(),
        Some(path) => {
            let path = path.display().to_string();
            words.map(|word| word.replace(PLACE, &path)).collect()
        }
    }
}

/// Writes the file for these values unless it is there.
///
/// # Errors
/// It cannot be written.
pub fn make(workload: &Workload, values: &Values, paths: &Paths) -> Result<()> {
    let (Some((write, _)), Some(path)) = (writer(workload), path(workload, values, paths)) else {
        return Ok(());
    };
    if path.exists() {
        return Ok(());
    }
    // Under its name it is always whole; and each lab writes its own, if there are several.
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let made = || -> io::Result<()> {
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let mut out = BufWriter::new(std::fs::File::create(&part)?);
        write(values, &mut out)?;
        out.into_inner()?.sync_all()?;
        std::fs::rename(&part, &path)
    };
    made().with_context(|| format!("cannot write the input {}", path.display()))?;
    esayln!("wrote the input {}; it is not measured", path.display());
    Ok(())
}
