//! What a run is doing, on the standard error, if a person is there to read it.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const WAITING: &str = "{spinner} {msg} {elapsed}";

/// A line that moves while something is computed.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A line that says what is done.
    pub fn new(doing: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let progress = Self(bar);
        progress.wait_for(doing);
        // It takes a thread, for nothing if nobody sees the line.
        if !progress.0.is_hidden() {
            progress.0.enable_steady_tick(Duration::from_millis(100));
        }
        progress
    }

    /// Says what is done now, of which there is so much.
    pub fn begin(&self, doing: &'static str, all: u64) {
        self.0.set_message(doing);
        self.0.set_length(all);
        Self::style(
            &self.0,
            "{spinner} {msg} {bar:40} {human_pos} of {human_len}, {eta} left",
        );
    }

    /// Says what is done now, of which nobody knows how much there is.
    pub fn wait_for(&self, doing: &'static str) {
        self.0.set_message(doing);
        Self::style(&self.0, WAITING);
    }

    /// So much of it is done.
    pub fn advance(&self, by: u64) {
        self.0.inc(by);
    }

    fn style(bar: &ProgressBar, template: &str) {
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
