//! Closed loops: so many requests are on their way at any time, and a reply makes room for the next request.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::buffer::spare_capacity;
use rustix::event::epoll;

use super::talk::Talk;
use super::{SILENT_MAX, silent};
use crate::family::timespec;

/// As many events as one look at the kernel brings.
const EVENTS: usize = 1024;

/// When a loop begins no more requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// After so many.
    Count(u64),
    /// At this time.
    Time(Instant),
}

impl Until {
    fn is_over(self, begun: u64) -> bool {
        match self {
            Until::Count(count) => begun >= count,
            Until::Time(time) => Instant::now() >= time,
        }
    }
}

/// What a loop saw.
#[derive(Debug)]
pub(crate) struct Round {
    /// From the sending of each request (with `connect`, from the connecting) to the end of its reply.
    pub(crate) latencies: Vec<Duration>,
    /// From the first request to the last reply.
    pub(crate) took: Duration,
}

/// A connection and the reply that it is waiting for.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    got: Vec<u8>,
}

impl Connection {
    /// Connects. Sending and receiving wait, until `wait_in` has been called.
    pub(crate) fn open(port: u16) -> Result<Connection> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).context("cannot connect")?;
        Ok(Connection {
            stream,
            got: Vec::new(),
        })
    }

    /// Has `epoll` say when there is something to read, under this number.
    pub(crate) fn wait_in(&self, epoll: &OwnedFd, number: usize) -> Result<()> {
        self.stream.set_nonblocking(true)?;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(epoll, &self.stream, data, epoll::EventFlags::IN)?;
        Ok(())
    }

    /// Sends what this kind of connection sends.
    pub(crate) fn send(&mut self, talk: Talk) -> Result<()> {
        self.got.clear();
        self.stream.write_all(talk.request()).context("cannot send")
    }

    /// Reads what is there; whether the reply is whole then.
    pub(crate) fn receive(&mut self, talk: Talk) -> Result<bool> {
        let mut buffer = [0; 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(count) => {
                    self.got.extend(&buffer[..count]);
                    let is_whole = talk.is_whole(&self.got, count == 0)?;
                    // The end of a connection comes with the reply, or soon after.
                    if is_whole || talk != Talk::Connect {
                        return Ok(is_whole);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error).context("cannot receive"),
            }
        }
    }

    /// One request and its reply, on a connection that waits.
    pub(crate) fn ask(&mut self, talk: Talk) -> Result<()> {
        self.stream.set_read_timeout(Some(SILENT_MAX))?;
        self.send(talk)?;
        let deadline = Instant::now() + SILENT_MAX;
        while !self.receive(talk)? {
            if Instant::now() >= deadline {
                return silent();
            }
        }
        Ok(())
    }
}

/// Connections to a server, or places for them where each is for one request.
#[derive(Debug)]
pub(crate) struct Load {
    epoll: OwnedFd,
    port: u16,
    talk: Talk,
    places: Vec<Option<Connection>>,
    idle: VecDeque<usize>,
}

impl Load {
    /// Makes so many connections, each with a first request and its reply; places only where each is for one request.
    pub(crate) fn open(port: u16, talk: Talk, count: usize) -> Result<Load> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut places = Vec::new();
        for number in 0..count {
            if talk == Talk::Connect {
                places.push(None);
                continue;
            }
            let mut connection = Connection::open(port)?;
            connection.ask(talk)?;
            connection.wait_in(&epoll, number)?;
            places.push(Some(connection));
        }
        let idle = (0..count).collect();
        Ok(Load {
            epoll,
            port,
            talk,
            places,
            idle,
        })
    }

    /// Keeps so many requests on their way until it is over, on the connections by turns.
    pub(crate) fn run(&mut self, at_once: usize, until: Until) -> Result<Round> {
        let (mut begun, mut on_their_way) = (0, 0);
        let mut sent = vec![Instant::now(); self.places.len()];
        let mut latencies = Vec::new();
        let mut events = Vec::with_capacity(EVENTS);
        let start = Instant::now();
        loop {
            while on_their_way < at_once && !until.is_over(begun) {
                let Some(place) = self.idle.pop_front() else {
                    break;
                };
                sent[place] = Instant::now();
                self.begin(place)?;
                begun += 1;
                on_their_way += 1;
            }
            if on_their_way == 0 {
                break;
            }
            wait(&self.epoll, &mut events, SILENT_MAX)?;
            if events.is_empty() {
                return silent();
            }
            for event in events.drain(..) {
                let place = event.data.u64() as usize;
                if self.goes_on(place)? {
                    continue;
                }
                latencies.push(sent[place].elapsed());
                self.idle.push_back(place);
                on_their_way -= 1;
            }
        }
        let took = start.elapsed();
        Ok(Round { latencies, took })
    }

    fn begin(&mut self, place: usize) -> Result<()> {
        if self.talk == Talk::Connect {
            let connection = Connection::open(self.port)?;
            connection.wait_in(&self.epoll, place)?;
            self.places[place] = Some(connection);
        }
        match &mut self.places[place] {
            Some(connection) => connection.send(self.talk),
            None => Ok(()),
        }
    }

    /// Whether the reply is still to come, after there was something to read.
    fn goes_on(&mut self, place: usize) -> Result<bool> {
        let Some(connection) = &mut self.places[place] else {
            return Ok(true);
        };
        let is_whole = connection.receive(self.talk)?;
        if is_whole && self.talk == Talk::Connect {
            self.places[place] = None;
        }
        Ok(!is_whole)
    }
}

/// Waits so long for events; none if the time is over.
pub(crate) fn wait(epoll: &OwnedFd, events: &mut Vec<epoll::Event>, most: Duration) -> Result<()> {
    match epoll::wait(epoll, spare_capacity(events), Some(&timespec(most))) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
