//! `uts`, Savina's `uct`: a tree grows as its nodes ask the root for children, until it has as many nodes as it may have;
//! then it is walked through, and ended. Each node is an actor, and calculates before it asks and as it is visited.

use std::hint::black_box;

use crate::random::step;
use crate::{Forest, Number, count};

/// The steps of the generator before a node asks.
const BEFORE: u32 = 100;
/// The root's generator begins with this.
const SEED: u32 = 2;
/// How many draws make the work of a node, and from how many numbers each is: their sum has a deviation of 100.
const DRAWS: [u32; 2] = [12, 100];
/// And this mean.
const MEAN: u32 = 594;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Uts {
    nodes: u64,
    children: usize,
    work: u32,
}

impl Uts {
    /// Its options, `--kind` first.
    pub const OPTIONS: &[&str] = &["--kind", "--nodes", "--children", "--work"];

    /// The numbers of the options, or the published ones.
    ///
    /// # Errors
    /// What `number` says.
    pub fn of(number: impl Number) -> Result<Self, String> {
        let work = number("--work", 500)?;
        Ok(Self {
            nodes: number("--nodes", 200_000)?,
            children: count(&number, "--children", 10)?,
            work: u32::try_from(work).map_err(|error| format!("--work {work}: {error}"))?,
        })
    }
}

/// To a node.
enum Order {
    /// Have children, of which the first has this number, and which work so much.
    Grow(u32, u32),
    /// A child has children.
    Granted,
    Visit,
    End,
}

/// To the root.
enum Ask<F: Forest> {
    /// The node asks whether it may have children.
    Children(F::Tx<Order>),
    Ended,
}

/// What a node is born with.
struct Node<F: Forest> {
    number: u32,
    work: u32,
    children: usize,
    root: F::Tx<Ask<F>>,
    /// The root takes no notice of grants.
    parent: Option<F::Tx<Order>>,
}

/// The root's part; it gives the number of nodes.
pub async fn uts<F: Forest>(asked: Uts) -> u64 {
    // Of each node that it asks, and that it has ended.
    let nodes = asked.nodes.saturating_add(asked.children as u64);
    let room = usize::try_from(nodes)
        .unwrap_or(usize::MAX)
        .saturating_mul(2);
    let (root, mut asks) = F::mailbox::<Ask<F>>(room);
    let (mut state, mut size) = (step(SEED), 1);
    let work = draw_work(&mut state, asked.work);
    let children = asked.children as u64;
    let first = births::<F>(asked.children, size, work, &root, None);
    size += children;
    let (mut open, mut grown, mut ended) = (children, false, 1);
    while let Some(ask) = F::recv(&mut asks).await {
        match ask {
            Ask::Children(node) if !grown => {
                open -= 1;
                let room = size + children <= asked.nodes;
                state = step(state);
                if room && state % 2 == 1 {
                    let work = draw_work(&mut state, asked.work);
                    F::send(&node, Order::Grow(size as u32, work));
                    (size, open) = (size + children, open + children);
                }
                grown = !room || open == 0;
                if grown {
                    first.iter().for_each(|child| F::send(child, Order::Visit));
                    first.iter().for_each(|child| F::send(child, Order::End));
                }
            }
            Ask::Children(_) => {}
            Ask::Ended => ended += 1,
        }
        if grown && ended == size {
            break;
        }
    }
    ended
}

/// About `mean`, as a normal distribution has it.
fn draw_work(state: &mut u32, mean: u32) -> u32 {
    let sum: u32 = (0..DRAWS[0])
        .map(|_| {
            *state = step(*state);
            *state % DRAWS[1]
        })
        .sum();
    (mean + sum).saturating_sub(MEAN).max(1)
}

/// Children with numbers from `number` on.
fn births<F: Forest>(
    children: usize,
    number: u64,
    work: u32,
    root: &F::Tx<Ask<F>>,
    parent: Option<&F::Tx<Order>>,
) -> Vec<F::Tx<Order>> {
    let births = (number as u32..).take(children).map(|number| {
        birth(Node::<F> {
            number,
            work,
            children,
            root: root.clone(),
            parent: parent.cloned(),
        })
    });
    births.collect()
}

/// Spawns a node. (An `async fn` could not spawn itself.)
fn birth<F: Forest>(node: Node<F>) -> F::Tx<Order> {
    // To grow, to visit, to end, and of each child that it has children.
    let (tx, mut inbox) = F::mailbox::<Order>(node.children + 3);
    let me = tx.clone();
    F::spawn(async move {
        calculate(node.number, BEFORE);
        F::send(&node.root, Ask::Children(me.clone()));
        let (mut children, mut granted) = (Vec::new(), 0);
        while let Some(order) = F::recv(&mut inbox).await {
            match order {
                Order::Grow(number, work) => {
                    if let Some(parent) = &node.parent {
                        F::send(parent, Order::Granted);
                    }
                    children =
                        births::<F>(node.children, number.into(), work, &node.root, Some(&me));
                }
                Order::Granted => granted += 1,
                Order::Visit => {
                    calculate(node.number, node.work);
                    children
                        .iter()
                        .for_each(|child| F::send(child, Order::Visit));
                }
                Order::End => {
                    children.iter().for_each(|child| F::send(child, Order::End));
                    break;
                }
            }
        }
        black_box(granted);
        F::send(&node.root, Ask::Ended);
    });
    tx
}

/// Steps of the generator, which begins with the node's number.
fn calculate(number: u32, steps: u32) {
    black_box((0..steps).fold(black_box(number), |state, _| step(state)));
}
