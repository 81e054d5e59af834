//! The energy that the processors used, by RAPL: counters of microjoules under `/sys`, one a
//! processor package, that the drivers for Intel's and AMD's processors keep alike.
//!
//! They count everything that runs on the machine, and they wrap around. Most kernels let only
//! root read them, and a virtual machine has none; then the energy is unknown, with a reason.

use std::path::{Path, PathBuf};

/// Counts joules from when it is opened.
#[derive(Debug)]
pub struct Meter {
    packages: Vec<Package>,
}

/// One processor package.
#[derive(Debug)]
struct Package {
    counter: PathBuf,
    /// The most the counter can show; unknown if there is no such file.
    range_uj: Option<u64>,
    last_uj: u64,
    used_uj: u64,
}

impl Meter {
    /// Opens all packages below this root of `/sys`.
    ///
    /// # Errors
    /// There are none, or one cannot be read; in words for people.
    pub fn open(sys: &Path) -> Result<Meter, String> {
        let folder = sys.join("class/powercap");
        let names = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut zones: Vec<PathBuf> = names
            .filter(|entry| is_zone(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .filter(|zone| is_package(zone))
            .collect();
        if zones.is_empty() {
            return Err(format!(
                "no {}/intel-rapl:*: this machine has no RAPL counter, or hides it as virtual \
                 machines do",
                folder.display()
            ));
        }
        zones.sort();
        let packages: Result<Vec<Package>, String> =
            zones.iter().map(|zone| Package::open(zone)).collect();
        Ok(Meter {
            packages: packages?,
        })
    }

    /// Adds what was used since the last time; often enough, or a counter wraps around unseen (in
    /// a minute at the earliest).
    ///
    /// # Errors
    /// A counter cannot be read any more, or went back by an unknown amount.
    pub fn update(&mut self) -> Result<(), String> {
        self.packages.iter_mut().try_for_each(Package::update)
    }

    /// What was used from the opening to the last update, by all packages.
    #[must_use]
    pub fn joules(&self) -> f64 {
        let used: u64 = self.packages.iter().map(|package| package.used_uj).sum();
        used as f64 / 1e6
    }
}

/// `intel-rapl:0`, but not its parts (`intel-rapl:0:1`), nor the same package by another way
/// (`intel-rapl-mmio:0`).
fn is_zone(name: &str) -> bool {
    name.strip_prefix("intel-rapl:")
        .is_some_and(|rest| !rest.is_empty() && !rest.contains(':'))
}

/// Some zones are no package: `psys` is the whole machine and has the packages in it.
fn is_package(zone: &Path) -> bool {
    std::fs::read_to_string(zone.join("name")).map_or(true, |name| name.starts_with("package"))
}

impl Package {
    fn open(zone: &Path) -> Result<Package, String> {
        let counter = zone.join("energy_uj");
        Ok(Package {
            last_uj: read(&counter)?,
            range_uj: read(&zone.join("max_energy_range_uj")).ok(),
            counter,
            used_uj: 0,
        })
    }

    fn update(&mut self) -> Result<(), String> {
        let now = read(&self.counter)?;
        self.used_uj += if now >= self.last_uj {
            now - self.last_uj
        } else {
            let range = self.range_uj.filter(|range| *range >= self.last_uj);
            let range = range.ok_or_else(|| {
                format!(
                    "{} went back, and max_energy_range_uj beside it does not say from where",
                    self.counter.display()
                )
            })?;
            range - self.last_uj + now
        };
        self.last_uj = now;
        Ok(())
    }
}

fn read(file: &Path) -> Result<u64, String> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let advice = match error.kind() {
            std::io::ErrorKind::PermissionDenied => " (only root may; ask them to allow it)",
            _ => "",
        };
        format!("cannot read {}: {error}{advice}", file.display())
    })?;
    let text = text.trim();
    text.parse().map_err(|_| {
        format!(
            "{} holds {text:?}, expected a number of microjoules",
            file.display()
        )
    })
}

#[cfg(test)]
mod tests;
