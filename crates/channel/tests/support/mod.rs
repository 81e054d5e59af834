//! What the models of channels share: a message.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering};

/// A message that loom knows of, and that counts how many of it there are.
pub(crate) struct Message(Arc<Count>, #[allow(dead_code)] loom::alloc::Track<()>);

impl Message {
    pub(crate) fn new(living: &Arc<Count>) -> Self {
        living.fetch_add(1, Ordering::Relaxed);
        Self(living.clone(), loom::alloc::Track::new(()))
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
