//! A dump for a machine (JSON, RFC 8259).
//!
//! By hand, as it is a page: a library's values, once in the graph of a program, can be compared with its numbers, and its
//! `assert_eq!(numbers, [])` does not compile any more.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};
use core::panic::Location;

use super::{Dump, HeldBy, Interest, OpenSocket, Waiter, WaitsFor};

/// Text in quotes.
struct Quoted<T>(T);

impl<T: Display> Display for Quoted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        write!(Escaping(f), "{}", self.0)?;
        f.write_char('"')
    }
}

struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' | '\\' => write!(self.0, "\\{c}")?,
                c if c < ' ' => write!(self.0, "\\u{:04x}", u32::from(c))?,
                c => self.0.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// What is known, or `null`.
struct Known<T>(Option<T>);

impl<T: Display> Display for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(known) => known.fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// `[…]`.
struct List<'a, T, W>(&'a [T], W);

impl<T, W: Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result> Display for List<'_, T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        for (nth, item) in self.0.iter().enumerate() {
            if nth > 0 {
                f.write_char(',')?;
            }
            (self.1)(f, item)?;
        }
        f.write_char(']')
    }
}

fn place(place: Option<&'static Location<'static>>) -> Known<Quoted<&'static Location<'static>>> {
    Known(place.map(Quoted))
}

fn wait(f: &mut fmt::Formatter<'_>, waits_for: &WaitsFor) -> fmt::Result {
    match waits_for {
        WaitsFor::Operation {
            name,
            object,
            called,
            held_by,
        } => {
            let (name, called) = (Quoted(name), place(*called));
            let held_by = Known(held_by.map(|holder| match holder {
                HeldBy::Waiter(at) => at.to_string(),
                HeldBy::Elsewhere => r#""elsewhere""#.to_string(),
            }));
            write!(
                f,
                r#"{{"operation":{name},"object":{object},"called":{called},"held_by":{held_by}}}"#
            )
        }
        WaitsFor::Socket {
            socket,
            interest,
            called,
        } => {
            let (interest, called) = (self::interest(*interest), place(*called));
            write!(
                f,
                r#"{{"socket":{socket},"interest":{interest},"called":{called}}}"#
            )
        }
        WaitsFor::End(at) => write!(f, r#"{{"end_of":{at}}}"#),
        WaitsFor::EndElsewhere => f.write_str(r#"{"end_of":null}"#),
    }
}

fn waiter(f: &mut fmt::Formatter<'_>, waiter: &Waiter) -> fmt::Result {
    let (kind, name) = (Quoted(waiter.kind), Known(waiter.name.as_ref().map(Quoted)));
    let (spawned, waits_for) = (place(waiter.spawned), List(&waiter.waits_for, wait));
    let waited = Known(waiter.waited.map(|waited| waited.as_secs_f64()));
    write!(
        f,
        r#"{{"kind":{kind},"name":{name},"spawned":{spawned},"waited_s":{waited},"waits_for":{waits_for}}}"#
    )
}

fn interest(interest: Interest) -> Quoted<&'static str> {
    Quoted(match interest {
        Interest::Read => "read",
        Interest::Write => "write",
    })
}

fn socket(f: &mut fmt::Formatter<'_>, socket: &OpenSocket) -> fmt::Result {
    let (kind, descriptor) = (Quoted(&socket.kind), socket.descriptor);
    let [local, peer] = [&socket.local, &socket.peer].map(|end| Known(end.as_ref().map(Quoted)));
    let age = socket.age.as_secs_f64();
    let ways = [
        (Interest::Read, socket.awaits_read),
        (Interest::Write, socket.awaits_write),
    ];
    let awaited: Vec<_> = ways.iter().filter(|(_, is)| *is).collect();
    let interest = List(
        &awaited,
        |f: &mut fmt::Formatter<'_>, (way, _): &&(_, _)| interest(*way).fmt(f),
    );
    write!(
        f,
        r#"{{"kind":{kind},"descriptor":{descriptor},"local":{local},"peer":{peer},"age_s":{age},"interest":{interest}}}"#
    )
}

impl Dump {
    /// The same for a machine, as JSON: `{"waiters": [{"kind", "name", "spawned", "waited_s", "waits_for": [{"operation",
    /// "object", "called", "held_by"} or {"socket", "interest", "called"} or {"end_of"}]}], "sockets": [{"kind",
    /// "descriptor", "local", "peer", "age_s", "interest": ["read", "write"]}], "unheard", "circle"}`. Places are
    /// `file:line:column`; who is waited for, or holds a lock, is an index in `waiters` (or "elsewhere"), a socket one in
    /// `sockets`; what is not known is null.
    pub fn to_json(&self) -> String {
        let (waiters, unheard, circle) = (List(&self.waiters, waiter), self.unheard, self.circle());
        let sockets = List(&self.sockets, socket);
        let circle = List(&circle, |f: &mut fmt::Formatter<'_>, at: &usize| at.fmt(f));
        alloc::format!(
            r#"{{"waiters":{waiters},"sockets":{sockets},"unheard":{unheard},"circle":{circle}}}"#
        )
    }
}
