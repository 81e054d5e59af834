//! What both examples of TLS share: a certificate, and a client.

use std::error::Error;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, StreamOwned};

use crate::shared;

type AnyError = Box<dyn Error + Send + Sync>;

/// Of `localhost`, signed by itself. Everybody has the key: take your own.
const CERTIFICATE: &[u8] = include_bytes!("../../tests/it/models/fiber_tls/certificate.der");
const KEY: &[u8] = include_bytes!("../../tests/it/models/fiber_tls/key.der");

/// Of a server.
pub(crate) fn config() -> Result<Arc<ServerConfig>, rustls::Error> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
    Ok(Arc::new(config))
}

/// A client that blocks its thread.
pub(crate) fn hear_the_echo(address: SocketAddr) -> Result<(), AnyError> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE))?;
    let config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost")?;
    let session = ClientConnection::new(Arc::new(config), name)?;
    let mut connection = StreamOwned::new(session, shared::connect(address)?);
    shared::talk(&mut connection)?;
    connection.conn.send_close_notify();
    connection.flush()?;
    // Without a word of the server's that it says no more, this would be an error.
    if connection.read(&mut [0])? > 0 {
        return Err("the server says more than it has heard".into());
    }
    let session = &connection.conn;
    println!(
        "by {:?}",
        session.protocol_version().ok_or("there is no TLS")?
    );
    Ok(())
}
