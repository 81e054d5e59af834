//! Whether the memory for a graph is there, before any of it is asked for.

use std::fs;
use std::path::Path;

/// What a run takes at its peak, roughly: the list of edges, the adjacency lists, and what search and checks keep for
/// each vertex, one bit of it for each of the `scanners`.
#[must_use]
pub fn estimate(vertices: f64, edges: f64, scanners: usize) -> f64 {
    // An edge has two ends of 4 bytes, and each end a place among the neighbours of the other. A vertex has its offset
    // (8) and degree; parent, level and two places in frontiers; and a copy of its parent for the checks.
    edges * 16.0 + vertices * (32.0 + scanners as f64 / 8.0)
}

/// How much the system and the control groups leave to this process, in bytes; `None` if nothing says so.
#[must_use]
pub fn available() -> Option<f64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok();
    let free = meminfo.as_deref().and_then(free);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = left_to_groups(&groups, Path::new("/sys/fs/cgroup"));
    free.into_iter().chain(left).reduce(f64::min)
}

/// The memory that can be had without swapping, of `/proc/meminfo`.
fn free(meminfo: &str) -> Option<f64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

/// The least that any of the process's control groups leaves: limit less use, of version 2 and of version 1.
pub(crate) fn left_to_groups(groups: &str, root: &Path) -> Option<f64> {
    let mut least: Option<f64> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (root, files) = match controllers {
            "" => (
                root.to_path_buf(),
                ["memory.max", "memory.current", "inactive_file "],
            ),
            _ if controllers.split(',').any(|one| one == "memory") => (
                root.join("memory"),
                [
                    "memory.limit_in_bytes",
                    "memory.usage_in_bytes",
                    "total_inactive_file ",
                ],
            ),
            _ => continue,
        };
        // Also the outer groups; in a container the path may be one of outside, and then only the root is there.
        for folder in Path::new(path.trim_start_matches('/')).ancestors() {
            let number = |file: &str| {
                let text = fs::read_to_string(root.join(folder).join(file)).ok()?;
                text.trim().parse::<f64>().ok()
            };
            // The system gives a group's old pages of files away before it refuses the group memory.
            let cache = || {
                let text = fs::read_to_string(root.join(folder).join("memory.stat")).ok()?;
                let mut lines = text.lines();
                let bytes = lines.find_map(|line| line.strip_prefix(files[2]))?;
                bytes.trim().parse::<f64>().ok()
            };
            let used = || number(files[1]).unwrap_or(0.0) - cache().unwrap_or(0.0);
            let left = number(files[0]).map(|limit| limit - used().max(0.0));
            least = least.into_iter().chain(left).reduce(f64::min);
        }
    }
    least
}

/// Bytes as people read them.
#[must_use]
pub fn readable(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match value < 1e6 {
        true => format!("{value:.1} {}", UNITS[unit]),
        false => format!("{value:.1e} {}", UNITS[unit]),
    }
}

/// Refuses a graph for which there is not enough memory.
///
/// # Errors
/// What it takes, what there is, and what to do.
pub fn check(
    what: &str,
    vertices: f64,
    edges: f64,
    scanners: usize,
    available: Option<f64>,
) -> Result<(), String> {
    let needed = estimate(vertices, edges, scanners);
    match available.filter(|available| needed > *available) {
        None => Ok(()),
        Some(available) => Err(format!(
            "{what} takes about {} of memory, and this machine (or control group) has {} left; give a smaller one",
            readable(needed),
            readable(available.max(0.0))
        )),
    }
}
