//! Callgrind's count of each instruction of a program.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// How often each instruction of the program itself was executed, by its address there.
///
/// # Errors
/// When valgrind cannot be started, or the program fails.
pub(super) fn of(program: &Path, arguments: &[String]) -> Result<HashMap<u64, u64>> {
    let out = std::env::temp_dir().join(format!("gossamer-hops-{}", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--dump-instr=yes", "--dump-line=no"])
        .args(["--compress-pos=no", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(arguments)
        .output()
        .context("cannot start valgrind")?;
    let report = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}:\n{report}", program.display());
    let text = std::fs::read_to_string(&out).context("callgrind's count")?;
    std::fs::remove_file(&out).context("callgrind's count")?;
    Ok(read(&text, &program.display().to_string()))
}

/// Reads callgrind's format: `ob=` names the file that what follows is in, until the next one; a line of two numbers is
/// an address and its cost, but not the line after `calls=`, which has the cost of the call.
pub(super) fn read(text: &str, program: &str) -> HashMap<u64, u64> {
    let mut costs = HashMap::new();
    let (mut is_ours, mut is_call) = (false, false);
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            is_ours = object == program;
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if let Some((address, cost)) = line.split_once(' ')
            && let Some(digits) = address.strip_prefix("0x")
            && let (Ok(address), Ok(cost)) = (u64::from_str_radix(digits, 16), cost.parse::<u64>())
            && !std::mem::take(&mut is_call)
            && is_ours
        {
            *costs.entry(address).or_default() += cost;
        }
    }
    costs
}
