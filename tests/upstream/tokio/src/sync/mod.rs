//! Locks and channels.

mod barrier;
mod notify;
mod once_cell;
mod rwlock;
mod semaphore;
mod set_once;
mod waiting;

pub mod broadcast;
pub mod mpsc;
pub mod oneshot;
pub mod watch;

pub use self::barrier::Barrier;
pub use self::notify::{Notified, Notify};
pub use self::once_cell::{OnceCell, SetError};
pub use self::rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use self::semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
pub use self::set_once::{SetOnce, SetOnceError};
pub use gossamer::sync::{
    AcquireError, BarrierResult as BarrierWaitResult, FairMutex as Mutex, TryAcquireError,
    TryLockError,
};
