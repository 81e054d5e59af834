//! Locks and channels.

mod barrier;
mod once_cell;
mod set_once;

pub mod broadcast;
pub mod oneshot;
pub mod watch;

pub use self::barrier::Barrier;
pub use self::once_cell::{OnceCell, SetError};
pub use self::set_once::{SetOnce, SetOnceError};
pub use gossamer::sync::BarrierResult as BarrierWaitResult;
