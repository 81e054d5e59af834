//! What both sides know of each connection.

use std::fmt;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;

use crate::cutting::cut_off;

/// The number of the last connection to a listener.
pub(super) const NONE: u64 = u64::MAX;

/// The connections of one listener, by the numbers that they send first.
#[derive(Default)]
pub(super) struct Ledger {
    /// Whose they are, and in which round, which is the seed.
    pub(super) who: String,
    pub(super) all: Vec<Entry>,
    pub(super) accepted: AtomicU64,
    pub(super) connected: AtomicU64,
    /// Attempts that were dropped: some may have connected.
    pub(super) perhaps_connected: AtomicU64,
    /// Servers that left before they knew the number.
    pub(super) left_early: AtomicU64,
    cut: AtomicU64,
}

/// A connection.
#[derive(Default)]
pub(super) struct Entry {
    /// Bytes of which the client knows that they were written.
    pub(super) written: AtomicU64,
    pub(super) read: AtomicU64,
    /// How many servers had it.
    pub(super) servers: AtomicU64,
    /// The server read to the end of what was sent.
    pub(super) was_ended: AtomicU64,
    /// The client reset it, so that the server may not have been told of it, or may have lost its first bytes.
    pub(super) was_reset: AtomicU64,
    /// The client was told how many bytes came.
    pub(super) was_told: AtomicU64,
}

pub(super) fn add(count: &AtomicU64, so_many: u64) {
    count.fetch_add(so_many, Ordering::SeqCst);
}

fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::SeqCst)
}

/// The byte at this place of what a connection sends: its number first.
pub(super) fn byte_at(connection: u64, place: u64) -> u8 {
    let number = connection.to_le_bytes();
    let mixed = (connection << 32 | place).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let of_number = number.get(place as usize).copied();
    of_number.unwrap_or((mixed >> 56) as u8)
}

impl Ledger {
    pub(super) fn new(who: String, connections: usize) -> Self {
        let all = (0..connections).map(|_| Entry::default()).collect();
        Self {
            all,
            who,
            ..Self::default()
        }
    }

    /// As [`cut_off`], counted.
    pub(super) async fn cut<O: Future>(&self, rng: &mut Rng, operation: O) -> Option<O::Output> {
        let output = cut_off(rng, operation).await;
        add(&self.cut, u64::from(output.is_none()));
        output
    }

    /// Both sides have ended: nothing was lost, and nothing came from nowhere.
    pub(super) fn close(&self) -> Counts {
        let mut counts = Counts {
            connections: get(&self.connected),
            cut: get(&self.cut),
            ..Counts::default()
        };
        let (mut reset, mut lost) = (0, 0);
        for (number, entry) in self.all.iter().enumerate() {
            let (written, read) = (get(&entry.written), get(&entry.read));
            let (ended, told) = (get(&entry.was_ended), get(&entry.was_told));
            let number = format!("{}: connection {number}", self.who);
            assert!(get(&entry.servers) <= 1, "{number} came twice");
            assert!(read <= written, "{number}: {read} of {written} bytes");
            let is_all = read == written;
            assert!(
                ended == 0 || is_all,
                "{number}: only {read} of {written} bytes, and the end"
            );
            assert!(told <= ended, "{number} was told, and not ended");
            let was_reset = get(&entry.was_reset);
            reset += was_reset;
            lost += u64::from(written >= 8 && was_reset == 0 && get(&entry.servers) == 0);
            counts.whole += told;
            counts.partly += u64::from(!is_all);
            counts.bytes += read;
        }
        // The last one is no client's.
        let (accepted, most) = (
            get(&self.accepted) - 1,
            counts.connections + get(&self.perhaps_connected),
        );
        let least = counts.connections - reset;
        assert!(
            (least..=most).contains(&accepted),
            "{}: {accepted} were accepted, of {least} to {most}",
            self.who
        );
        let left_early = get(&self.left_early);
        assert!(
            lost <= left_early,
            "{}: {lost} were lost, and {left_early} servers left early",
            self.who
        );
        counts
    }
}

/// What has been seen.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) connections: u64,
    /// Of which the server read all that was sent, and said so.
    pub(super) whole: u64,
    /// Of which the server read less than was sent.
    pub(super) partly: u64,
    /// Operations that were dropped.
    pub(super) cut: u64,
    pub(super) bytes: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.connections += other.connections;
        self.whole += other.whole;
        self.partly += other.partly;
        self.cut += other.cut;
        self.bytes += other.bytes;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            connections,
            whole,
            partly,
            cut,
            bytes,
        } = self;
        write!(
            f,
            "{connections} connections, {whole} whole, {partly} read in part, {bytes} bytes; {cut} operations dropped"
        )
    }
}
