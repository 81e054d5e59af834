//! What the programs of tokio's contender share: the command line, the runtime, what passes values on.
//!
//! Two programs, as with ours, because code that is called from many places is compiled otherwise than code that
//! is called from one: `tokio-contender` has the ring, `tokio-workloads` the rest.
//!
//! Kinds: `current` and `multi-N` for the scheduler and its worker count; `mvar-` before it for the
//! hand-made MVar instead of tokio's channel, `self-wake-` for giving way by waking oneself, `-no-slot` behind it to
//! switch off the slot.

pub mod options;

/// Sends to a channel, waiting only if it must, as our `put!` does; whether the other end is there.
#[macro_export]
macro_rules! send {
    ($channel:expr, $value:expr) => {
        match $channel.try_send($value) {
            Ok(()) => true,
            Err(tokio::sync::mpsc::error::TrySendError::Full(value)) => {
                $channel.send(value).await.is_ok()
            }
            Err(tokio::sync::mpsc::error::TrySendError::Closed(_)) => false,
        }
    };
}
