//! A pool as its runtime has it: what its tasks find around them, and its end.

use super::Pool;
use crate::environment::Environment;

impl Pool {
    /// What its tasks find around them.
    pub fn environment(&self) -> &Environment {
        &self.shared.environment
    }

    /// Ends the pool, unless [`shutdown`](Pool::shutdown) was called. In a forked child the pool
    /// is leaked: what the workers were doing at the fork is half done.
    pub fn end(&self) {
        if self.origin().is_elsewhere() {
            std::mem::forget(self.shared.clone());
        } else if !self.shared.is_closing() {
            self.shutdown(None);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end();
    }
}
