//! Locks and channels.

mod barrier;
mod once_cell;

pub mod broadcast;
pub mod oneshot;
pub mod watch;

pub use self::barrier::Barrier;
pub use self::once_cell::{OnceCell, SetError};
pub use gossamer::sync::BarrierResult as BarrierWaitResult;
