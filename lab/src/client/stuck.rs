//! An open loop: requests keep to a schedule whatever the server does, so that one that waits for a stuck server counts
//! from when it was to be sent. (In a closed loop the client would wait as well, and see one late reply.)

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::event::{PollFd, PollFlags, epoll, poll};

use super::closed::{Connection, wait};
use super::server::Server;
use super::talk::Talk;
use super::{Asked, Figures, SILENT_MAX, percentile, silent};
use crate::family::timespec;

/// Each connection sends one request in this time; that is also how long the server has between two rounds.
const PERIOD: Duration = Duration::from_secs(1);
/// As many events as one look at the kernel brings.
const EVENTS: usize = 1024;

/// A connection, and the times at which its requests were to be sent that have no reply yet.
struct Caller {
    connection: Connection,
    talk: Talk,
    due: VecDeque<Instant>,
}

impl Caller {
    fn open(port: u16, talk: Talk, epoll: &OwnedFd, number: usize) -> Result<Caller> {
        let mut connection = Connection::open(port)?;
        connection.ask(Talk::Http)?;
        connection.wait_in(epoll, number)?;
        let due = VecDeque::new();
        Ok(Caller {
            connection,
            talk,
            due,
        })
    }

    /// Sends a request that was to be sent at this time, or has it wait for the reply to the one before it.
    fn send(&mut self, due: Instant) -> Result<()> {
        self.due.push_back(due);
        match self.due.len() {
            1 => self.connection.send(self.talk),
            _ => Ok(()),
        }
    }

    /// When the request was to be sent whose reply is there, after there was something to read.
    fn receive(&mut self) -> Result<Option<Instant>> {
        if !self.connection.receive(self.talk)? {
            return Ok(None);
        }
        let due = self.due.pop_front();
        if !self.due.is_empty() {
            self.connection.send(self.talk)?;
        }
        Ok(due)
    }
}

/// What is to be sent when: one request after the other by the connections in turn, and all stuck ones at once.
struct Schedule {
    start: Instant,
    callers: usize,
    stuck: Duration,
    times: u32,
}

impl Schedule {
    fn request(&self, number: usize) -> Instant {
        self.start + PERIOD.mul_f64(number as f64 / self.callers as f64)
    }

    fn round(&self, number: u32) -> Instant {
        self.start + PERIOD + (self.stuck + PERIOD) * number
    }

    fn requests(&self) -> usize {
        let whole = self.round(self.times) - self.start;
        (self.callers as f64 * whole.as_secs_f64() / PERIOD.as_secs_f64()) as usize
    }
}

/// The server with its connections, as the schedule goes on.
struct Run {
    server: Server,
    epoll: OwnedFd,
    /// Those that keep to the schedule, then one for each worker to be stuck.
    callers: Vec<Caller>,
    schedule: Schedule,
    latencies: Vec<Duration>,
    stuck: Vec<Duration>,
    threads: u64,
}

pub(super) fn run(asked: &Asked<'_>) -> Result<Figures> {
    let server = asked.start()?;
    let (callers, workers) = (asked.connections(), asked.values.number("workers") as usize);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let opened = (0..callers + workers).map(|number| {
        let talk = if number < callers {
            Talk::Http
        } else {
            Talk::Stuck
        };
        Caller::open(server.port, talk, &epoll, number)
    });
    let opened = opened.collect::<Result<Vec<Caller>>>()?;
    let schedule = Schedule {
        start: Instant::now() + PERIOD / 10,
        callers,
        stuck: Duration::from_millis(asked.values.number("stuck-ms")),
        times: u32::try_from(asked.values.number("times"))?,
    };
    let mut run = Run {
        server,
        epoll,
        callers: opened,
        schedule,
        latencies: Vec::new(),
        stuck: Vec::new(),
        threads: 0,
    };
    run.until_end()?;
    run.server.end()?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let late = [1.0, 0.99, 0.5].map(|share| ms(percentile(&mut run.latencies, share)));
    Ok(vec![
        ("late_ms_max", late[0]),
        ("late_ms_p99", late[1]),
        ("late_ms_p50", late[2]),
        ("stuck_ms_max", ms(percentile(&mut run.stuck, 1.0))),
        ("os_threads_max", run.threads as f64),
    ])
}

impl Run {
    fn until_end(&mut self) -> Result<()> {
        let (callers, requests) = (self.schedule.callers, self.schedule.requests());
        let stuck = (self.callers.len() - callers) * self.schedule.times as usize;
        let (mut next, mut round) = (0, 0);
        let mut events = Vec::with_capacity(EVENTS);
        while self.latencies.len() < requests || self.stuck.len() < stuck {
            while next < requests && self.schedule.request(next) <= Instant::now() {
                let due = self.schedule.request(next);
                self.callers[next % callers].send(due)?;
                next += 1;
            }
            if round < self.schedule.times && self.schedule.round(round) <= Instant::now() {
                let due = self.schedule.round(round);
                for caller in &mut self.callers[callers..] {
                    caller.send(due)?;
                }
                round += 1;
            }
            let most = match next < requests {
                true => self
                    .schedule
                    .request(next)
                    .saturating_duration_since(Instant::now()),
                false => SILENT_MAX,
            };
            // To a nanosecond: what epoll waits for is a number of milliseconds.
            let _ = poll(
                &mut [PollFd::new(&self.epoll, PollFlags::IN)],
                Some(&timespec(most)),
            );
            wait(&self.epoll, &mut events, Duration::ZERO)?;
            if next == requests && events.is_empty() {
                return silent();
            }
            for event in events.drain(..) {
                self.received(event.data.u64() as usize)?;
            }
        }
        Ok(())
    }

    fn received(&mut self, number: usize) -> Result<()> {
        let Some(due) = self.callers[number].receive()? else {
            return Ok(());
        };
        let latency = due.elapsed();
        if number < self.schedule.callers {
            self.latencies.push(latency);
        } else {
            self.stuck.push(latency);
            self.threads = self.threads.max(self.server.usage()?.threads);
        }
        Ok(())
    }
}
