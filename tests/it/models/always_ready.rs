//! Every operation of the facade that is ready each time, done again and again beside a sleeper, who gets its turn.
//!
//! An operation's name here is where its future is; `cargo xtask tidy` compares the names with the public futures that
//! there are. What is after a comma is a case of it.

mod channels;
mod others;
mod primitives;
mod sockets;

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use gossamer::time::sleep as rest;
use gossamer::{Runtime, TimeoutExt, blocking};
use gossamer_sim::{explore, spawn};

use super::{each_model, patience, runtime};

/// So often may an operation be done before the sleeper has its turn: some turns of a thousand.
const MANY: usize = 20_000;

/// Public futures that are no operations of the facade, and why.
const _: [(&str, &str); 7] = [
    ("channel::join_pattern::awaiting::First", "a part of a join"),
    ("fiber::fiber::Fiber", "a task's future"),
    ("par::handed::Handed", "what the facade's stands for"),
    (
        "sched::pool::resize::Resize",
        "what the facade's stands for",
    ),
    ("structure::name::Named", "a task's future"),
    ("structure::scope::child::ScopeTask", "a task's future"),
    (
        "sync::readiness::Try",
        "a part of each operation on a socket",
    ),
];

/// What the cases share.
struct Beside {
    rt: Runtime,
    /// Whether the sleeper has had its turn.
    slept: Cell<bool>,
}

type Turn = Rc<Beside>;

/// An operation's name, and what does it until the sleeper has had its turn.
type Case = (&'static str, Pin<Box<dyn Future<Output = ()>>>);

/// Does `operation` until then.
async fn again(name: &str, until: impl Fn() -> bool, mut operation: impl AsyncFnMut()) {
    for _ in 0..MANY {
        operation().await;
        if until() {
            return;
        }
    }
    panic!("{name} was ready {MANY} times, and nobody else had a turn");
}

/// Cases: a name, what is there before, and the operation.
macro_rules! cases {
    ($turn:ident; $($name:literal: { $($before:tt)* } $operation:expr;)*) => {
        vec![$({
            let $turn = $turn.clone();
            let case: super::Case = ($name, Box::pin(async move {
                $($before)*
                super::again($name, || $turn.slept.get(), async || { let _output = $operation; }).await;
            }));
            case
        }),*]
    };
}
use cases;

fn all(turn: &Turn) -> Vec<Case> {
    [
        primitives::sync(turn),
        primitives::local(turn),
        channels::shared(turn),
        channels::local(turn),
        channels::shared_to_many(turn),
        channels::local_to_many(turn),
        channels::others(turn),
        others::of_time(turn),
        others::of_tasks(turn),
        others::of_structure(turn),
        sockets::connections(turn),
        sockets::connecting(turn),
        sockets::buffered(turn),
        sockets::others(turn),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn nobody_starves_beside_any_operation() {
    each_model(|model| {
        let turn = Rc::new(Beside {
            rt: runtime(model),
            slept: Cell::new(false),
        });
        for (name, case) in all(&turn) {
            turn.slept.set(false);
            turn.rt.block_on_local(|scope| {
                let (busy, turn) = (scope.spawn_local(case), turn.clone());
                async move {
                    rest(Duration::from_nanos(1)).await;
                    turn.slept.set(true);
                    let ended = busy.timeout(patience() / 2).await;
                    assert!(matches!(ended, Ok(Ok(()))), "{model}: {name}: {ended:?}");
                }
            });
        }
    });
}

/// In a simulation a call that blocks is made in mvar.
#[test]
fn nobody_starves_beside_calls_in_mvar() {
    explore(0..10, || async {
        let ends = Rc::new(Cell::new(false));
        let ended = ends.clone();
        let call = async || blocking(|| ()).await;
        let busy = spawn(again("blocking", move || ended.get(), call));
        spawn(async move { ends.set(true) })
            .await
            .expect("no panic");
        busy.await.expect("no panic");
    });
}
