//! Messages that are accounted for, each by itself.

use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

// What has become of a message; none of it twice.
const RECEIVED: u8 = 1;
const GIVEN_BACK: u8 = 2;
const DROPPED: u8 = 4;
/// Its operation said that it was sent.
const ACCEPTED: u8 = 8;
/// Its operation was dropped with it, and could not say.
const UNKNOWN: u8 = 16;
/// It was there at all: else nothing is to be accounted for.
const MADE: u8 = 32;

/// What has become of the messages of a round.
pub(super) struct Ledger {
    fates: Box<[AtomicU8]>,
    left: AtomicU64,
    cut: AtomicU64,
}

/// A message.
pub(super) struct Message {
    id: u32,
    ledger: Arc<Ledger>,
}

impl Message {
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn received(self) {
        self.ledger.note(self.id, RECEIVED);
    }

    /// It was in the channel when nobody used that any more.
    pub(super) fn left(self) {
        self.ledger.left.fetch_add(1, Ordering::SeqCst);
        self.received();
    }

    pub(super) fn given_back(self) {
        self.ledger.note(self.id, GIVEN_BACK);
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.ledger.note(self.id, DROPPED);
    }
}

impl Ledger {
    pub(super) fn new(senders: usize, each: u32) -> Arc<Self> {
        Arc::new(Self {
            fates: (0..senders as u32 * each)
                .map(|_| AtomicU8::new(0))
                .collect(),
            left: AtomicU64::new(0),
            cut: AtomicU64::new(0),
        })
    }

    pub(super) fn make(self: &Arc<Self>, id: u32) -> Message {
        self.note(id, MADE);
        Message {
            id,
            ledger: self.clone(),
        }
    }

    fn note(&self, id: u32, what: u8) {
        let before = self.fates[id as usize].fetch_or(what, Ordering::SeqCst);
        assert!(before & what == 0, "{id}: {what} again, after {before:#b}");
    }

    pub(super) fn accept(&self, id: u32) {
        self.note(id, ACCEPTED);
    }

    pub(super) fn unknown(&self, id: u32) {
        self.note(id, UNKNOWN);
    }

    /// An operation was dropped.
    pub(super) fn count_cut(&self) {
        self.cut.fetch_add(1, Ordering::SeqCst);
    }

    /// Nobody uses the channel any more. Messages in it went with its last receiver, if that went first; those of a
    /// sender that was aborted may have gone with it.
    #[track_caller]
    pub(super) fn close(&self, receivers_went: bool, senders_went: bool) -> Books {
        let mut books = Books {
            left: self.left.load(Ordering::SeqCst),
            cut: self.cut.load(Ordering::SeqCst),
            ..Books::default()
        };
        for (id, fate) in self.fates.iter().enumerate() {
            let fate = fate.load(Ordering::SeqCst);
            let has = |what: u8| u64::from(fate & what != 0);
            if has(MADE) == 0 {
                assert_eq!(fate, 0, "{id} was never made: {fate:#b}");
                continue;
            }
            let (accepted, unknown) = (has(ACCEPTED) == 1, has(UNKNOWN) == 1);
            assert_eq!(has(DROPPED), 1, "{id} is alive still: {fate:#b}");
            let found = has(RECEIVED) + has(GIVEN_BACK);
            assert!(found <= 1, "{id} was received, and given back");
            assert!(
                !(accepted || unknown) || has(GIVEN_BACK) == 0,
                "{id} was given back, and sent"
            );
            let may_go = accepted && receivers_went || unknown || senders_went && !accepted;
            assert!(found == 1 || may_go, "{id} is lost: {fate:#b}");
            books.made += 1;
            books.accepted += u64::from(accepted);
            books.received += has(RECEIVED);
            books.given_back += has(GIVEN_BACK);
            books.dropped += 1 - found;
        }
        books.received -= books.left;
        let all = books.received + books.left + books.given_back + books.dropped;
        assert_eq!(books.made, all, "{books}");
        books
    }
}

/// How many messages there were, and what became of them.
#[derive(Default)]
pub(super) struct Books {
    pub(super) made: u64,
    accepted: u64,
    received: u64,
    left: u64,
    given_back: u64,
    /// With the operation that was to send it, or with the channel.
    dropped: u64,
    /// Operations.
    cut: u64,
}

impl Books {
    pub(super) const HEADER: &str =
        "     made  accepted  received     left  given back  dropped  cut off";
}

impl AddAssign for Books {
    fn add_assign(&mut self, other: Self) {
        self.made += other.made;
        self.accepted += other.accepted;
        self.received += other.received;
        self.left += other.left;
        self.given_back += other.given_back;
        self.dropped += other.dropped;
        self.cut += other.cut;
    }
}

impl Sum for Books {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

impl fmt::Display for Books {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>9} {:>9} {:>9} {:>8} {:>11} {:>8} {:>9}",
            self.made,
            self.accepted,
            self.received,
            self.left,
            self.given_back,
            self.dropped,
            self.cut
        )
    }
}
