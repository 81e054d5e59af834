//! Connecting to a host by its name.

use std::io;
use std::net;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::connection::Connection;
use crate::names::LookupHost;
use crate::tcp::connect_any::ConnectAny;

pin_project_lite::pin_project! {
    /// [`TcpStream::connect_to`](Connection::connect_to). Dropped unfinished, it makes no connection, or breaks it.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ConnectTo {
        #[pin]
        lookup: LookupHost,
        caller: &'static Location<'static>,
        // None before the addresses are known.
        #[pin]
        connect: Option<ConnectAny>,
    }
}

impl ConnectTo {
    pub(super) fn new(lookup: LookupHost, caller: &'static Location<'static>) -> Self {
        Self {
            lookup,
            caller,
            connect: None,
        }
    }
}

impl Future for ConnectTo {
    type Output = io::Result<Connection<net::TcpStream>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            if let Some(connect) = this.connect.as_mut().as_pin_mut() {
                return connect.poll(cx);
            }
            let addresses = ready!(this.lookup.as_mut().poll(cx))?;
            let host = this.lookup.host().to_string();
            let connect = ConnectAny::new(addresses, Some(host), this.caller);
            this.connect.set(Some(connect));
        }
    }
}
