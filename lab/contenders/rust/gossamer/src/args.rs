//! The command line that every contender understands.

/// What to run.
#[derive(Debug)]
pub(crate) struct Args {
    /// Which of ours.
    pub(crate) kind: String,
    /// Tasks in the ring.
    pub(crate) threads: usize,
    /// What the token begins with.
    pub(crate) hops: u32,
    /// In which order the tasks are spawned.
    pub(crate) order: String,
}

/// Reads `ring --kind KIND --threads N --hops H --order O`.
pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    match words.next().as_deref() {
        Some("ring") => {}
        other => return Err(format!("the workload is {other:?}, expected: ring")),
    }
    let mut args = Args {
        kind: "single-local".into(),
        threads: 503,
        hops: 1_000,
        order: "forward".into(),
    };
    while let Some(option) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--kind" => args.kind = value,
            "--threads" => args.threads = number(&option, &value)?,
            "--hops" => args.hops = number(&option, &value)?,
            "--order" => args.order = value,
            _ => {
                return Err(format!(
                    "{option} is none of --kind, --threads, --hops, --order"
                ));
            }
        }
    }
    if args.threads == 0 {
        return Err("--threads 0: a ring has at least one".into());
    }
    Ok(args)
}

/// A number, or a message that names the option.
pub(crate) fn number<N: std::str::FromStr>(option: &str, value: &str) -> Result<N, String> {
    value
        .parse()
        .map_err(|_| format!("{option} {value}: expected a number"))
}

/// The order in which the tasks are spawned.
pub(crate) fn spawn_order(args: &Args) -> Result<Vec<usize>, String> {
    let mut order: Vec<usize> = (0..args.threads).collect();
    match args.order.as_str() {
        "forward" => {}
        "reverse" => order.reverse(),
        "shuffled" => shuffle(&mut order),
        other => {
            return Err(format!(
                "--order {other}: expected forward, reverse or shuffled"
            ));
        }
    }
    Ok(order)
}

/// Fisher and Yates, with a fixed seed.
fn shuffle(order: &mut [usize]) {
    let mut state: u64 = 1;
    for last in (1..order.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        order.swap(last, usize::try_from(state >> 33).unwrap_or(0) % (last + 1));
    }
}
