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
    /// It has a permit.
    HasPermit,
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
    is_closed: bool,
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
            is_closed: false,
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
            Op::Reserve => self.poll_reserving(task, message, before),
            Op::Close => {
                self.close();
                Some(Output::Sent)
            }
            Op::Send | Op::SendOrGiveUp | Op::GiveUpOrSend if self.refuses() => {
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
            Op::TrySend if self.refuses() => Some(Output::Closed),
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
                None if self.is_over() => Some(Output::Closed),
                None if op == Op::TryRecv => Some(Output::Empty),
                None => {
                    self.waits[task] = Waits::ToReceive;
                    None
                }
            },
        }
    }

    /// A permit is waited for, then kept for a poll, and used, also if nobody is there any more.
    fn poll_reserving(&mut self, task: usize, message: u8, before: Waits) -> Option<Output> {
        if before == Waits::HasPermit {
            if self.receivers > 0 {
                self.queue.push_back(message);
            }
            return Some(Output::Sent);
        }
        if self.refuses() {
            return Some(Output::Closed);
        }
        self.waits[task] = if before == Waits::HasPlace || self.has_room() {
            Waits::HasPermit
        } else {
            self.line.push_back(task);
            Waits::ToSend(message)
        };
        None
    }

    /// Whether no message may be sent any more, but by a permit.
    fn refuses(&self) -> bool {
        self.receivers == 0 || self.is_closed
    }

    /// Whether no message will come.
    fn is_over(&self) -> bool {
        let is_closed = self.is_closed && !self.waits.contains(&Waits::HasPermit);
        self.queue.is_empty() && (self.senders == 0 || is_closed)
    }

    /// What was sent stays.
    fn close(&mut self) {
        self.is_closed = true;
        if self.capacity == 0 {
            self.queue.clear();
        }
        self.tell_senders();
    }

    /// Who has not sent will not.
    fn tell_senders(&mut self) {
        self.line.clear();
        for waits in &mut self.waits {
            if let Waits::ToSend(_) | Waits::HasPlace = waits {
                *waits = Waits::Has(Output::Closed);
            }
        }
    }

    /// Whether a message may be put that no place was reserved for: messages and reserved places are fewer than the
    /// capacity. Else a try-send finds it full.
    fn has_room(&self) -> bool {
        let has_place = |waits: &&Waits| matches!(waits, Waits::HasPlace | Waits::HasPermit);
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
            self.tell_senders();
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
                Waits::ToSend(_) | Waits::Has(_) | Waits::HasPlace | Waits::HasPermit => {}
                Waits::ToReceive => {
                    receivers += 1;
                    called += usize::from(woken);
                }
            }
        }
        called
            >= if self.is_over() {
                receivers
            } else {
                receivers.min(self.queue.len())
            }
    }
}
