//! `#[gossamer::main]`, with the model from the command line.
//!
//! `cargo run --release -p gossamer-rt --example chosen_model -- pool:2`

use std::sync::Arc;

use gossamer::{JoinError, Model, sync::MVar};

/// The first argument, or a pool.
fn chosen() -> Model {
    let Some(name) = std::env::args().nth(1) else {
        return Model::default();
    };
    name.parse().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2);
    })
}

#[gossamer::main(model = chosen(), runtime = rt)]
async fn main() -> Result<(), JoinError> {
    let mvar = Arc::new(MVar::empty());
    let tasks: Vec<_> = (1..=10)
        .map(|number| {
            let mvar = mvar.clone();
            rt.spawn(async move { mvar.put(number).await })
        })
        .collect();
    let mut sum = 0;
    for _ in &tasks {
        sum += mvar.take().await;
    }
    for task in tasks {
        task.await?;
    }
    println!("the sum is {sum}");
    Ok(())
}
