//! Tasks.

pub use gossamer::yield_now;

/// The budget of a poll.
pub mod coop {
    use gossamer::sync::Event;

    /// Takes what any operation takes, one that never waits.
    pub async fn consume_budget() {
        let always = Event::new();
        always.set();
        always.ready().await;
    }
}
