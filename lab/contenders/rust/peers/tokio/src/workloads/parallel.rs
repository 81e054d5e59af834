//! Computations that call themselves: a task for one half, and the other half in the task itself.

use std::pin::Pin;

use parallel::items;
use peer_ring::Failure;
use tokio_contender::options::Options;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

fn fibonacci(n: u64) -> Boxed<u64> {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let other = tokio::spawn(fibonacci(n - 1));
        let own = fibonacci(n - 2).await;
        // A task that got lost would make the number wrong, which the lab sees.
        own + other.await.unwrap_or(0)
    })
}

/// The sum of so many Fibonacci numbers.
pub fn fib(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--rounds", "--n"])?;
    let (rounds, n) = (options.number("--rounds", 1)?, options.number("--n", 20)?);
    let all = async move {
        let mut sum = 0;
        for _ in 0..rounds {
            sum += fibonacci(n).await;
        }
        sum
    };
    Ok(options
        .runtime()?
        .block_on(async { tokio::spawn(all).await })?)
}

/// A task owns what it sorts: the larger half is moved out, and back.
fn sorted(mut items: Vec<u32>) -> Boxed<Vec<u32>> {
    Box::pin(async move {
        if items.len() <= items::ALONE {
            items.sort_unstable();
            return items;
        }
        let middle = items::partition(&mut items);
        let right = items.split_off(middle + 1);
        let pivot = items.pop();
        let right = tokio::spawn(sorted(right));
        let mut all = sorted(items).await;
        all.extend(pivot);
        all.extend(right.await.unwrap_or_default());
        all
    })
}

/// The sum of each sorted number times its place.
pub fn quicksort(options: &Options) -> Result<u64, Failure> {
    options.only(&["--kind", "--items"])?;
    let items = items::shuffled(options.number("--items", 1000)?);
    let runtime = options.runtime()?;
    let items = runtime.block_on(async { tokio::spawn(sorted(items)).await })?;
    Ok(items::sum(&items))
}
