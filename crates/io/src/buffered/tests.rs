//! What a buffer keeps, and what it takes.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use gossamer_core::wait::Wait;

use super::{BufReader, CAPACITY};
use crate::unix::UnixStream;

#[track_caller]
fn waits<F: Future>(operation: F) {
    let polled = pin!(operation).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Pending), "it does not wait");
}

#[test]
fn a_buffer_takes_no_memory_while_it_is_waited_for_and_empty() {
    let (one, other) = UnixStream::pair().expect("two more descriptors");
    let mut reader = BufReader::new(one);
    assert_eq!(reader.buffer.bytes.capacity(), 0);
    for _ in 0..2 {
        waits(reader.next_line());
        assert_eq!(reader.buffer.bytes.capacity(), 0);
        other.try_write(b"a line\nhalf").expect("there is room");
        let line = reader.next_line().wait().expect("open");
        assert_eq!(line.as_deref(), Some("a line"));
        waits(reader.next_line());
        assert_eq!(reader.buffer.bytes.capacity(), CAPACITY);
        reader.consume(4);
    }
}

#[test]
fn a_line_that_comes_in_pieces_is_searched_once() {
    let (one, other) = UnixStream::pair().expect("two more descriptors");
    let mut reader = BufReader::with_capacity(3, one);
    other.try_write(&[b'x'; 100]).expect("there is room");
    waits(reader.next_line());
    assert_eq!(reader.buffer.searched, 100);
    reader.consume(60);
    assert_eq!(reader.buffer.searched, 40);
    other.try_write(b"\n").expect("there is room");
    let line = reader.next_line().wait().expect("open");
    assert_eq!(line.map(|line| line.len()), Some(40));
    assert_eq!((reader.buffer.searched, reader.position()), (0, 101));
}
