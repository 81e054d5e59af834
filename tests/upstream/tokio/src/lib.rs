//! The names of tokio over Gossamer: what the tests of its `sync` are compiled against.
//!
//! Where Gossamer has no such thing, the name is there and panics, and `xtask/upstream.toml` excludes the cases that call
//! it. What is made here of several parts of ours says so.
#![forbid(unsafe_code)]

pub mod runtime;
pub mod sync;
pub mod task;
pub mod time;

#[doc(hidden)]
pub use gossamer;
pub use gossamer::spawn;
pub use tokio_macros::test;

/// Pins futures where they are; or makes and pins them.
#[macro_export]
macro_rules! pin {
    ($($name:ident),* $(,)?) => {$(
        let mut $name = $name;
        #[allow(unused_mut)]
        let mut $name = ::core::pin::pin!($name);
    )*};
    ($(let $name:ident = $init:expr;)*) => {$(
        let $name = $init;
        $crate::pin!($name);
    )*};
}

/// Whichever of several comes first.
#[macro_export]
macro_rules! select {
    ($($all:tt)*) => {
        $crate::gossamer::select! { crate = $crate::gossamer; $($all)* }
    };
}

/// What Gossamer has not.
fn missing(what: &str) -> ! {
    panic!("Gossamer has no {what}")
}
