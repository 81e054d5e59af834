//! What each poll has to give: a channel as a queue of messages, and places reserved for senders that were woken. In a
//! rendezvous channel the messages of senders that wait are in the queue.

use std::collections::VecDeque;

use super::Op;

/// What an operation gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Sent,
    /// Not sent: the other branch of its select was taken.
    GivenUp,
    Full,
    Got(u8),
    Empty,
    /// And the message back, if there was one.
    Closed,
}

/// A waiting operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    No,
    /// With this message; in a rendezvous channel it is in the queue.
    ToSend(u8),
    /// There is a place for its message.
    HasPlace,
    /// It is over, and this is the end.
    Has(Output),
    ToReceive,
}

/// The channel, and who waits.
#[derive(Debug)]
pub(super) struct Spec {
    capacity: usize,
    queue: VecDeque<u8>,
    waits: [Waits; 3],
    /// The senders that wait, in their order.
    line: VecDeque<usize>,
    senders: usize,
    receivers: usize,
}

impl Spec {
    pub(super) fn new(capacity: usize, senders: usize, receivers: usize) -> Self {
        Self {
            capacity,
            queue: VecDeque::new(),
            waits: [Waits::No; 3],
            line: VecDeque::new(),
            senders,
            receivers,
        }
    }

    /// What this poll has to give; `None`: it waits. `woken`: whose waking has been noted.
    pub(super) fn poll(
        &mut self,
        task: usize,
        op: Op,
        message: u8,
        woken: [bool; 3],
    ) -> Option<Output> {
        let before = std::mem::replace(&mut self.waits[task], Waits::No);
        // In a select the other branch is asked first; but what was taken at a rendezvous has been sent.
        let is_sent = before == Waits::Has(Output::Sent);
        if op == Op::GiveUpOrSend && before != Waits::No && !is_sent {
            return Some(self.give_up(task, message));
        }
        if let Waits::Has(output) = before {
            return Some(output);
        }
        if op == Op::SendOrGiveUp && matches!(before, Waits::ToSend(_)) {
            return Some(self.give_up(task, message));
        }
        match op {
            Op::Send | Op::SendOrGiveUp | Op::GiveUpOrSend if self.receivers == 0 => {
                Some(Output::Closed)
            }
            // Its own place is no longer reserved: `waits` says nothing of it.
            Op::Send | Op::SendOrGiveUp | Op::GiveUpOrSend
                if before == Waits::HasPlace || self.has_room() =>
            {
                self.queue.push_back(message);
                Some(Output::Sent)
            }
            Op::Send | Op::SendOrGiveUp | Op::GiveUpOrSend => {
                if self.capacity == 0 {
                    self.queue.push_back(message);
                }
                self.waits[task] = Waits::ToSend(message);
                self.line.push_back(task);
                None
            }
            Op::TrySend if self.receivers == 0 => Some(Output::Closed),
            Op::TrySend if self.has_room() || self.is_awaited(woken) => {
                self.queue.push_back(message);
                Some(Output::Sent)
            }
            Op::TrySend => Some(Output::Full),
            Op::Recv | Op::TryRecv => match self.queue.pop_front() {
                Some(message) => {
                    self.make_room(message);
                    Some(Output::Got(message))
                }
                None if self.senders == 0 => Some(Output::Closed),
                None if op == Op::TryRecv => Some(Output::Empty),
                None => {
                    self.waits[task] = Waits::ToReceive;
                    None
                }
            },
        }
    }

    /// Whether a message may be put that no place was reserved for: messages and reserved places are fewer than the
    /// capacity. Else a try-send finds it full.
    fn has_room(&self) -> bool {
        let has_place = |waits: &&Waits| **waits == Waits::HasPlace;
        let reserved = self.waits.iter().filter(has_place).count();
        self.queue.len() + reserved < self.capacity
    }

    /// It has not sent, and no longer waits: who waits behind it has its place.
    fn give_up(&mut self, task: usize, message: u8) -> Output {
        self.line.retain(|waits| *waits != task);
        if self.capacity == 0 {
            self.queue.retain(|offered| *offered != message);
        }
        self.pass_places_on();
        Output::GivenUp
    }

    /// Who waited with the message that is out has sent it; or the first that waits has a place.
    fn make_room(&mut self, received: u8) {
        for waits in &mut self.waits {
            if self.capacity == 0 && *waits == Waits::ToSend(received) {
                *waits = Waits::Has(Output::Sent);
            }
        }
        self.pass_places_on();
    }

    fn pass_places_on(&mut self) {
        while self.has_room()
            && let Some(first) = self.line.pop_front()
        {
            self.waits[first] = Waits::HasPlace;
        }
    }

    /// Whether a rendezvous channel has a receiver in line, and no sender.
    fn is_awaited(&self, woken: [bool; 3]) -> bool {
        let is_in_line = |task: usize| self.waits[task] == Waits::ToReceive && !woken[task];
        let offers = |waits: &Waits| matches!(waits, Waits::ToSend(_));
        self.capacity == 0 && !self.waits.iter().any(offers) && (0..3).any(is_in_line)
    }

    pub(super) fn drop_sender(&mut self) {
        self.senders -= 1;
    }

    /// The last one takes the messages along, but for those that were not sent.
    pub(super) fn drop_receiver(&mut self) {
        self.receivers -= 1;
        if self.receivers == 0 {
            self.queue.clear();
            self.line.clear();
            for waits in &mut self.waits {
                if let Waits::ToSend(_) | Waits::HasPlace = waits {
                    *waits = Waits::Has(Output::Closed);
                }
            }
        }
    }

    /// Who has been woken by now: each sender that is done or has a place, and no other; as many receivers as there are messages, or all
    /// if none will come. A receiver that was woken may have come too late.
    pub(super) fn is_right(&self, woken: [bool; 3]) -> bool {
        let mut receivers = 0;
        let mut called = 0;
        for (waits, woken) in self.waits.iter().zip(woken) {
            match waits {
                Waits::No => {}
                Waits::ToSend(_) if woken => return false,
                Waits::Has(_) | Waits::HasPlace if !woken => return false,
                Waits::ToSend(_) | Waits::Has(_) | Waits::HasPlace => {}
                Waits::ToReceive => {
                    receivers += 1;
                    called += usize::from(woken);
                }
            }
        }
        let is_over = self.senders == 0 && self.queue.is_empty();
        called
            >= if is_over {
                receivers
            } else {
                receivers.min(self.queue.len())
            }
    }
}
