//! What is read, in which pieces, and what is refused with which line.

use super::*;

fn read(text: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut sequence = Sequence::new(text, "x.fa", "THREE");
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        match sequence.next_line(&mut line) {
            Ok(true) => lines.push(line),
            Ok(false) => return Ok(lines),
            Err(error) => return Err(error.to_string()),
        }
    }
}

#[test]
fn lines_of_the_sequence_alone_come() {
    let text = b"; old\n\n>ONE\nAC\n>THREE x\nacgt\n\n; note\r\nGG\r\n>FOUR\nNN\n";
    assert_eq!(read(text), Ok(vec![vec![0, 1, 2, 3], vec![2, 2]]));
    // Neither a name that begins alike, nor one further on.
    assert_eq!(read(b">THREES THREE\nA\n>THREE\nC"), Ok(vec![vec![1]]));
}

#[test]
fn a_line_longer_than_the_buffer_comes_in_pieces() {
    let mut text = b">THREE\n".to_vec();
    text.resize(text.len() + 2 * BUFFER + 5, b'C');
    let lines = read(&text).expect("nucleotides");
    assert_eq!(lines.concat(), vec![1; 2 * BUFFER + 5]);
    assert!(lines.iter().all(|line| line.len() <= BUFFER));
    text.push(b'?');
    let error = read(&text).expect_err("no nucleotide");
    let column = 2 * BUFFER + 6;
    assert!(
        error.starts_with(&format!("x.fa:2: '?' in column {column} ")),
        "{error}"
    );
}

#[test]
fn a_header_or_comment_longer_than_the_buffer_is_no_sequence() {
    let long = "A".repeat(2 * BUFFER);
    let third = Ok(vec![vec![1]]);
    for text in [
        format!(">THREE {long}\nC\n"),
        format!(">THREE\n;{long}\nC\n"),
        format!(">THREE\nC\n;{long}"),
        format!(";{long}\n>THREE\nC\n>{long}"),
        format!(">ONE {long}\nG\n>THREE\nC\n"),
        // The buffer's end right behind the header, and in its line's end.
        format!(">THREE {}\nC\n", &long[..BUFFER - 7]),
        format!(">THREE {}\r\nC\n", &long[..BUFFER - 8]),
    ] {
        assert_eq!(read(text.as_bytes()), third, "{text}");
    }
    // The input ends in it.
    let error = read(format!(">THREE {long}").as_bytes()).expect_err("empty");
    assert!(
        error.starts_with("x.fa:1: the sequence >THREE is empty"),
        "{error}"
    );
    // The line after it counts anew.
    let error = read(format!(">THREE {long}\nC?\n").as_bytes()).expect_err("odd");
    assert!(error.starts_with("x.fa:2: '?' in column 2 "), "{error}");
}

#[test]
fn a_carriage_return_is_a_part_of_a_lines_end_alone() {
    // It comes as the buffer's last byte, as the one before, and as the first of the next.
    for length in BUFFER - 9..BUFFER + 3 {
        let line = "C".repeat(length);
        for end in ["\r\n", "\r", "\n", ""] {
            let lines = read(format!(">THREE\n{line}{end}").as_bytes()).expect("nucleotides");
            assert_eq!(lines.concat(), vec![1; length], "{length} {end:?}");
        }
        for more in ["\rC\n", "\rC", "\r\r\n", "\r\r"] {
            let error = read(format!(">THREE\n{line}{more}").as_bytes()).expect_err("odd");
            let column = length + 1;
            assert!(
                error.starts_with(&format!("x.fa:2: '\\r' in column {column} ")),
                "{more:?}: {error}"
            );
        }
    }
}

#[test]
fn a_block_has_whole_lines() {
    let mut sequence = Sequence::new(&b">THREE\nAA\nCC\nGG\n"[..], "x.fa", "THREE");
    let mut block = Vec::new();
    assert!(sequence.next_block(3, &mut block).expect("fine"));
    assert_eq!(block, [0, 0, 1, 1]);
    block.clear();
    assert!(sequence.next_block(3, &mut block).expect("fine"));
    assert_eq!((&block[..], sequence.nucleotides()), (&[2, 2][..], 6));
    assert!(!sequence.next_block(9, &mut block).expect("the end"));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, error) in [
        (&b""[..], "x.fa:1: the input is empty: expected FASTA"),
        (b"\n\n", "x.fa:2: the input is empty"),
        (b"\nACGT\n", "x.fa:2: \"ACGT\" is no FASTA header"),
        (b"\x00\xff>", "x.fa:1: \"\\x00\\xff>\" is no FASTA header"),
        (
            b">ONE\nA\n>TWO x\nC\n",
            "x.fa:4: the input ends without a sequence >THREE; it has >ONE, >TWO: choose",
        ),
        (b">ONE\n>THREE", "x.fa:2: the sequence >THREE is empty"),
        (b">ONE\nA\n>THR", "x.fa:3: the input ends without"),
        (b">THREE\r", "x.fa:1: the sequence >THREE is empty"),
        (
            b">THREE\n\n>FOUR\nA",
            "x.fa:3: the sequence >THREE is empty",
        ),
        (
            b">THREE\nAC\nACNT\n",
            "x.fa:3: 'N' in column 3 of the sequence >THREE is no nucleotide: expected A, C, G or T",
        ),
        (b">THREE\nA\rC\n", "x.fa:2: '\\r' in column 2"),
    ] {
        let said = read(text).expect_err("bad input");
        assert!(said.starts_with(error), "{said}\nexpected {error}");
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let mut sequence = Sequence::new(Broken, "x.fa", "THREE");
    let error = sequence.next_line(&mut Vec::new()).expect_err("broken");
    assert!(
        error
            .to_string()
            .starts_with("cannot read x.fa: the disk is gone;")
    );
}
