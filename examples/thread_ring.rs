//! The thread ring: 503 tasks pass a token; who receives it at zero says its number.
//!
//! `cargo run --release -p gossamer-rt --example thread_ring [HOPS]`

use std::rc::Rc;

use gossamer::{Model, Runtime, local::MVar};

const TASKS: usize = 503;

/// Takes from its own place, puts one less into its neighbour's, until it takes a zero.
async fn hop(ring: Rc<[MVar<u32>]>, id: usize) -> usize {
    let next = (id + 1) % TASKS;
    loop {
        let token = ring[id].take().await;
        if token == 0 {
            return id + 1;
        }
        ring[next].put(token - 1).await;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hops = match std::env::args().nth(1) {
        Some(text) => text
            .parse()
            .map_err(|_| format!("HOPS is a number, not {text:?}"))?,
        None => 1_000,
    };
    let rt = Runtime::builder().model(Model::Single).build()?;
    let last = rt.block_on_local(|scope| {
        let ring: Rc<[MVar<u32>]> = (0..TASKS).map(|_| MVar::empty()).collect();
        let winner = Rc::new(MVar::empty());
        for id in 0..TASKS {
            let (ring, winner) = (ring.clone(), winner.clone());
            drop(scope.spawn_local(async move {
                let number = hop(ring, id).await;
                winner.put(number).await;
            }));
        }
        async move {
            ring[0].put(hops).await;
            winner.take().await
        }
    });
    println!("{last}");
    Ok(())
}
