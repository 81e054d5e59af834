//! What the kinds of sockets differ in.

use std::fmt;
use std::io;
use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net as unix;

use rustix::io::ioctl_fionbio;
use rustix::net::sockopt::{socket_acceptconn, socket_domain, socket_type};
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, getpeername,
    getsockname, socket_with,
};

/// A socket of the standard library's, for which there is one of ours. For functions that take several kinds; nobody else
/// implements it.
pub trait Socket: AsFd + From<OwnedFd> + Unpin + Sealed {
    /// Where its ends are.
    type Address: fmt::Debug;

    /// In words.
    #[doc(hidden)]
    const NAME: &'static str;
    /// The families of its addresses.
    #[doc(hidden)]
    const FAMILIES: &'static [AddressFamily];
    #[doc(hidden)]
    const TYPE: SocketType;
    #[doc(hidden)]
    const LISTENS: bool;
    /// Whether the system gives less than it was asked for only when it has no more.
    #[doc(hidden)]
    const SHORT_IS_ALL: bool;

    /// An address that the system has told, if it has.
    #[doc(hidden)]
    fn address(told: Option<SocketAddrAny>) -> io::Result<Self::Address>;
}

/// Of this crate's alone.
pub trait Sealed {}

/// A [`Socket`] that takes connections.
pub trait ListeningSocket: Socket {
    /// Those.
    type Connection: Socket<Address = Self::Address>;
}

/// Declares the kinds: name, type, whether it listens, whether less than was asked for is all that there is.
macro_rules! kinds {
    ($family:ident of $address:ident by $convert:ident; $($name:literal: $socket:ty, $type:ident, $listens:literal, $all:literal;)*) => {$(
        impl Sealed for $socket {}

        impl Socket for $socket {
            type Address = $address;

            const NAME: &'static str = $name;
            const FAMILIES: &'static [AddressFamily] = $family;
            const TYPE: SocketType = SocketType::$type;
            const LISTENS: bool = $listens;
            const SHORT_IS_ALL: bool = $all;

            fn address(told: Option<SocketAddrAny>) -> io::Result<$address> {
                $convert(told)
            }
        }
    )*};
}

const IP: &[AddressFamily] = &[AddressFamily::INET, AddressFamily::INET6];
const UNIX: &[AddressFamily] = &[AddressFamily::UNIX];

kinds! {
    IP of SocketAddr by of_ip;
    "a TCP connection": net::TcpStream, STREAM, false, true;
    "a TCP listener": net::TcpListener, STREAM, true, true;
    "a UDP socket": net::UdpSocket, DGRAM, false, false;
}

type UnixAddress = unix::SocketAddr;

// A read of a Unix connection also ends where descriptors came with the bytes.
kinds! {
    UNIX of UnixAddress by of_unix;
    "a Unix connection": unix::UnixStream, STREAM, false, false;
    "a Unix listener": unix::UnixListener, STREAM, true, false;
    "a Unix datagram socket": unix::UnixDatagram, DGRAM, false, false;
}

impl ListeningSocket for net::TcpListener {
    type Connection = net::TcpStream;
}

impl ListeningSocket for unix::UnixListener {
    type Connection = unix::UnixStream;
}

fn of_ip(told: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
    let address = told.and_then(|told| SocketAddr::try_from(told).ok());
    address.ok_or_else(|| io::Error::other("the system told no address of IP"))
}

/// The size of a Unix address: its family, and a path.
const UNIX_ADDRESS: usize = 2 + 108;

fn of_unix(told: Option<SocketAddrAny>) -> io::Result<UnixAddress> {
    // A path that fills the address has no NUL, which rustix relies on: that one is not told. (The peer chooses it.)
    let told = told.filter(|told| told.addr_len() as usize <= UNIX_ADDRESS);
    let told = told.and_then(|told| SocketAddrUnix::try_from(told).ok());
    let name = told.as_ref().and_then(SocketAddrUnix::abstract_name);
    // The system tells a socket without a name by a length, of which an empty name is left.
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        return UnixAddress::from_abstract_name(name);
    }
    let path = told.as_ref().and_then(SocketAddrUnix::path_bytes);
    // Without a path it has no name.
    UnixAddress::from_pathname(path_of(path.unwrap_or_default()))
}

fn path_of(bytes: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).as_ref()
}

/// An address of the standard library's as the system takes it.
pub(crate) fn to_unix(address: &UnixAddress) -> rustix::io::Result<SocketAddrUnix> {
    match (address.as_pathname(), address.as_abstract_name()) {
        (Some(path), _) => SocketAddrUnix::new(path),
        (None, Some(name)) => SocketAddrUnix::new_abstract_name(name),
        (None, None) => Ok(SocketAddrUnix::new_unnamed()),
    }
}

/// The family of this address.
pub(crate) fn family(address: SocketAddr) -> AddressFamily {
    match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    }
}

/// For sockets that no other program inherits, and that do not block, from their first moment on.
pub(crate) const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// A new socket.
pub(crate) fn new_socket<S: Socket>(family: AddressFamily) -> io::Result<OwnedFd> {
    Ok(socket_with(family, S::TYPE, FLAGS, None)?)
}

/// The address of this end.
pub(crate) fn local_address<S: Socket>(socket: &S) -> io::Result<S::Address> {
    S::address(Some(getsockname(socket)?))
}

/// The address of the other end.
pub(crate) fn peer_address<S: Socket>(socket: &S) -> io::Result<S::Address> {
    S::address(getpeername(socket)?)
}

/// A descriptor as a socket, which does not block from now on.
///
/// # Errors
/// It is of another kind: the text says which.
pub(crate) fn checked<S: Socket>(descriptor: OwnedFd) -> io::Result<S> {
    let wrong = |found: &str| {
        let (number, expected) = (descriptor.as_raw_fd(), S::NAME);
        let text = format!("descriptor {number} is {found}; expected {expected}");
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    };
    let Ok(kind) = socket_type(&descriptor) else {
        return wrong("no socket");
    };
    let (family, listens) = (socket_domain(&descriptor)?, socket_acceptconn(&descriptor)?);
    if !S::FAMILIES.contains(&family) || kind != S::TYPE || listens != S::LISTENS {
        return wrong(&kind_in_words(family, kind, listens));
    }
    ioctl_fionbio(&descriptor, true)?;
    Ok(S::from(descriptor))
}

/// What kind of socket this is, in words.
///
/// # Errors
/// It is no socket.
pub(crate) fn kind_of(socket: impl AsFd) -> io::Result<String> {
    let (kind, listens) = (socket_type(&socket)?, socket_acceptconn(&socket)?);
    Ok(kind_in_words(socket_domain(&socket)?, kind, listens))
}

/// An address as a reader knows it, if it is one at all: a path, `@` and a name, or an address of IP. The peer chooses its
/// name, which is escaped.
pub(crate) fn address_in_words(told: SocketAddrAny) -> Option<String> {
    if let Ok(ip) = SocketAddr::try_from(told.clone()) {
        return Some(ip.to_string());
    }
    let unix = of_unix(Some(told)).ok()?;
    let name = unix.as_abstract_name().map(String::from_utf8_lossy);
    let path = unix.as_pathname().map(|path| path.display().to_string());
    let words = path.or_else(|| name.map(|name| format!("@{name}")));
    words.map(|words| words.escape_debug().to_string())
}

fn kind_in_words(family: AddressFamily, kind: SocketType, listens: bool) -> String {
    let is = |other: &[AddressFamily]| other.contains(&family);
    let name = match (kind, listens) {
        (SocketType::STREAM, true) if is(IP) => net::TcpListener::NAME,
        (SocketType::STREAM, true) if is(UNIX) => unix::UnixListener::NAME,
        (SocketType::STREAM, false) if is(IP) => net::TcpStream::NAME,
        (SocketType::STREAM, false) if is(UNIX) => unix::UnixStream::NAME,
        (SocketType::DGRAM, _) if is(IP) => net::UdpSocket::NAME,
        (SocketType::DGRAM, _) if is(UNIX) => unix::UnixDatagram::NAME,
        _ => {
            return format!(
                "a socket of family {} and type {}",
                family.as_raw(),
                kind.as_raw()
            );
        }
    };
    name.to_string()
}
