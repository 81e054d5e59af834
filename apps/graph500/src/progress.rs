//! What a run is doing, on the standard error, if a person is there to read it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over the searches, and what is done before them.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        Self::style(&bar, "{spinner} {msg} {elapsed}");
        // It takes a thread, for nothing if nobody sees the bar.
        if !bar.is_hidden() {
            bar.enable_steady_tick(std::time::Duration::from_millis(100));
        }
        Self(bar)
    }

    fn style(bar: &ProgressBar, template: &str) {
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
    }

    pub(crate) fn doing(&self, what: &'static str) {
        self.0.set_message(what);
    }

    pub(crate) fn searches(&self, count: usize) {
        self.0.set_length(count as u64);
        Self::style(&self.0, "{spinner} {msg} {bar:40} {pos}/{len} {elapsed}");
    }

    pub(crate) fn searched(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
