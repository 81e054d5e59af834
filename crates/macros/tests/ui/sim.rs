//! A simulated test whose options do not go together.

#[gossamer::main(sim)]
async fn main() {}

#[gossamer::test(seeds = 0..10)]
async fn seeds_alone() {}

#[gossamer::test(sim, model = "pool")]
async fn on_a_pool() {}

#[gossamer::test(sim, workers = 4)]
async fn on_workers() {}

#[gossamer::test(sim, runtime = rt)]
async fn on_a_runtime() {}

#[gossamer::test(sim, seeds)]
async fn which_seeds() {}

#[gossamer::test(sim, sim)]
async fn twice() {}

#[gossamer::test(exhaustive)]
async fn all_of_what() {}

#[gossamer::test(sim, exhaustive, seeds = 0..10)]
async fn all_and_some() {}

#[gossamer::test(sim, exhaustive, shortest)]
async fn first_and_shortest() {}
