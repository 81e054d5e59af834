//! The programs that are explored.

use std::sync::Arc;

use gossamer::sync::MVar;

/// Each task takes and puts by turns, `operations` times together, a cell of its own.
pub(crate) async fn own(tasks: usize, operations: usize) -> usize {
    let cells: Arc<Vec<MVar<()>>> = Arc::new((0..tasks).map(|_| MVar::new(())).collect());
    let tasks: Vec<_> = (0..tasks)
        .map(|task| {
            let cells = cells.clone();
            gossamer::spawn(async move {
                for operation in 0..operations {
                    match operation % 2 {
                        0 => cells[task].take().await,
                        _ => cells[task].put(()).await,
                    }
                }
                operations
            })
        })
        .collect();
    let mut all = 0;
    for task in tasks {
        all += task.await.expect("nobody panics");
    }
    all
}

/// Each task takes the number out of one cell and puts it back with its own digit behind it.
pub(crate) async fn shared(tasks: u32) -> u32 {
    let cell = Arc::new(MVar::new(0));
    let tasks: Vec<_> = (1..=tasks)
        .map(|digit| {
            let cell = cell.clone();
            gossamer::spawn(async move {
                let number = cell.take().await;
                cell.put(number * 10 + digit).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("nobody panics");
    }
    cell.take().await
}

/// Each philosopher takes the left fork and then the right one, and puts them back in that order.
pub(crate) async fn dine(philosophers: usize) {
    let forks: Arc<Vec<MVar<()>>> = Arc::new((0..philosophers).map(|_| MVar::new(())).collect());
    let tasks: Vec<_> = (0..philosophers)
        .map(|at| {
            let forks = forks.clone();
            gossamer::spawn(async move {
                let (left, right) = (&forks[at], &forks[(at + 1) % philosophers]);
                left.take().await;
                right.take().await;
                left.put(()).await;
                right.put(()).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("nobody panics");
    }
}
