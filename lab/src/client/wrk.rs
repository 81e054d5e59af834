//! The load generator wrk, and what it prints.

use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::esayln;

/// What wrk saw.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
    pub(crate) took: Duration,
    pub(crate) p99_us: f64,
}

/// Has wrk keep so many connections busy for as many whole seconds as these milliseconds take; says so if it is not here.
pub(crate) fn run(port: u16, connections: usize, ms: u64) -> Result<Option<Seen>> {
    let output = Command::new("wrk")
        .args(["--threads", "1", "--latency", "--connections"])
        .arg(connections.to_string())
        .args(["--duration", &format!("{}s", ms.div_ceil(1000))])
        .arg(format!("http://127.0.0.1:{port}/"))
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            esayln!("without wrk's figures: it is not installed (`apt-get install wrk`)");
            return Ok(None);
        }
        output => output.context("cannot start wrk")?,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "wrk ended with {}: {text}",
        output.status
    );
    seen(&text).map(Some)
}

/// Reads what wrk printed.
pub(crate) fn seen(text: &str) -> Result<Seen> {
    for wrong in ["Socket errors:", "Non-2xx"] {
        let line = text.lines().find(|line| line.trim().starts_with(wrong));
        ensure!(line.is_none(), "wrk: {}", line.unwrap_or_default().trim());
    }
    let p99 = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("99%"));
    let p99 = p99.context("wrk did not say its 99 %")?;
    let sum = text
        .lines()
        .find_map(|line| line.split_once(" requests in "));
    let (requests, rest) = sum.context("wrk did not say how many requests there were")?;
    let took = rest.split(',').next().unwrap_or_default();
    let requests: u64 = requests.trim().parse()?;
    ensure!(
        requests > 0,
        "wrk had no reply in its time; give it more (--ms)"
    );
    Ok(Seen {
        requests,
        took: time(took)?,
        p99_us: time(p99)?.as_secs_f64() * 1e6,
    })
}

/// A time as wrk prints it: `512.00us`, `1.02ms`, `3.10s`, `1.50m`.
fn time(text: &str) -> Result<Duration> {
    let text = text.trim();
    let end = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let number: f64 = text[..end]
        .parse()
        .with_context(|| format!("wrk's time {text:?}"))?;
    let seconds = match &text[end..] {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        "m" => number * 60.0,
        _ => bail!("wrk's time {text:?} has no unit that is known"),
    };
    Ok(Duration::from_secs_f64(seconds))
}
