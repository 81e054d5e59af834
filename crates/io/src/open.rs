//! The sockets that are open, for dumps.

use std::os::fd::{BorrowedFd, RawFd};

use gossamer_core::dump::OpenSocket;
use gossamer_core::moment::Moment;
use gossamer_sched::ListedSocket;
use rustix::net::{getpeername, getsockname};

use crate::slot::{Kind, Slot, slots};
use crate::socket::{address_in_words, kind_of};

/// All of this process; of a forked child those that it has opened itself.
pub(crate) fn open_sockets() -> Vec<ListedSocket> {
    slots().begun_here().filter_map(listed).collect()
}

fn listed(slot: &Slot) -> Option<ListedSocket> {
    // With this lock the socket stays open, and the slot its own.
    let _stays_open = slot.registry.lock();
    let (descriptor, kind) = slot.descriptor()?;
    let opened = slot.since();
    let mut socket = OpenSocket::default();
    match kind {
        Kind::Socket => describe(&mut socket, descriptor),
        Kind::Other => "a descriptor".clone_into(&mut socket.kind),
    }
    socket.descriptor = descriptor;
    socket.age = Moment::real_now().since(opened);
    socket.awaits_read = slot.read.has_waiters();
    socket.awaits_write = slot.write.has_waiters();
    let objects = [slot.read.object(), slot.write.object()];
    Some(ListedSocket {
        socket,
        opened,
        objects,
    })
}

/// Asks the system about an open socket.
fn describe(socket: &mut OpenSocket, descriptor: RawFd) {
    // SAFETY: its slot's lock is held, without which nobody closes it, and it is of a type of the standard library's, which
    // cannot be given another descriptor.
    let open = unsafe { BorrowedFd::borrow_raw(descriptor) };
    socket.kind = kind_of(open).unwrap_or_else(|_| "a socket".to_owned());
    socket.local = getsockname(open).ok().and_then(address_in_words);
    socket.peer = getpeername(open).ok().flatten().and_then(address_in_words);
}
