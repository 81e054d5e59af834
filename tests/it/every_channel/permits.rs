//! The flavour in which permits send.

use gossamer::channel::{SendError, TrySendError};
use gossamer::raw::LockPolicy;
use gossamer::raw::channel as raw;

use super::ends::Operation;
use super::flavours::{boxed, kind};
use super::{Kind, Message, Rx, Sends, Tx, Variant};
use crate::channel::Channels;

/// Channels of many senders and receivers, where each message has its place reserved before.
pub(super) fn permits<F: Channels>() -> Kind {
    fn reserving<F: Channels>(capacity: usize, owns: bool) -> (Tx, Rx) {
        let (tx, rx) = F::channel(capacity);
        boxed((Reserving { tx, owns }, rx))
    }
    kind::<F>(vec![
        Variant::new(1, || reserving::<F>(1, false)),
        Variant::new(3, || reserving::<F>(3, true)),
        Variant::new(1, || reserving::<F>(1, true)),
        Variant::new(usize::MAX, || reserving::<F>(usize::MAX, false)),
    ])
}

/// Sends by permits.
struct Reserving<P: LockPolicy> {
    tx: raw::Sender<Message, P>,
    /// Whether each owns a sender.
    owns: bool,
}

impl<P: LockPolicy> Sends for Reserving<P> {
    fn try_send(&mut self, message: Message) -> Result<(), TrySendError<Message>> {
        let is_full = if self.owns {
            match self.tx.clone().try_reserve_owned() {
                Ok(permit) => {
                    drop(permit.send(message));
                    return Ok(());
                }
                Err(error) => matches!(error, TrySendError::Full(_)),
            }
        } else {
            match self.tx.try_reserve() {
                Ok(permit) => {
                    permit.send(message);
                    return Ok(());
                }
                Err(error) => matches!(error, TrySendError::Full(())),
            }
        };
        Err(match is_full {
            true => TrySendError::Full(message),
            false => TrySendError::Closed(message),
        })
    }

    fn send(&mut self, message: Message) -> Operation<'_, Result<(), SendError<Message>>> {
        Box::pin(async move {
            if self.owns {
                let Ok(permit) = self.tx.clone().reserve_owned().await else {
                    return Err(SendError(message));
                };
                drop(permit.send(message));
            } else {
                let Ok(permit) = self.tx.reserve().await else {
                    return Err(SendError(message));
                };
                permit.send(message);
            }
            Ok(())
        })
    }

    fn another(&self) -> Option<Tx> {
        Some(Box::new(Self {
            tx: self.tx.clone(),
            owns: self.owns,
        }))
    }

    fn is_closed(&self) -> Option<bool> {
        Some(self.tx.is_closed())
    }
}
