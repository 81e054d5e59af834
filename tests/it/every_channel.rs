//! What every channel promises: rules, panics and cancelling, written once, and run over all flavours.
//!
//! A flavour is a [`Kind`]: how to make its channels, how many messages each has room for, and how many may be sent. The
//! ends are behind two traits ([`Sends`] and [`Receives`]), for one type of message ([`Message`]), so that a rule is
//! compiled once. What only one kind of channel promises stands with that kind ([`channel`](crate::channel),
//! [`pipe`](crate::pipe), [`ports`](crate::ports)).
//!
//! A watch channel is not among them: it has a value, and no messages. Those who wait for a value to change are among
//! [`every_lock`](crate::every_lock).

mod cancelling;
mod ends;
mod flavours;
mod panics;
mod permits;
mod rules;

use self::ends::{Kind, Message, Receives, Rx, Sends, Tx, Variant};

/// Makes the tests of one flavour: a module of its name.
macro_rules! over {
    ($flavour:ident = $make:ident $policy:ident: $($name:ident)*) => {
        mod $flavour {
            $(#[test]
            fn $name() {
                super::$name(&crate::every_channel::flavours::$make::<crate::flavour::$policy>());
            })*
        }
    };
}

/// Makes a test of each of these functions for each flavour.
macro_rules! over_all {
    ($($name:ident,)*) => {
        crate::every_channel::over! { shared_channel = channels Shared: $($name)* }
        crate::every_channel::over! { local_channel = channels Local: $($name)* }
        crate::every_channel::over! { shared_permit = permits Shared: $($name)* }
        crate::every_channel::over! { local_permit = permits Local: $($name)* }
        crate::every_channel::over! { shared_ring = rings Shared: $($name)* }
        crate::every_channel::over! { local_ring = rings Local: $($name)* }
        crate::every_channel::over! { shared_broadcast = broadcasts Shared: $($name)* }
        crate::every_channel::over! { local_broadcast = broadcasts Local: $($name)* }
        crate::every_channel::over! { shared_pipe = pipes Shared: $($name)* }
        crate::every_channel::over! { local_pipe = pipes Local: $($name)* }
        crate::every_channel::over! { sender_shared_by_threads = shared_senders Shared: $($name)* }
        crate::every_channel::over! { sender_shared_by_tasks = shared_senders Local: $($name)* }
        crate::every_channel::over! { shared_port_set = port_sets Shared: $($name)* }
        crate::every_channel::over! { local_port_set = port_sets Local: $($name)* }
        crate::every_channel::over! { one_shot = oneshots Shared: $($name)* }
    };
}
use {over, over_all};
