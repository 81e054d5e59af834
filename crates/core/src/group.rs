//! The group of a select: one word by which at most one of its branches takes effect.
//!
//! Most operations take effect in their own poll, and a select polls one branch after the other: it needs no group. A
//! `send` over a rendezvous channel is another matter. It waits in its channel, and the receiver takes its message from
//! there: it takes effect while nobody polls it. Those of one select are *members* of its group, and who wants to take
//! the message of one claims the group first. (Reppy, Russo and Xiao, Parallel Concurrent ML, 2009: the state of an
//! event's synchronisation; Go keeps `selectDone` in the goroutine.)
//!
//! | word | who may change it | to |
//! | --- | --- | --- |
//! | open | a receiver | claimed |
//! | | the select, which is polled | held |
//! | held | the select, which has asked all branches, and waits | open |
//! | claimed | the receiver, under the locks under which it claimed | taken; or open, if it could not take all it wanted |
//! | taken | the select, if the branch did not want it after all (its pattern) | held |
//!
//! While it is held, no receiver can take from a member: so the select may try other branches, which then take effect in
//! their own poll. A receiver that comes in that time is *turned away*, notes so in the word, and waits in its channel;
//! the select announces its members anew once it has opened the group. A select that has ended leaves it held; its
//! branches are dropped, or [leave](crate::wait_queue::Leave).
//!
//! The word decides, and nothing else: what belongs to a member is under the lock of its channel, which a claim, its end,
//! and the look at the member all hold. So every access is relaxed.

use crate::platform::atomic::{AtomicU32, Ordering};

const OPEN: u32 = 0;
const HELD: u32 = 1;
const CLAIMED: u32 = 2;
const TAKEN: u32 = 3;
const STATE: u32 = 3;
/// Somebody was turned away.
const TURNED_AWAY: u32 = 4;

/// See the [module](self).
#[derive(Debug)]
pub struct Group {
    word: AtomicU32,
    /// The select, by its number.
    owner: u64,
}

/// What a select finds that wants to hold its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It holds it.
    Held,
    /// A receiver has claimed it, and decides under the locks of its channels.
    Claimed,
    /// A receiver has taken the message of a member.
    Taken,
}

impl Group {
    /// The group of this select, which is being polled.
    pub(crate) fn held(owner: u64) -> Self {
        Self {
            word: AtomicU32::new(HELD),
            owner,
        }
    }

    /// The select.
    pub fn owner(&self) -> u64 {
        self.owner
    }

    /// Changes the word by `change`, which gives the new word, or nothing if there is none. Gives the last word it saw.
    fn change(&self, change: impl FnMut(u32) -> Option<u32>) -> Result<u32, u32> {
        // Relaxed: the word decides, and publishes nothing.
        self.word
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change)
    }

    /// Claims the group for a receiver, under the lock of a member's channel. `false`: it cannot be had, which is noted.
    pub fn claim(&self) -> bool {
        let changed = self.change(|word| {
            Some(match word & STATE {
                OPEN => word | CLAIMED,
                HELD if crate::mutant!("group_is_claimed_while_held") => word & !STATE | CLAIMED,
                _ => word | TURNED_AWAY,
            })
        });
        changed.is_ok_and(|word| word & STATE == OPEN)
    }

    /// The receiver that has claimed the group takes the message of a member.
    pub fn take(&self) {
        let _was = self.change(|word| Some(word & !STATE | TAKEN));
    }

    /// The receiver that has claimed the group takes nothing. Gives whether somebody was turned away meanwhile: then the
    /// select is to be woken.
    pub fn give_back(&self) -> bool {
        let was = self.change(|word| Some(word & !STATE | OPEN));
        was.is_ok_and(|word| word & TURNED_AWAY != 0)
    }

    /// The select is polled.
    pub(crate) fn hold(&self) -> Hold {
        let changed = self.change(|word| match word & STATE {
            OPEN => Some(word | HELD),
            _ => None,
        });
        match changed {
            Ok(_) => Hold::Held,
            Err(word) => match word & STATE {
                HELD => Hold::Held,
                CLAIMED => Hold::Claimed,
                _ => Hold::Taken,
            },
        }
    }

    /// The branch that was taken did not want it: the select goes on with the others.
    pub(crate) fn hold_again(&self) {
        let _was = self.change(|word| (word & STATE == TAKEN).then_some(word & !STATE | HELD));
    }

    pub(crate) fn is_open(&self) -> bool {
        // Relaxed: as in `change`.
        self.word.load(Ordering::Relaxed) & STATE == OPEN
    }

    /// The select waits. Gives whether somebody was turned away while it held its group.
    pub(crate) fn open(&self) -> bool {
        // Relaxed: as in `change`.
        self.word.swap(OPEN, Ordering::Relaxed) & TURNED_AWAY != 0
    }
}
