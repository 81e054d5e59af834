//! Sockets that a child inherits: what it does with its copies changes nothing for the parent, and they work in the child.

use std::cell::RefCell;
use std::io::Write;
use std::net;
use std::time::Duration;

use gossamer::net::{TcpStream, lookup_host};
use gossamer::{Model, Runtime, TimeoutExt, Wait};

use super::child::in_child;
use super::{Checked, MODELS, SOON};

const LATE: Duration = Duration::from_secs(10);

fn pair() -> Result<(TcpStream, net::TcpStream), std::io::Error> {
    let listener = net::TcpListener::bind("127.0.0.1:0")?;
    let peer = net::TcpStream::connect(listener.local_addr()?)?;
    Ok((TcpStream::try_from(listener.accept()?.0)?, peer))
}

/// What comes within this time.
async fn hear(stream: &TcpStream, within: Duration) -> Option<u8> {
    let mut byte = [0];
    let read = stream.read(&mut byte).timeout(within).await.ok()?;
    (read.expect("it is open") == 1).then_some(byte[0])
}

pub(super) fn are_the_childs_own() -> Checked {
    for model in MODELS {
        let rt = Runtime::builder().model(model).build()?;
        let (stream, mut peer) = pair()?;
        // From here on a poller tells of it.
        assert_eq!(rt.block_on(hear(&stream, SOON)), None);
        let inherited = RefCell::new(Some(stream));
        in_child(|| drop(inherited.take()))?;
        peer.write_all(&[7])?;
        let stream = inherited.take().ok_or("the parent has its own")?;
        assert_eq!(rt.block_on(hear(&stream, LATE)), Some(7));
        for new in [Model::Single, Model::Pool { workers: 1 }, Model::Threads] {
            in_child(|| {
                let rt = Runtime::builder().model(new).build().expect("a runtime");
                rt.block_on(async {
                    assert_eq!(hear(&stream, SOON).await, None);
                    (&peer).write_all(&[8]).expect("it is open");
                    assert_eq!(hear(&stream, LATE).await, Some(8), "{model} {new}");
                });
            })?;
        }
        peer.write_all(&[9])?;
        assert_eq!(rt.block_on(hear(&stream, LATE)), Some(9));
    }
    Ok(())
}

/// The child is inside of a runtime that nobody polls for there, and whose sockets have not waited so far.
pub(super) fn wait_inside_of_a_runtime() -> Checked {
    let rt = Runtime::builder()
        .model(Model::Pool { workers: 1 })
        .build()?;
    let (stream, mut peer) = pair()?;
    rt.enter(|| {
        in_child(|| {
            assert_eq!(hear(&stream, SOON).wait(), None);
            (&peer).write_all(&[7]).expect("it is open");
            assert_eq!(hear(&stream, LATE).wait(), Some(7));
        })
    })?;
    peer.write_all(&[8])?;
    assert_eq!(rt.block_on(hear(&stream, LATE)), Some(8));
    Ok(())
}

/// A dump in the child has the sockets that it has opened, and asks of no others.
pub(super) fn are_listed_by_the_child() -> Checked {
    let (_inherited, _peer) = pair()?;
    in_child(|| {
        let rt = Runtime::builder().model(Model::Single).build();
        let rt = rt.expect("a runtime");
        assert_eq!(rt.dump().sockets().len(), 0);
        let (_own, _peer) = pair().expect("there are ports");
        assert_eq!(rt.dump().sockets().len(), 1);
    })
}

/// The threads of the parent's look-ups are not there in the child, which starts its own.
pub(super) fn names_are_looked_up_in_a_child() -> Checked {
    let expected = lookup_host("localhost:80").wait()?;
    in_child(|| {
        let lookup = lookup_host("localhost:80").timeout(LATE);
        let found = lookup.wait().expect("the child has threads of its own");
        assert_eq!(found.expect("the machine knows itself"), expected);
    })
}
