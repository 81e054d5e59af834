//! Other descriptors.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use gossamer::TimeoutExt;
use gossamer::net::AsyncFd;
use rustix::event::{EventfdFlags, eventfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::{everywhere, waits};

fn pipe() -> (AsyncFd<File>, AsyncFd<File>) {
    let (reads, writes) = pipe_with(PipeFlags::NONBLOCK).expect("two more descriptors");
    (AsyncFd::new(reads.into()), AsyncFd::new(writes.into()))
}

#[test]
fn pipes() {
    everywhere(|kind| async move {
        let (reads, writes) = pipe();
        let mut buffer = [0; 9];
        {
            let mut read = pin!(reads.read_with(|mut file| file.read(&mut buffer)));
            waits(read.as_mut()).await;
            let written = kind
                .finish(writes.write_with(|mut file| file.write(b"hello")))
                .await;
            assert_eq!(written.expect("open"), 5);
            assert_eq!(kind.finish(read).await.expect("open"), 5);
        }
        assert_eq!(&buffer[..5], b"hello");
        let mut readable = pin!(reads.readable());
        let none = reads.try_read_with(|mut file| file.read(&mut buffer));
        assert_eq!(
            none.expect_err("nothing is there").kind(),
            ErrorKind::WouldBlock
        );
        waits(readable.as_mut()).await;
        drop(writes);
        kind.finish(readable).await.expect("it can be polled");
        let read = kind
            .finish(reads.read_with(|mut file| file.read(&mut buffer)))
            .await;
        assert_eq!(read.expect("the end"), 0);
    });
}

#[test]
fn room_in_a_pipe() {
    everywhere(|kind| async move {
        let (reads, writes) = pipe();
        let full = loop {
            if let Err(error) = writes.try_write_with(|mut file| file.write(&[7; 4096])) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        waits(pin!(writes.writable())).await;
        let late = writes
            .write_with(|mut file| file.write(b"never"))
            .timeout(Duration::from_millis(1));
        kind.finish(late).await.expect_err("there is no room");
        let mut write = pin!(writes.write_with(|mut file| file.write(b"x")));
        waits(write.as_mut()).await;
        let mut all = vec![0; 1 << 20];
        reads
            .try_read_with(|mut file| file.read(&mut all))
            .expect("it is full");
        assert_eq!(kind.finish(write).await.expect("open"), 1);
        drop(reads);
        let error = kind
            .finish(writes.write_with(|mut file| file.write(b"x")))
            .await;
        assert_eq!(
            error.expect_err("nobody reads").kind(),
            ErrorKind::BrokenPipe
        );
    });
}

#[test]
fn counters() {
    everywhere(|kind| async move {
        let event = eventfd(0, EventfdFlags::NONBLOCK).expect("one more descriptor");
        let event = AsyncFd::new(event);
        let mut number = [0; 8];
        let mut read = pin!(event.read_with(|event| Ok(rustix::io::read(event, &mut number)?)));
        waits(read.as_mut()).await;
        let three = 3_u64.to_ne_bytes();
        event
            .try_write_with(|event| Ok(rustix::io::write(event, &three)?))
            .expect("room");
        assert_eq!(kind.finish(read).await.expect("it counts"), 8);
        assert_eq!(number, three);
    });
}

#[test]
fn timers() {
    everywhere(|kind| async move {
        let flags = TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).expect("one more descriptor");
        let timer = AsyncFd::new(timer);
        let mut number = [0; 8];
        let mut ends = pin!(timer.read_with(|timer| Ok(rustix::io::read(timer, &mut number)?)));
        waits(ends.as_mut()).await;
        let at = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
        let soon = Itimerspec {
            it_interval: at(0),
            it_value: at(1),
        };
        timerfd_settime(timer.get_ref(), TimerfdTimerFlags::empty(), &soon).expect("it is set");
        assert_eq!(kind.finish(ends).await.expect("it ends"), 8);
        assert_eq!(u64::from_ne_bytes(number), 1);
    });
}

/// A descriptor goes on when nobody waits for it any more; and only one at a time may.
#[test]
fn in_several_hands() {
    everywhere(|kind| async move {
        let (reads, writes) = pipe_with(PipeFlags::NONBLOCK).expect("two more descriptors");
        let reads = Arc::new(reads);
        let read = |reads: &Arc<OwnedFd>| Ok(rustix::io::read(reads, &mut [0])?);
        for _ in 0..3 {
            let shared = AsyncFd::new(reads.clone());
            assert_eq!(shared.as_raw_fd(), reads.as_raw_fd());
            let mut waiting = pin!(shared.read_with(read));
            waits(waiting.as_mut()).await;
            rustix::io::write(&writes, b"x").expect("there is room");
            assert_eq!(kind.finish(waiting).await.expect("open"), 1);
        }
        let (one, other) = (AsyncFd::new(reads.clone()), AsyncFd::new(reads));
        let mut waiting = pin!(one.read_with(read));
        waits(waiting.as_mut()).await;
        let error = kind.finish(other.read_with(read)).await;
        assert_eq!(
            error.expect_err("it is there").kind(),
            ErrorKind::AlreadyExists
        );
        rustix::io::write(&writes, b"x").expect("there is room");
        assert_eq!(kind.finish(waiting).await.expect("open"), 1);
    });
}

/// A file on a disk is always ready.
#[test]
fn files() {
    everywhere(|kind| async move {
        let file = AsyncFd::new(File::open("/proc/self/exe").expect("it is there"));
        kind.finish(file.readable()).await.expect("always");
        let read = kind
            .finish(file.read_with(|mut file| file.read(&mut [0; 9])))
            .await;
        assert_eq!(read.expect("it can be read"), 9);
        let read = file.into_inner().read(&mut [0; 9]);
        assert_eq!(read.expect("it can be read"), 9);
    });
}
