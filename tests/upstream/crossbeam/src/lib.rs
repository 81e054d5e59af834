//! The names of crossbeam-channel over Gossamer's channels: what that crate's own tests are compiled against.
//!
//! * A channel is ours for any thread, of [`promise::Message`]s; each operation is finished by `.wait()`.
//! * [`Select`] is our [`select::any`](gossamer_channel::select::any) over our operations. Its messages come after the
//!   decision, so what it sends is a promise: see [`promise`].
//! * [`after`], [`at`] and [`tick`] are our timers, [`never`] is nothing.
//! * [`Select::ready`] and its kin look every millisecond: our channels have no readiness without an operation.
#![forbid(unsafe_code)]

mod channel;
mod clock;
mod error;
mod macros;
mod promise;
mod ready;
mod select;

pub use self::channel::{
    IntoIter, Iter, Receiver, Sender, TryIter, after, at, bounded, never, tick, unbounded,
};
pub use self::error::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError,
};
#[doc(hidden)]
pub use self::select::Here;
pub use self::select::{Select, SelectedOperation};
