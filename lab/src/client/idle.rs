//! Connections on which nothing is sent: the memory that each takes, and what the server does meanwhile.

use std::time::Duration;

use anyhow::Result;

use super::closed::{Load, Until};
use super::server::Server;
use super::talk::Talk;
use super::{Asked, Figures};
use crate::family::pause;
use crate::workload::IDLE_MS;

/// How long a server has to settle after its last connection was made, before its idleness is measured.
const SETTLING: Duration = Duration::from_millis(500);
/// So many requests are on their way while it is seen that all connections are still served.
const AT_ONCE: usize = 64;

/// Makes the connections that were asked for, each with one request and its reply, and lets the server settle; how many
/// bytes of its memory each took.
pub(super) fn connections(asked: &Asked<'_>, server: &Server, talk: Talk) -> Result<(Load, f64)> {
    let count = asked.connections();
    // What the first connection needs, all others use as well.
    let first = Load::open(server.port, talk, 1)?;
    let alone = server.usage()?;
    let load = Load::open(server.port, talk, count)?;
    drop(first);
    pause(SETTLING);
    let memory = server.usage()?.anonymous_bytes as f64 - alone.anonymous_bytes as f64;
    Ok((load, memory / count as f64))
}

pub(super) fn run(asked: &Asked<'_>) -> Result<Figures> {
    let server = asked.start()?;
    let (mut load, memory) = connections(asked, &server, asked.idle)?;
    let before = server.threads()?;
    pause(Duration::from_millis(asked.values.number(IDLE_MS)));
    let after = server.threads()?;
    let did = after.since(&before);
    // A server that has given its connections up is idle, too.
    load.run(AT_ONCE, Until::Count(asked.connections() as u64))?;
    server.end()?;
    Ok(vec![
        ("idle_cpu_ms", did.cpu.as_secs_f64() * 1e3),
        ("idle_switches", (did.voluntary + did.involuntary) as f64),
        ("idle_switches_involuntary", did.involuntary as f64),
        ("bytes_connection", memory),
        ("os_threads", after.count() as f64),
    ])
}
