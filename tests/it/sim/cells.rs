//! Shared values whose reads and writes are operations.

use std::sync::Arc;

use gossamer::experiment::Outcome;
use gossamer::sim::Cell;
use gossamer::{JoinHandle, Wait};

use super::draws::merged;
use super::outcomes::p;

/// An update is lost in half of the schedules if it is a read and a write, and in none if it is one operation.
#[test]
fn all_kinds_read_and_write() {
    type Spawn = fn(Arc<Cell<u32>>) -> JoinHandle<()>;
    fn adds(cell: &Cell<u32>) {
        let before = cell.read().wait();
        cell.write(before + 1).wait();
    }
    let kinds: [Spawn; 3] = [
        |cell| {
            gossamer::spawn(async move {
                let before = cell.read().await;
                cell.write(before + 1).await;
            })
        },
        |cell| gossamer::spawn_fiber(move || adds(&cell)),
        |cell| gossamer::spawn_thread(move || adds(&cell)),
    ];
    for kind in kinds {
        let found = merged(async || {
            let cell = Arc::new(Cell::new(0));
            let others = [kind(cell.clone()), kind(cell.clone())];
            for other in others {
                other.await.expect("nobody panics");
            }
            cell.read().await
        });
        for number in [1, 2] {
            let probability = found.probability(&Outcome::Returned(number));
            assert_eq!(probability, p(1, 2), "{found}");
        }
    }
    let found = merged(async || {
        let cell = Arc::new(Cell::new(0));
        let theirs = cell.clone();
        let other = gossamer::spawn(async move { theirs.update(|number| *number += 1).await });
        cell.update(|number| *number += 1).await;
        other.await.expect("no panic");
        cell.read().await
    });
    assert_eq!(found.probability(&Outcome::Returned(2)), p(1, 1), "{found}");
}

/// Without a simulation they do the same, one after the other.
#[test]
fn cells_work_outside() {
    let cell = Cell::from(1);
    assert_eq!(cell.write(2).wait(), 1);
    assert_eq!(cell.update(|number| *number * 10).wait(), 20);
    assert_eq!(format!("{cell:?}"), "Cell(Mutex { data: 2 })");
    assert_eq!(cell.into_inner(), 2);
    assert_eq!(Cell::<u8>::default().read().wait(), 0);
}
