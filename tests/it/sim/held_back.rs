//! Operations that a simulation holds back, and what else may become of them.

use std::future::poll_fn;
use std::task::Poll;

use gossamer::Model;
use gossamer::channel::oneshot;
use gossamer::experiment::{Outcome, Probability};
use gossamer::sync::MVar;

use super::outcomes::of;
use crate::models::{runtime, watched};

/// What a simulation holds back, nobody else does.
#[test]
fn a_runtime_after_a_simulation() {
    watched("single", || {
        of(async || MVar::new(1).take().await);
        let rt = runtime(Model::Single);
        rt.block_on(async {
            let cell = MVar::new(0);
            for _ in 0..20_000 {
                let number = cell.take().await;
                cell.put(number + 1).await;
            }
            assert_eq!(cell.take().await, 20_000);
        });
    });
}

/// An operation that is held back may be forgotten, and its object dropped; or it is dropped by another task.
#[test]
fn operations_that_are_held_back_end_otherwise() {
    let found = of(async || {
        let cell = Box::new(MVar::new(7));
        let mut take = Box::pin(cell.take());
        let polled = poll_fn(|cx| Poll::Ready(take.as_mut().poll(cx).is_ready())).await;
        assert!(!polled, "it is to be chosen first");
        std::mem::forget(take);
        drop(cell);
        let cells = [(); 4].map(|()| Box::new(MVar::new(8)));
        for cell in &cells {
            cell.take().await;
        }
        let cell: &'static MVar<u32> = Box::leak(Box::new(MVar::new(9)));
        let mut take = Box::pin(cell.take());
        let polled = poll_fn(|cx| Poll::Ready(take.as_mut().poll(cx).is_ready())).await;
        assert!(!polled, "it is to be chosen first");
        let drops = gossamer::spawn(async move { drop(take) });
        drops.await.expect("no panic");
        cell.take().await
    });
    assert_eq!(
        found.probability(&Outcome::Returned(9)),
        Probability::ONE,
        "{found}"
    );
}

/// Who polls an operation has it, whoever polled it before, and whether that one has ended by then or later.
#[test]
fn an_operation_goes_to_another_task() {
    let found = of(async || {
        let cell: &'static MVar<u32> = Box::leak(Box::new(MVar::new(9)));
        let (gives, gets) = oneshot();
        let first = gossamer::spawn(async move {
            let mut take = Box::pin(cell.take());
            for _ in 0..2 {
                let polled = poll_fn(|cx| Poll::Ready(take.as_mut().poll(cx).is_ready())).await;
                assert!(!polled, "it is to be chosen first");
            }
            gives
                .send(take)
                .map_err(drop)
                .expect("somebody waits for it");
            MVar::new(()).take().await;
        });
        let second = gossamer::spawn(async move { gets.await.expect("it is sent").await });
        first.await.expect("no panic");
        second.await.expect("no panic")
    });
    assert_eq!(
        found.probability(&Outcome::Returned(9)),
        Probability::ONE,
        "{found}"
    );
}
