//! Reading into a buffer: lines, and copying. Operations that end early leave their bytes there.

use std::future::poll_fn;
use std::io::{BufRead, Cursor, ErrorKind};
use std::net::Shutdown;
use std::pin::pin;
use std::string::FromUtf8Error;
use std::task::Poll;
use std::time::Duration;

use gossamer::net::{BufReader, Connection, Reader, Socket, copy};
use gossamer::{Model, TimeoutExt, Wait};
use rustix::net::sockopt::set_socket_linger;

use super::{Ends, both, of_connections, unix, waits};
use crate::conform::Kind;
use crate::models::runtime;

of_connections! {
    lines_in_two_parts,
    lines_byte_by_byte,
    what_comes_last_is_a_line,
    nothing_comes,
    a_line_that_is_too_long,
    what_is_no_text,
    a_buffer_in_the_hand,
    halves_are_read_and_written,
    copied_in_time_or_from_there_on,
    a_copy_that_cannot_be_written,
    a_copy_that_cannot_be_read,
}

const SOON: Duration = Duration::from_millis(1);

/// Ends of lines of all kinds; none is missing.
const TEXT: &str = "first\nwith return\r\n\n\r\na\rb\r\r\n\u{e4}\u{1f9f5}\n";

/// The lines, as the standard library takes them.
fn expected(text: &[u8]) -> Vec<String> {
    text.lines().map(|line| line.expect("text")).collect()
}

/// Reads as many lines.
async fn lines(kind: Kind, reader: &mut BufReader<impl Reader>, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    while lines.len() < count {
        let line = kind.finish(reader.next_line()).await.expect("open");
        lines.push(line.expect("there are more"));
    }
    lines
}

/// Polls an operation once, and drops it.
async fn once<O: Future>(operation: O) -> Option<O::Output> {
    let mut operation = pin!(operation);
    poll_fn(|cx| {
        Poll::Ready(match operation.as_mut().poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// Whatever the first part ends with.
async fn lines_in_two_parts<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    for capacity in [1, 3, 100] {
        let mut reader = BufReader::with_capacity(capacity, &one);
        for at in 0..=TEXT.len() {
            let (first, rest) = TEXT.as_bytes().split_at(at);
            let whole = first.iter().filter(|byte| **byte == b'\n').count();
            other.try_write(first).expect("there is room");
            let mut read = lines(kind, &mut reader, whole).await;
            waits(pin!(reader.next_line())).await;
            other.try_write(rest).expect("there is room");
            let all = expected(TEXT.as_bytes());
            read.extend(lines(kind, &mut reader, all.len() - whole).await);
            assert_eq!(read, all, "in two, after {at} bytes");
        }
        assert_eq!(reader.position(), (TEXT.len() * (TEXT.len() + 1)) as u64);
    }
}

/// Each is begun anew with each byte, and dropped or late.
async fn lines_byte_by_byte<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut reader = BufReader::new(one);
    for (number, line) in TEXT.split_inclusive('\n').enumerate() {
        for byte in line.bytes() {
            waits(pin!(reader.next_line())).await;
            if number == 1 {
                let late = kind.finish(reader.next_line().timeout(SOON)).await;
                late.expect_err("its end has not come");
            }
            other.try_write(&[byte]).expect("there is room");
        }
        let read = lines(kind, &mut reader, 1).await;
        assert_eq!(read, expected(line.as_bytes()));
    }
}

async fn what_comes_last_is_a_line<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut reader = BufReader::new(one);
    reader.set_line_limit(4);
    other.try_write(b"one\nlas\r").expect("there is room");
    drop(other);
    // The last one has no end, of which its last byte would be a part.
    assert_eq!(lines(kind, &mut reader, 2).await, ["one", "las\r"]);
    for _ in 0..2 {
        let line = kind.finish(reader.next_line()).await;
        assert_eq!(line.expect("the end"), None);
        assert_eq!(kind.finish(reader.fill()).await.expect("the end"), 0);
    }
}

async fn nothing_comes<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut reader = BufReader::new(one);
    waits(pin!(reader.fill())).await;
    drop(other);
    assert_eq!(
        kind.finish(reader.next_line()).await.expect("the end"),
        None
    );
    let (to, _server) = unix();
    let copied = kind.finish(copy(&mut reader, &to)).await;
    assert_eq!((copied.expect("the end"), reader.position()), (0, 0));
}

async fn a_line_that_is_too_long<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut reader = BufReader::new(one);
    reader.set_line_limit(4);
    for (sent, found) in [
        ("four\r\nfive!\r\n", "has 5 bytes"),
        ("four\r\nfive!", "has more bytes"),
        ("four\r\nfour\r!", "has more bytes"),
    ] {
        other.try_write(sent.as_bytes()).expect("there is room");
        assert_eq!(lines(kind, &mut reader, 1).await, ["four"]);
        for _ in 0..2 {
            let error = kind.finish(reader.next_line()).await.expect_err("too long");
            let text = format!(
                "a line may have 4 bytes, and this one {found}: set another limit, or give the peer up"
            );
            assert_eq!(
                (error.kind(), error.to_string()),
                (ErrorKind::QuotaExceeded, text)
            );
        }
        // It is there.
        assert_eq!(reader.buffer(), &sent.as_bytes()[6..]);
        reader.consume(reader.buffer().len());
    }
    reader.set_line_limit(6);
    other.try_write(b"not me!").expect("there is room");
    drop(other);
    let error = kind.finish(reader.next_line()).await.expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::QuotaExceeded);
    reader.set_line_limit(7);
    assert_eq!(lines(kind, &mut reader, 1).await, ["not me!"]);
}

async fn what_is_no_text<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut reader = BufReader::new(one);
    other
        .try_write(b"text\nabc\xff\r\ntext\nlast\xff")
        .expect("there is room");
    drop(other);
    for bytes in [b"abc\xff", &b"last\xff"[..]] {
        assert_eq!(lines(kind, &mut reader, 1).await, ["text"]);
        let error = kind.finish(reader.next_line()).await.expect_err("no text");
        let at = bytes.len() - 1;
        let text = error.to_string();
        assert!(text.contains(&format!("from index {at}")), "{text}");
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let error = error.downcast::<FromUtf8Error>().expect("it has the line");
        assert_eq!(error.into_bytes(), bytes);
    }
    assert_eq!(
        kind.finish(reader.next_line()).await.expect("the end"),
        None
    );
}

async fn a_buffer_in_the_hand<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut reader = BufReader::with_capacity(4, one);
    waits(pin!(reader.fill())).await;
    other.try_write(b"abcdef").expect("there is room");
    for _ in 0..2 {
        assert_eq!(kind.finish(reader.fill()).await.expect("open"), 4);
    }
    reader.consume(3);
    assert_eq!((reader.buffer(), reader.position()), (&b"d"[..], 3));
    // There is something, and so nobody reads.
    assert_eq!(kind.finish(reader.fill()).await.expect("open"), 1);
    reader.consume(1);
    assert_eq!(kind.finish(reader.fill()).await.expect("open"), 2);
    reader.consume(1);
    assert_eq!(
        reader.get_ref().try_write(b"back").expect("there is room"),
        4
    );
    let (one, rest) = reader.into_parts();
    assert_eq!(rest, b"f");
    other.try_write(b"g").expect("there is room");
    assert_eq!(kind.finish(one.read(&mut [0; 9])).await.expect("open"), 1);
}

/// An echo, and its client.
async fn halves_are_read_and_written<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (reads, writes) = one.into_split();
    let mut reader = BufReader::new(reads);
    let client = async {
        other.write_all(b"hello\n").await.expect("open");
        let mut answers = BufReader::new(&other);
        let answer = answers.next_line().await.expect("open");
        other.shutdown(Shutdown::Write).expect("open");
        answer
    };
    let ended = both(copy(&mut reader, &writes), client);
    let (copied, answer) = kind.finish(ended).await;
    assert_eq!(copied.expect("to its end"), 6);
    assert_eq!(answer.as_deref(), Some("hello"));
    let (reads, _) = reader.into_parts();
    reads
        .reunite(writes)
        .map_err(drop)
        .expect("they belong together");
}

/// Copies by operations that end early, at random.
async fn copied_in_time_or_from_there_on<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    let (to, server) = unix();
    let bytes: Vec<u8> = (0..900_000_u32).map(|at| (at / 11) as u8).collect();
    let (mut from, mut into) = (Cursor::new(&bytes), Cursor::new(vec![0; bytes.len()]));
    let mut reader = BufReader::with_capacity(random.usize(1_000..40_000), one);
    let (mut is_closed, mut is_copied, mut is_read) = (false, false, false);
    while !is_read {
        if from.position() == bytes.len() as u64 {
            if !is_closed {
                other.shutdown(Shutdown::Write).expect("open");
            }
            is_closed = true;
        } else if random.bool() {
            let written = once(other.write_all_from(&mut from)).await;
            written.unwrap_or(Ok(())).expect("open");
        }
        let before = reader.position();
        let copied = match random.bool() {
            true => once(copy(&mut reader, &to)).await,
            false => {
                let limit = Duration::from_micros(random.u64(..200));
                kind.finish(copy(&mut reader, &to).timeout(limit))
                    .await
                    .ok()
            }
        };
        if let Some(copied) = copied {
            let copied = copied.expect("open");
            assert_eq!(copied, reader.position() - before, "seed {seed}");
            // Whatever is missing by now has been lost.
            to.shutdown(Shutdown::Write).expect("open");
            is_copied = true;
        }
        // Slowly.
        if random.u8(..4) == 0 {
            let ended = server.read_exact_into(&mut into).timeout(SOON);
            let ended = kind.finish(ended).await;
            let ended =
                ended.map(|ended| ended.unwrap_or_else(|error| panic!("{error}: seed {seed}")));
            is_read = ended.is_ok() && is_copied;
        }
        assert!(
            into.position() <= reader.position(),
            "bytes from nowhere: seed {seed}"
        );
    }
    assert_eq!(reader.position(), bytes.len() as u64, "seed {seed}");
    assert!(
        into.into_inner() == bytes,
        "bytes are lost or out of order: seed {seed}"
    );
}

async fn a_copy_that_cannot_be_written<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (from, source) = unix();
    let mut reader = BufReader::new(from);
    source.try_write(b"abcd").expect("there is room");
    let late = kind.finish(copy(&mut reader, &one).timeout(SOON)).await;
    late.expect_err("its end has not come");
    assert_eq!(reader.position(), 4);
    one.shutdown(Shutdown::Write).expect("open");
    source.try_write(b"efgh").expect("there is room");
    for _ in 0..2 {
        let error = kind
            .finish(copy(&mut reader, &one))
            .await
            .expect_err("closed");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        let text = "0 bytes were copied, and then writing has failed: Broken pipe (os error 32)";
        assert_eq!(error.to_string(), text);
    }
    // What was not written goes elsewhere.
    drop(source);
    assert_eq!(reader.buffer(), b"efgh");
    let copied = kind.finish(copy(&mut reader, &other)).await;
    assert_eq!(copied.expect("it is open that way"), 4);
    let mut bytes = [0; 4];
    kind.finish(one.read_exact(&mut bytes)).await.expect("open");
    assert_eq!(&bytes, b"efgh");
}

async fn a_copy_that_cannot_be_read<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (to, server) = unix();
    // What the peer has not read makes a reset of its end.
    one.try_write(b"unread").expect("there is room");
    let mut reader = BufReader::new(one);
    let breaks = async |other: Connection<S>| {
        other.write_all(b"abcd").await.expect("open");
        server.read_exact(&mut [0; 4]).await.expect("copied");
        set_socket_linger(&other, Some(Duration::ZERO)).expect("an option");
        drop(other);
    };
    let (copied, ()) = kind
        .finish(both(copy(&mut reader, &to), breaks(other)))
        .await;
    let error = copied.expect_err("the peer has broken it");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let text = error.to_string();
    let expected = "4 bytes were copied, and then reading has failed: Connection reset";
    assert!(text.starts_with(expected), "{text}");
}

/// Each step counts in the budget of the poll, and here each byte is a step.
#[test]
fn many_steps_take_several_polls() {
    const MANY: usize = 4_000;
    let task = async {
        let ((one, other), (to, _server)) = (unix(), unix());
        let mut reader = BufReader::with_capacity(1, one);
        other.try_write(&[7; MANY]).expect("there is room");
        let ended = once(copy(&mut reader, &to)).await;
        assert!(ended.is_none() && reader.position() < MANY as u64);
    };
    let rt = runtime(Model::Single);
    rt.spawn(task).wait().expect("no panic");
}
