//! The channel for one message: it gives its output once, and how small it is.

use gossamer::channel::oneshot;

use crate::hand::Hand;

#[test]
#[should_panic(expected = "polled after it had given its output")]
fn polled_once_too_often() {
    let (tx, rx) = oneshot();
    tx.send(()).expect("the receiver is there");
    let mut receives = Hand::new(rx);
    assert!(receives.poll().is_ready());
    let _again = receives.poll();
}

/// A task parked on its own one-shot is small: the pointer and nothing else, and one allocation of 16 bytes.
#[test]
fn it_is_small() {
    let (tx, rx) = oneshot::<u32>();
    assert_eq!((size_of_val(&tx), size_of_val(&rx)), (8, 8));
    let allocated = |info: allocation_counter::AllocationInfo| (info.count_total, info.bytes_total);
    let info = allocation_counter::measure(|| drop(oneshot::<u32>()));
    assert_eq!(allocated(info), (1, 16));
}
