//! Shares of the time: nobody can take all of it while others wait.

use super::*;

/// What all jobs together take that use up their share; the clock stands still meanwhile.
fn all_of(jobs: u32) -> f64 {
    let mut left = 1.0;
    for waiting in (1..=jobs).rev() {
        let mut clock = Clock::new(Some(left * 1_000.0), waiting as usize);
        let share = clock.next_share().as_secs_f64() / 1_000.0;
        assert!(share <= left, "{share} of {left}");
        assert!(
            waiting == 1 || share <= left * 0.500_001,
            "{share} of {left}"
        );
        left -= share;
    }
    1.0 - left
}

#[test]
fn shares_never_add_up_to_more_than_there_is() {
    for jobs in [1, 2, 3, 30, 900] {
        let all = all_of(jobs);
        assert!((0.9..=1.000_001).contains(&all), "{jobs} jobs took {all}");
    }
}

#[test]
fn a_workload_has_its_jobs_part() {
    let clock = Clock::new(Some(90.0), 9);
    let part = clock.part(3).as_secs_f64();
    assert!((29.0..=30.0).contains(&part), "{part}");
    let none = Clock::new(None, 9);
    assert!(
        none.left() > Duration::from_secs(1 << 40) && none.part(3) > Duration::from_secs(1 << 40)
    );
}
