//! A set of receiving ends that are waited for as one.
//!
//! The ports take turns, and those that have nothing cost nothing: neither sending nor receiving depends on how many there
//! are. Several tasks may receive from one set, and one that is dropped in the midst of it loses nothing.

mod channel;
mod pipe_end;
mod port;
mod ready;
mod recv;
mod set;
mod signal;
mod table;

pub use self::pipe_end::{Holds, PipeEnd};
pub use self::port::{IntoPort, Port};
pub use self::recv::{PortReceiving, PortsReceiving};
pub use self::set::{AddError, PortSet};
pub(crate) use self::signal::Lease;
pub use self::table::{Event, Key};
