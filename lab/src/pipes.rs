//! What a running program prints: read as it comes, kept up to a limit, and never waited for to
//! the end, because a stray grandchild may hold a pipe open.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::family::timespec;

/// How long output may still arrive after the end; only a process that nobody could end uses it.
const DRAIN_MAX: Duration = Duration::from_millis(500);

/// A pipe that we read, and what came out of it so far.
#[derive(Debug)]
pub(crate) struct Stream {
    file: Option<File>,
    data: Vec<u8>,
    /// How much came, whether it was kept or not.
    total: usize,
    /// More than this is a flood.
    most: usize,
    /// So much of the end is kept.
    kept: usize,
}

impl Stream {
    pub(crate) fn new(pipe: impl Into<OwnedFd>, most: usize, kept: usize) -> Stream {
        Stream {
            file: Some(File::from(pipe.into())),
            data: Vec::new(),
            total: 0,
            most,
            kept,
        }
    }

    /// Of a pipe that a child was started with.
    pub(crate) fn of(pipe: Option<impl Into<OwnedFd>>, most: usize, kept: usize) -> Result<Stream> {
        let pipe = pipe.ok_or_else(|| Error::other("a child without its pipe"))?;
        Ok(Stream::new(pipe, most, kept))
    }

    /// Whether more may come.
    pub(crate) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Whether more came than anybody reads.
    pub(crate) fn is_flooded(&self) -> bool {
        self.total > self.most
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.data).into_owned()
    }

    /// Reads what is there; called only when poll said that reading does not block.
    fn read(&mut self) -> Result<()> {
        let mut buffer = [0; 16 << 10];
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let count = match file.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        };
        if count == 0 {
            self.file = None;
        }
        self.total += count;
        self.data.extend_from_slice(&buffer[..count]);
        if self.data.len() > self.kept {
            self.data.drain(..self.data.len() - self.kept);
        }
        Ok(())
    }
}

/// Reads what comes in this time; whether anything came.
pub(crate) fn read_some(streams: &mut [Stream], wait: Duration) -> Result<bool> {
    let mut entries: Vec<PollFd<'_>> = streams
        .iter()
        .filter_map(|stream| stream.file.as_ref())
        .map(|file| PollFd::new(file, PollFlags::IN))
        .collect();
    match poll(&mut entries, Some(&timespec(wait))) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready: Vec<bool> = entries
        .iter()
        .map(|entry| !entry.revents().is_empty())
        .collect();
    let open = streams.iter_mut().filter(|stream| stream.is_open());
    for (stream, _) in open.zip(&ready).filter(|(_, ready)| **ready) {
        stream.read()?;
    }
    Ok(ready.contains(&true))
}

/// Reads what was still on the way when the program and all of its kin were ended.
pub(crate) fn drain(streams: &mut [Stream]) -> Result<()> {
    let deadline = Instant::now() + DRAIN_MAX;
    while streams.iter().any(Stream::is_open) && !streams.iter().any(Stream::is_flooded) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        read_some(streams, left)?;
    }
    Ok(())
}
