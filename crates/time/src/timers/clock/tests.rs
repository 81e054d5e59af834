//! A counter that does what it likes, and a clock that does not.

use super::*;

/// Numbers of all magnitudes.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.next().is_multiple_of(number)
    }

    fn up_to_bits(&mut self, bits: u64) -> u64 {
        let bits = 1 + self.next() % bits;
        self.next() >> (64 - bits)
    }
}

/// The real time, and a counter beside it.
struct World {
    random: Random,
    /// Nanoseconds.
    now: u64,
    count: f64,
    /// How many counts a nanosecond takes.
    pace: f64,
}

/// Counts a nanosecond, of processors that there are.
const PACES: [f64; 4] = [0.4, 1.0, 2.5, 5.7];

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Self {
            now: 1 << 50,
            count: random.up_to_bits(50) as f64,
            pace: PACES[random.next() as usize % PACES.len()],
            random,
        }
    }

    fn pass(&mut self, nanos: u64) {
        self.now += nanos;
        self.count += nanos as f64 * self.pace;
    }

    fn stamp(&self) -> u64 {
        self.count as u64
    }

    /// Reads both, with this time between them.
    fn pair(&mut self, aside: u64) -> Pair {
        let count = self.stamp();
        self.pass(aside);
        Pair {
            count,
            nanos: self.now,
        }
    }

    /// Disturbs the counter as suspends, snapshots and their like do.
    fn disturb(&mut self) {
        match self.random.next() % 4 {
            // Set back, a little or to the beginning.
            0 => self.count = (self.count - self.random.up_to_bits(50) as f64).max(0.0),
            // Set forward.
            1 => self.count += self.random.up_to_bits(50) as f64,
            // It stands still.
            2 => self.now += self.random.up_to_bits(42),
            // Another machine's.
            _ => {
                self.pace = PACES[self.random.next() as usize % PACES.len()];
                self.count = self.random.up_to_bits(50) as f64;
            }
        }
    }
}

/// Lets time pass in which stamps are made, and something may happen to the counter; gives them, with their moments.
fn stamps(world: &mut World, disturbed: bool) -> Vec<(u64, u64)> {
    let pieces = 1 + world.random.next() % 6;
    let happens = world.random.next() % pieces;
    let bits = 8 + world.random.next() % 30;
    let mut made = Vec::new();
    for piece in 0..pieces {
        let nanos = world.random.up_to_bits(bits);
        world.pass(nanos);
        made.push((world.stamp(), world.now));
        if disturbed && piece == happens {
            world.disturb();
        }
    }
    let nanos = world.random.up_to_bits(bits);
    world.pass(nanos);
    made
}

/// No stamp is dated too early, and where the counter has kept pace for a while hardly any too late. (It may still be
/// found out then that it had not before.)
#[test]
fn a_counter_that_is_set_back_set_forward_or_stands_still() {
    let (mut precise, mut late) = (0, 0);
    for seed in 1..3_000 {
        let mut world = World::new(seed);
        let mut clock = Clock::begun(world.pair(0));
        let mut calm_looks = Vec::new();
        for _ in 0..200 {
            let disturbed = world.random.one_in(10);
            let before = clock.last.nanos;
            let made = stamps(&mut world, disturbed);
            // Now and then the thread is put aside while it looks.
            let aside = match world.random.one_in(30) {
                true => world.random.up_to_bits(24),
                false => world.random.next() % 60,
            };
            let here = world.pair(aside);
            let look = clock.look_at(here);
            let calm = !disturbed && aside < 60;
            // After a disturbance, the first look after a long time shows that the rate is of no use, and ends a baseline
            // that is of none; the next two find it anew.
            let passed = here.nanos - before;
            let is_long = |long: &&u64| **long >= passed.max(BASELINE);
            let known = calm && calm_looks.iter().filter(is_long).count() >= 3;
            for (stamp, then) in made {
                let dated = look.date(stamp, 0);
                let early = then.saturating_sub(dated);
                assert_eq!(early, 0, "seed {seed}: so many ns too early");
                assert!(dated <= here.nanos, "seed {seed}: after the look");
                if known && dated <= then + 2 * look.margin {
                    precise += 1;
                } else if known {
                    late += 1;
                }
            }
            if calm {
                calm_looks.push(passed);
            } else {
                calm_looks.clear();
            }
        }
    }
    assert!(
        precise > 100_000 && late < precise / 1_000,
        "{precise} were dated precisely, and {late} too late"
    );
}

/// A rate that no processor has is not believed: one count of such a counter is longer than the margin.
#[test]
fn a_counter_that_hardly_counts() {
    for count in [1 << 10, 1 << 12, 1 << 14, 1 << 18] {
        let mut world = World::new(7);
        (world.pace, world.count) = (1.0 / count as f64, 0.0);
        let mut clock = Clock::begun(world.pair(0));
        for _ in 0..100_000 {
            // Mostly about as long as a count takes.
            let long = if world.random.one_in(10) {
                1 << 30
            } else {
                count
            };
            let (before, after) = (world.random.next() % long, world.random.next() % count);
            world.pass(before);
            let (stamp, then) = (world.stamp(), world.now);
            world.pass(after);
            let here = world.pair(0);
            let dated = clock.look_at(here).date(stamp, 0);
            assert!(dated >= then, "{} ns too early", then - dated);
        }
    }
}

/// The rate is found anew, and soon: after a suspend the counter begins at nothing.
#[test]
fn set_back_for_good() {
    let mut world = World::new(1);
    let mut clock = Clock::begun(world.pair(20));
    let mut late = |world: &mut World| {
        world.pass(100_000);
        let (stamp, then) = (world.stamp(), world.now);
        world.pass(300_000);
        let here = world.pair(20);
        let dated = clock.look_at(here).date(stamp, 0);
        assert!(dated >= then, "{} ns too early", then - dated);
        dated - then
    };
    for _ in 0..3 {
        let lateness: Vec<_> = (0..1_000).map(|_| late(&mut world)).collect();
        assert!(lateness[0] <= 300_020, "dated at the look");
        assert!(lateness[10..].iter().all(|late| *late < 3_000));
        // For a day.
        world.now += 86_400_000_000_000;
        world.count = 1e6;
    }
}
