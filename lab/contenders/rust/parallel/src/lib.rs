//! The workloads `fib`, `quicksort` and `skynet` for those who can join and map: all but these two operations.
#![forbid(unsafe_code)]

pub mod items;

use waiting::Options;

/// A library that computes in parallel.
pub trait Parallel {
    /// Calls both, perhaps at the same time.
    fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send;

    /// The results for 0, 1, … below `count`, perhaps made at the same time.
    fn map<R: Send>(count: u64, each: impl Fn(u64) -> R + Sync + Send) -> Vec<R>;
}

/// The number of threads that `--kind par-N` asks for.
///
/// # Errors
/// It asks for something else.
pub fn threads(options: &Options) -> Result<usize, String> {
    let kind = options.text("--kind", "par-1");
    let number = kind.strip_prefix("par-").and_then(|text| text.parse().ok());
    number.ok_or(format!("--kind {kind}: expected par-N"))
}

/// Runs the workload that was asked for.
///
/// # Errors
/// There is no such workload, or it has no such option.
pub fn run<P: Parallel>(options: &Options) -> Result<u64, String> {
    let number = |name, usual| options.number(name, usual);
    match options.workload.as_str() {
        "fib" => {
            options.only(&["--kind", "--rounds", "--n"])?;
            let (rounds, n) = (number("--rounds", 1)?, number("--n", 20)?);
            Ok((0..rounds).map(|_| fibonacci::<P>(n)).sum())
        }
        "quicksort" => {
            options.only(&["--kind", "--items"])?;
            let mut items = items::shuffled(number("--items", 1000)?);
            quicksort::<P>(&mut items);
            Ok(items::sum(&items))
        }
        "skynet" => {
            options.only(&["--kind", "--leaves"])?;
            Ok(tree::<P>(0, number("--leaves", 1000)?))
        }
        other => Err(format!("unknown workload '{other}'")),
    }
}

fn fibonacci<P: Parallel>(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = P::join(|| fibonacci::<P>(n - 1), || fibonacci::<P>(n - 2));
    a + b
}

fn quicksort<P: Parallel>(items: &mut [u32]) {
    if items.len() <= items::ALONE {
        return items.sort_unstable();
    }
    let middle = items::partition(items);
    let (left, right) = items.split_at_mut(middle);
    P::join(|| quicksort::<P>(left), || quicksort::<P>(&mut right[1..]));
}

/// The sum of so many leaves' numbers, of which the first is `first`.
fn tree<P: Parallel>(first: u64, leaves: u64) -> u64 {
    const CHILDREN: u64 = 10;
    if leaves == 1 {
        return first;
    }
    let each = leaves / CHILDREN;
    let children = P::map(CHILDREN, |child| tree::<P>(first + child * each, each));
    children.iter().sum()
}
