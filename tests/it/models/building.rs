//! What a builder makes of what it is told, and what it refuses.

use std::io::ErrorKind;

use gossamer::{Model, Runtime};
use gossamer_sched::Fifo;

/// How many workers a runtime of the default model has.
fn default_workers() -> Option<usize> {
    let Model::Pool { workers } = Model::default() else {
        panic!("the default is a pool");
    };
    Some(workers)
}

#[test]
fn there_is_one_default_model() {
    for rt in [Runtime::new(), Runtime::builder().build()] {
        let rt = rt.expect("a runtime can be built");
        assert_eq!(rt.metrics().map(|of| of.workers), default_workers());
    }
}

#[test]
fn an_order_of_ones_own_is_not_ignored() {
    let builder = || Runtime::builder().scheduler(Fifo::default());
    let threads = || builder().model(Model::Threads);
    for (built, name) in [(builder().build(), "pool:"), (threads().build(), "threads")] {
        let error = built.expect_err("only one model has such an order");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = error.to_string();
        assert!(
            text.contains(name) && text.contains(".model(Model::Single)"),
            "{text}"
        );
    }
    let single = builder().model(Model::Single).build();
    assert_eq!(single.expect("a runtime").block_on(async { 1 }), 1);
}
