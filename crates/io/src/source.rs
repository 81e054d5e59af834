//! A socket, and its place in the table of readiness.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use gossamer_core::mutant;
use gossamer_core::poller::{Attended, PollerCell};
use gossamer_sched::list_sockets;
use rustix::net;

use crate::here::{process_cell, registry_of, with_cell};
use crate::open::open_sockets;
use crate::slot::{Direction, Kind, Registration, Slot, slots};

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
    /// Takes a descriptor that does not block.
    pub(crate) fn new(socket: S, kind: Kind) -> Self {
        let slot = slots().take();
        slot.begin(socket.as_fd().as_raw_fd(), kind);
        if slot.is_first() {
            list_sockets(open_sockets);
        }
        Self {
            socket: Some(socket),
            slot,
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
    #[inline]
    pub(crate) fn attend(&self) -> io::Result<()> {
        let registration = self.slot.registration();
        if registration.is_attended()
            || mutant!("resting_poller_is_relied_on") && registration.is_somewhere()
        {
            return Ok(());
        }
        self.attend_anew()
    }

    #[cold]
    fn attend_anew(&self) -> io::Result<()> {
        with_cell(|cell| self.register(cell))?
    }

    /// Registers it at the poller of this cell, unless it is there. The cell may go afterwards, which looks at all slots.
    fn register(&self, cell: &PollerCell) -> io::Result<()> {
        let mut cell = cell;
        let mut here = registry_of(cell)?;
        let mut at = self.slot.registry.lock();
        // A forked child has its own.
        let before = at.as_ref().filter(|before| !before.is_elsewhere());
        let stays = self.slot.registration().is_attended_always();
        if before.is_some_and(|before| stays || Arc::ptr_eq(before, &here)) {
            return Ok(());
        }
        if before.is_some() && cell.attended() != Attended::Always || cell.has_ended() {
            cell = process_cell()?;
            here = registry_of(cell)?;
        }
        // Others may wait at the one before, if this fails.
        let is_first = here.add(self.socket(), self.slot.token().get())?;
        self.slot.set_registration(Some(Registration::of(cell)));
        if let Some(before) = at.replace(here) {
            before.remove(self.socket());
        }
        if cell.has_ended() {
            // Its end may have looked at this socket before it was there, and looks no more: those that wait try again, and
            // find another one.
            self.slot.set_registration(None);
            if let Some(ended) = at.take() {
                ended.remove(self.socket());
            }
            drop(at);
            self.rouse(Way::In);
            self.rouse(Way::Out);
            return Ok(());
        }
        if is_first && !mutant!("first_socket_calls_nobody") {
            cell.call();
        }
        Ok(())
    }

    /// Closes one direction, or both; operations that wait there go on.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let (how, ways): (_, &[Way]) = match how {
            Shutdown::Read => (net::Shutdown::Read, &[Way::In]),
            Shutdown::Write => (net::Shutdown::Write, &[Way::Out]),
            Shutdown::Both => (net::Shutdown::Both, &[Way::In, Way::Out]),
        };
        net::shutdown(self.socket(), how)?;
        // Of one direction of a Unix connection the system does not tell.
        for way in ways.iter().filter(|_| !mutant!("shutdown_untold")) {
            self.rouse(*way);
        }
        Ok(())
    }

    /// Those that wait this way try again: something has happened of which the system may not tell.
    pub(crate) fn rouse(&self, way: Way) {
        let direction = self.direction(way);
        direction.note(direction.generation(), false);
    }

    /// No poller tells of it any more.
    fn leave(&self) {
        let mut at = self.slot.registry.lock();
        self.slot.set_registration(None);
        if !mutant!("closed_socket_is_listed") {
            self.slot.end();
        }
        let before = at.take();
        drop(at);
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
