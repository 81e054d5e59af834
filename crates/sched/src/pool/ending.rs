//! A pool as its runtime has it: what its tasks find around them, and its end.

use super::Pool;
use crate::environment::Environment;

impl Pool {
    /// What its tasks find around them.
    pub fn environment(&self) -> &Environment {
        &self.shared.environment
    }

    /// Ends the pool, unless [`shutdown`](Pool::shutdown) was called.
    pub fn end(&self) {
        if !self.shared.is_closing() {
            self.shutdown(None);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end();
    }
}
