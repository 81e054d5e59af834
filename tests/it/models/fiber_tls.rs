//! A handshake of TLS in fibers, which needs deep stacks where nothing is optimised, fits the usual ones.

use std::io::{self, Read, Write};
use std::sync::Arc;

use gossamer::{Wait, channel::spsc};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, Stream,
};

use super::{each_model, runtime};

// Of `localhost`, signed by itself, for a hundred years; the key is for this test alone:
// openssl req -x509 -key KEY -days 36500 -subj /CN=localhost -addext subjectAltName=DNS:localhost
//     -addext basicConstraints=critical,CA:FALSE -outform DER
const CERTIFICATE: &[u8] = include_bytes!("fiber_tls/certificate.der");
const KEY: &[u8] = include_bytes!("fiber_tls/key.der");

/// One end of a connection over channels.
struct End {
    tx: spsc::Sender<Vec<u8>>,
    rx: spsc::Receiver<Vec<u8>>,
    /// Received, and not read yet.
    rest: Vec<u8>,
}

impl Read for End {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = self.rx.recv().wait().unwrap_or_default();
        }
        let count = self.rest.as_slice().read(buffer)?;
        self.rest.drain(..count);
        Ok(count)
    }
}

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.tx.send(bytes.to_vec()).wait();
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn ends() -> [End; 2] {
    let ((there, arriving), (back, returning)) = (spsc(8), spsc(8));
    [(there, returning), (back, arriving)].map(|(tx, rx)| End {
        tx,
        rx,
        rest: Vec::new(),
    })
}

fn server() -> ServerConnection {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![CERTIFICATE.into()], key)
        .expect("they fit");
    ServerConnection::new(Arc::new(config)).expect("a configuration")
}

fn client() -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots.add(CERTIFICATE.into()).expect("a certificate");
    let config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    ClientConnection::new(Arc::new(config), name).expect("a configuration")
}

#[test]
fn a_handshake_fits_the_usual_stack() {
    each_model(|model| {
        let rt = runtime(model);
        let [mut here, mut there] = ends();
        let answers = rt.spawn_fiber(move || {
            let mut server = server();
            let mut stream = Stream::new(&mut server, &mut there);
            let mut question = [0; 4];
            stream.read_exact(&mut question).expect("a question");
            stream
                .write_all(&question.map(|byte| byte + 1))
                .expect("an answer");
        });
        let asks = rt.spawn_fiber(move || {
            let mut client = client();
            let mut stream = Stream::new(&mut client, &mut here);
            stream.write_all(&[1, 2, 3, 4]).expect("a question");
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).expect("an answer");
            answer
        });
        assert_eq!(asks.wait().expect("no panic"), [2, 3, 4, 5], "{model}");
        answers.wait().expect("no panic");
    });
}
