//! Energy, on a tree of files that the tests change.

use super::*;

struct Fake(tempfile::TempDir);

impl Fake {
    fn new() -> Fake {
        Fake(tempfile::tempdir().expect("a temporary folder"))
    }

    fn set(&self, zone: &str, file: &str, text: &str) {
        let folder = self.0.path().join("class/powercap").join(zone);
        std::fs::create_dir_all(&folder).expect("our own folder");
        std::fs::write(folder.join(file), text).expect("our own folder");
    }

    fn package(&self, number: usize, energy: &str) {
        let zone = format!("intel-rapl:{number}");
        self.set(&zone, "name", &format!("package-{number}\n"));
        self.set(&zone, "max_energy_range_uj", "1000000\n");
        self.set(&zone, "energy_uj", energy);
    }

    fn open(&self) -> Result<Meter, String> {
        Meter::open(self.0.path())
    }
}

#[test]
fn packages_are_added_up() {
    let fake = Fake::new();
    fake.package(0, "900000\n");
    fake.package(1, "5\n");
    let mut meter = fake.open().expect("two packages");
    assert_eq!(meter.joules(), 0.0);
    fake.package(0, "950000\n");
    fake.package(1, "10\n");
    assert_eq!(meter.update(), Ok(()));
    assert_eq!(meter.joules(), 0.050_005);
    assert_eq!(meter.update(), Ok(()));
    assert_eq!(meter.joules(), 0.050_005);
}

#[test]
fn a_counter_wraps_around() {
    let fake = Fake::new();
    fake.package(0, "900000");
    let mut meter = fake.open().expect("a package");
    for energy in ["100000", "999999", "0"] {
        fake.package(0, energy);
        assert_eq!(meter.update(), Ok(()));
    }
    assert_eq!(meter.joules(), 1.1);
}

#[test]
fn other_zones_do_not_count() {
    let fake = Fake::new();
    fake.package(0, "0");
    for zone in [
        "intel-rapl",
        "intel-rapl:0:0",
        "intel-rapl-mmio:0",
        "intel-rapl:1",
    ] {
        fake.set(zone, "name", "psys\n");
        fake.set(zone, "energy_uj", "0");
    }
    let mut meter = fake.open().expect("a package");
    fake.package(0, "2000");
    for zone in ["intel-rapl:0:0", "intel-rapl-mmio:0", "intel-rapl:1"] {
        fake.set(zone, "energy_uj", "70000");
    }
    assert_eq!(meter.update(), Ok(()));
    assert_eq!(meter.joules(), 0.002);
}

#[track_caller]
fn unknown(outcome: Result<impl std::fmt::Debug, String>, part: &str) {
    let reason = outcome.expect_err("the energy cannot be known");
    assert!(reason.contains(part), "no '{part}' in: {reason}");
}

#[test]
fn what_is_not_known_has_a_reason() {
    let fake = Fake::new();
    unknown(fake.open(), "class/powercap/intel-rapl:*");
    fake.set("intel-rapl:0", "name", "psys\n");
    unknown(fake.open(), "no RAPL counter");
    fake.package(0, "some\n");
    unknown(
        fake.open(),
        "holds \"some\", expected a number of microjoules",
    );
    let counter = fake.0.path().join("class/powercap/intel-rapl:0/energy_uj");
    std::fs::remove_file(&counter).expect("our own file");
    std::fs::create_dir(&counter).expect("our own folder");
    unknown(fake.open(), "cannot read");
}

#[test]
fn a_counter_that_goes_back_or_away_is_unknown() {
    let fake = Fake::new();
    fake.package(0, "900");
    fake.set("intel-rapl:0", "max_energy_range_uj", "0");
    let mut meter = fake.open().expect("a package");
    fake.set("intel-rapl:0", "energy_uj", "899");
    unknown(meter.update(), "went back");
    let zone = fake.0.path().join("class/powercap/intel-rapl:0");
    std::fs::remove_dir_all(zone).expect("our own folder");
    unknown(meter.update(), "cannot read");
}
