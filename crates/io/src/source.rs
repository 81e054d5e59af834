//! A socket, and its place in the table of readiness.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use crate::epoll::Epoll;
use crate::here::{poller_of, process_cell, with_cell};
use crate::slot::{Direction, Slot, slots};

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Bytes come in, or connections.
    In,
    /// Bytes go out, or a connection is made.
    Out,
}

/// A socket that does not block.
#[derive(Debug)]
pub(crate) struct Source<S: AsFd> {
    /// None only while it is taken apart.
    socket: Option<S>,
    slot: &'static Slot,
}

impl<S: AsFd> Source<S> {
    /// Takes a socket that does not block.
    pub(crate) fn new(socket: S) -> Self {
        Self {
            socket: Some(socket),
            slot: slots().take(),
        }
    }

    /// The socket.
    #[inline]
    pub(crate) fn socket(&self) -> &S {
        self.socket
            .as_ref()
            .expect("it is there until it is taken apart")
    }

    /// The socket, which no poller tells of any more.
    pub(crate) fn into_socket(mut self) -> S {
        self.leave();
        self.socket.take().expect("it is taken apart once")
    }

    #[inline]
    pub(crate) fn direction(&self, way: Way) -> &'static Direction {
        match way {
            Way::In => &self.slot.read,
            Way::Out => &self.slot.write,
        }
    }

    /// An operation waits here, and has said so in its direction: sees to it that a poller tells of the socket, and that
    /// somebody polls that as long as the operation waits.
    ///
    /// A socket stays at the poller where it waited first, which tells those that wait elsewhere, too; unless nobody may
    /// poll that for them. Then it moves, and from then on somebody always does.
    ///
    /// # Errors
    /// The system's: it has no memory, or no descriptors left for a poller.
    pub(crate) fn attend(&self) -> io::Result<()> {
        let mut at = self.slot.poller.lock();
        if let Some(poller) = &*at
            && poller.is_attended
            && !poller.is_elsewhere()
        {
            return Ok(());
        }
        with_cell(|cell| {
            let here = cell.get().map(|here| Arc::as_ptr(here).addr());
            let before = at.as_ref().map(|at| Arc::as_ptr(at).addr());
            if before.is_some() && before == here {
                return Ok(());
            }
            let mut cell = cell;
            let mut poller = poller_of(cell)?;
            if before.is_some() && !poller.is_attended {
                cell = process_cell()?;
                poller = poller_of(cell)?;
            }
            if let Some(before) = at.take() {
                before.remove(self.socket());
            }
            let is_first = poller.add(self.socket(), self.slot.token())?;
            *at = Some(poller);
            if is_first {
                cell.call();
            }
            Ok(())
        })?
    }

    /// No poller tells of it any more.
    fn leave(&self) {
        let before: Option<Arc<Epoll>> = self.slot.poller.lock().take();
        if let Some(before) = before {
            before.remove(self.socket());
        }
    }
}

impl<S: AsFd> Drop for Source<S> {
    fn drop(&mut self) {
        if self.socket.is_some() {
            self.leave();
        }
        slots().give_back(self.slot);
    }
}
