//! Keys and letters, and one length counted in pieces of every size.

use super::*;

/// Codes without an obvious period.
fn codes(count: usize) -> Vec<u8> {
    (0..count as u64)
        .map(|index| (index * index * 7 + index / 3) as u8 & 3)
        .collect()
}

#[test]
fn a_key_is_its_letters() {
    for text in ["A", "GGT", "GGTATTTTAATTTATAGT"] {
        assert_eq!(letters(key(text.as_bytes()), text.len()), text);
    }
    assert_eq!(key(b"CGT"), 0b01_10_11);
}

#[test]
fn pieces_make_no_difference() {
    let codes = codes(100);
    for length in LENGTHS {
        for size in [1, 2, length, 99] {
            let mut counter = Counter::new(length);
            for piece in codes.chunks(size) {
                counter.feed(piece);
            }
            let mut expected = std::collections::BTreeMap::new();
            for window in codes.windows(length) {
                let key = window
                    .iter()
                    .fold(0, |key, code| key << 2 | u64::from(*code));
                *expected.entry(key).or_insert(0) += 1;
            }
            for (key, count) in expected {
                assert_eq!(counter.of(key), count, "length {length}, pieces of {size}");
            }
        }
    }
}

#[test]
fn a_counter_that_resumes_counts_only_what_is_new() {
    let codes = codes(60);
    for length in LENGTHS {
        for cut in [0, 1, 17, 40] {
            let (mut whole, mut first, mut second) = (
                Counter::new(length),
                Counter::new(length),
                Counter::new(length),
            );
            whole.feed(&codes);
            first.feed(&codes[..cut]);
            second.resume_after(&codes[..cut]);
            second.feed(&codes[cut..]);
            for window in codes.windows(length) {
                let key = window
                    .iter()
                    .fold(0, |key, code| key << 2 | u64::from(*code));
                let both = first.of(key) + second.of(key);
                assert_eq!(both, whole.of(key), "length {length}, cut at {cut}");
            }
        }
    }
}

#[test]
fn fewer_nucleotides_than_the_length_are_no_key() {
    let mut counter = Counter::new(18);
    counter.feed(&[0; 17]);
    assert_eq!(counter.of(0), 0);
    counter.feed(&[0; 2]);
    assert_eq!(counter.of(0), 2);
}
