//! The published sample, counted in every way under every model, and larger inputs in which all ways agree.

use gossamer::{Model, Runtime};

use crate::counter::Counter;
use crate::fasta::Sequence;
use crate::messages::Over;
use crate::{generate, messages, parallel, report, serial};

/// What the Benchmarks Game publishes for the input of N = 1000.
const PUBLISHED: &str = "\
T 31.520\nA 29.600\nC 19.480\nG 19.400\n
AT 9.922\nTT 9.602\nTA 9.402\nAA 8.402\nGA 6.321\nTC 6.301\nTG 6.201\nGT 6.041\nCT 5.961\nAG 5.841\nCA 5.461\nAC 5.441
CC 4.041\nCG 4.021\nGC 3.701\nGG 3.341\n
54\tGGT\n24\tGGTA\n4\tGGTATT\n0\tGGTATTTTAATT\n0\tGGTATTTTAATTTATAGT\n";

fn input(n: u64) -> Vec<u8> {
    let mut text = Vec::new();
    generate::fasta(n, &mut text).expect("memory can be written");
    text
}

fn sequence(text: Vec<u8>) -> Sequence<std::io::Cursor<Vec<u8>>> {
    Sequence::new(std::io::Cursor::new(text), "x.fa", "THREE")
}

fn runtimes() -> impl Iterator<Item = (Model, Runtime)> {
    let pool = |workers| Model::Pool { workers };
    let models = [Model::Single, pool(1), pool(2), pool(3), Model::Threads];
    let built = |model| Runtime::builder().model(model).build();
    models
        .into_iter()
        .map(move |model| (model, built(model).expect("a runtime")))
}

const OVER: [Over; 5] = [
    Over::Channel { capacity: 1 },
    Over::Channel { capacity: 128 },
    Over::Pipe { capacity: 1 },
    Over::Pipe { capacity: 3 },
    Over::Pipe { capacity: 16 },
];

/// Counted in every way, each with its name.
fn every_way(text: &[u8]) -> Vec<(String, Vec<Counter>)> {
    let fresh = || sequence(text.to_vec());
    let mut all = vec![(
        "serial".to_owned(),
        serial::count(&mut fresh()).expect("fine"),
    )];
    for (model, runtime) in runtimes() {
        for ranges in [1, 2, 5] {
            let counted = parallel::count(&runtime, &mut fresh(), ranges).expect("fine");
            all.push((format!("{ranges} ranges, {model}"), counted));
        }
        for over in OVER {
            let (counted, _) = messages::count(&runtime, fresh(), over).expect("fine");
            all.push((format!("{over:?}, {model}"), counted));
        }
    }
    all
}

#[test]
fn the_published_sample_comes_out_in_every_way() {
    for (way, counters) in every_way(&input(1_000)) {
        assert_eq!(report::text(&counters), PUBLISHED, "{way}");
    }
}

/// Many blocks and buffers (which are small in tests), the last of them short.
#[test]
fn all_ways_agree_on_a_larger_input() {
    let text = input(6_000);
    let ways = every_way(&text);
    let expected = report::text(&ways[0].1);
    for (way, counters) in ways {
        assert_eq!(report::text(&counters), expected, "{way}");
    }
}

/// Fewer nucleotides than most lengths have: no shares of pairs, and zeros.
#[test]
fn a_single_nucleotide_is_counted_in_every_way() {
    let expected =
        "G 100.000\n\n\n0\tGGT\n0\tGGTA\n0\tGGTATT\n0\tGGTATTTTAATT\n0\tGGTATTTTAATTTATAGT\n";
    for (way, counters) in every_way(b">THREE\ng") {
        assert_eq!(report::text(&counters), expected, "{way}");
    }
}

#[test]
fn a_bad_line_far_inside_ends_every_way_with_the_same_error() {
    let mut text = input(5_000);
    text.extend_from_slice(b"acgtx\n");
    let expected = "x.fa:838: 'x' in column 5 of the sequence >THREE is no nucleotide";
    let same = |error: String| assert!(error.starts_with(expected), "{error}");
    same(
        serial::count(&mut sequence(text.clone()))
            .expect_err("bad")
            .to_string(),
    );
    for (_, runtime) in runtimes() {
        let error = parallel::count(&runtime, &mut sequence(text.clone()), 2);
        same(error.expect_err("bad").to_string());
        for over in OVER {
            let error = messages::count(&runtime, sequence(text.clone()), over);
            same(error.expect_err("bad").to_string());
        }
    }
}
