//! TCP.

mod connect;
mod listener;
mod stream;

pub use self::connect::Connect;
pub use self::listener::{Accept, TcpListener};
pub use self::stream::TcpStream;
