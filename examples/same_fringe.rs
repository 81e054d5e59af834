//! Two generators made of plain recursion: do two trees of different shapes have the same leaves, in the same order?
//!
//! A fiber walks each tree and sends every leaf through a rendezvous channel, so no walk is ahead of the comparison. The
//! first difference ends both walks.
//!
//! `cargo run --release -p gossamer-rt --example same_fringe [MODEL]`, where MODEL is `single`, `pool:2` or `threads`

use std::error::Error;
use std::sync::Arc;

use gossamer::channel::{Receiver, SendError, Sender, rendezvous};
use gossamer::{Fibers, JoinError, JoinHandle, Model, Runtime, Wait};

enum Tree {
    Leaf(u32),
    Node(Box<Tree>, Box<Tree>),
}
use Tree::{Leaf, Node};

/// A tree of these leaves, at least one, whose left part gets `left` of them: a function of how many there are.
fn tree(leaves: &[u32], left: fn(usize) -> usize) -> Tree {
    match leaves {
        [leaf] => Leaf(*leaf),
        _ => {
            let (before, after) = leaves.split_at(left(leaves.len()));
            Node(Box::new(tree(before, left)), Box::new(tree(after, left)))
        }
    }
}

/// Sends the leaves from left to right, counts those that were taken, and ends early if nobody takes any more.
fn walk(tree: &Tree, leaves: &Sender<u32>, taken: &mut u32) -> Result<(), SendError<u32>> {
    match tree {
        Leaf(leaf) => {
            leaves.send(*leaf).wait()?; // here the fiber stands still, with all the calls above this one
            *taken += 1;
            Ok(())
        }
        Node(left, right) => {
            walk(left, leaves, taken)?;
            walk(right, leaves, taken)
        }
    }
}

/// A generator of the leaves of a tree, and the fiber behind it, which says how many were taken.
fn leaves_of(rt: &Runtime, tree: &Arc<Tree>) -> (Receiver<u32>, JoinHandle<u32>) {
    let (tx, rx) = rendezvous();
    let tree = tree.clone();
    let fiber = rt.spawn_fiber(move || {
        let mut taken = 0;
        let _ended_early = walk(&tree, &tx, &mut taken);
        taken
    });
    (rx, fiber)
}

/// Whether the leaves are the same, and how many were taken from each tree to find that out.
fn same_fringe(
    rt: &Runtime,
    one: &Arc<Tree>,
    other: &Arc<Tree>,
) -> Result<(bool, [u32; 2]), JoinError> {
    let (ones, one_walk) = leaves_of(rt, one);
    let (others, other_walk) = leaves_of(rt, other);
    // `eq` ends at the first difference, and drops both receivers: the walks end too.
    let same = ones.into_iter().eq(others);
    Ok((same, [one_walk.wait()?, other_walk.wait()?]))
}

/// The first argument, or a pool.
fn model() -> Result<Model, Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(name) => Ok(name.parse()?),
        None => Ok(Model::default()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises
    // one.
    let promise = unsafe { Fibers::contract() };
    // A walk is up to a thousand calls deep, which takes more than the usual 256 KiB in a debug build. Only what is used
    // costs memory.
    let fibers = promise.stack_size(2 << 20);
    let rt = Runtime::builder().model(model()?).fibers(fibers).build()?;

    let numbers: Vec<u32> = (1..=1_000).collect();
    let mut changed = numbers.clone();
    changed[9] = 0;
    let balanced = Arc::new(tree(&numbers, |leaves| leaves / 2));
    let deep = Arc::new(tree(&numbers, |leaves| leaves - 1)); // a thousand calls deep
    let changed = Arc::new(tree(&changed, |_| 1));
    let short = Arc::new(tree(&numbers[..500], |leaves| leaves / 3 + 1));

    let trees = [("deep", deep), ("changed", changed), ("short", short)];
    for (name, other) in &trees {
        let (same, taken) = same_fringe(&rt, &balanced, other)?;
        println!("balanced and {name}: {same}, leaves taken: {taken:?}");
    }
    Ok(())
}
