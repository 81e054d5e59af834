//! Many unbounded channels that have had a burst of messages and are idle: how much memory they keep.
//!
//! `cargo run --release -p gossamer-rt --example idle_channels [drained-at-the-end]`

use std::fs::File;
use std::io::Read;

use gossamer::channel::{Receiver, Sender, unbounded};

const CHANNELS: usize = 300_000;
const BURST: u64 = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let at_the_end = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("drained-at-the-end") => true,
        Some(other) => {
            eprintln!("unknown argument `{other}`: expected drained-at-the-end, or nothing");
            std::process::exit(2);
        }
    };
    let before = resident();
    let channels: Vec<(Sender<u64>, Receiver<u64>)> = (0..CHANNELS).map(|_| unbounded()).collect();
    let mut sum = 0;
    for channel in &channels {
        for message in 0..BURST {
            channel.0.try_send(message)?;
        }
        if !at_the_end {
            sum += channel.1.try_iter().sum::<u64>();
        }
    }
    let full = resident();
    for channel in &channels {
        sum += channel.1.try_iter().sum::<u64>();
    }
    let after = resident();
    println!("{CHANNELS} channels, {sum} in all");
    let limit_mb = if at_the_end { 150 } else { 100 };
    println!(
        "at most {limit_mb} MB: {}",
        after.saturating_sub(before) <= limit_mb * 1_000_000
    );
    let mb = |bytes: u64| bytes.saturating_sub(before) / 1_000_000;
    eprintln!(
        "{} MB after the bursts, {} MB when drained",
        mb(full),
        mb(after)
    );
    Ok(())
}

/// The memory that this process has, in bytes. Allocates nothing: what lies above the messages' memory keeps an
/// allocator from giving that back.
fn resident() -> u64 {
    let mut text = [0; 64];
    let read = File::open("/proc/self/statm").and_then(|mut file| file.read(&mut text));
    let text = str::from_utf8(&text[..read.unwrap_or(0)]).unwrap_or("");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
