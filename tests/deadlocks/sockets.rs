//! Programs with sockets: somebody outside may write to one, so while one waits there is no deadlock.

use std::fs;
use std::io::{Error, Write};
use std::net;
use std::sync::Arc;
use std::thread::{self, sleep as rest};

use gossamer::net::TcpStream;
use gossamer::sync::MVar;
use gossamer::{Model, Runtime, TimeoutExt, Wait, spawn};

use crate::programs::Ends::{Deadlock, Returns};
use crate::programs::{A_WHILE, Program, programs};

/// Both ends of a connection.
fn pair() -> Result<(TcpStream, net::TcpStream), Error> {
    let listener = net::TcpListener::bind("127.0.0.1:0")?;
    let peer = net::TcpStream::connect(listener.local_addr()?)?;
    Ok((TcpStream::try_from(listener.accept()?.0)?, peer))
}

/// How often the main thread has fallen asleep.
fn switches_of_main() -> u64 {
    let process = std::process::id();
    let status = fs::read_to_string(format!("/proc/self/task/{process}/status"));
    let status = status.expect("the system tells");
    let switches = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    switches
        .and_then(|switches| switches.trim().parse().ok())
        .expect("a number")
}

programs! { pub(crate) SOCKETS
    sockets_have_gone: Deadlock(&["MVar::take"]), |rt| {
        rt.try_block_on(async {
            let (stream, peer) = pair().expect("there are ports");
            let reads = spawn(async move { stream.read(&mut [0; 1]).timeout(A_WHILE / 40).await.is_err() });
            assert!(reads.await.expect("no panic"), "nothing was written");
            drop(peer);
            MVar::<()>::empty().take().await;
        })
    };
    nobody_looks_while_one_polls: Returns, |rt| {
        let (stream, peer) = pair().expect("there are ports");
        let told = Arc::new(MVar::empty());
        let (tells, handle) = (told.clone(), rt.handle());
        thread::spawn(move || {
            // The main thread is the last one that has fallen asleep.
            rest(A_WHILE / 20);
            let reads = handle.spawn(async move { stream.read(&mut [0; 1]).await });
            rest(A_WHILE / 2);
            let before = switches_of_main();
            rest(A_WHILE);
            let looks = switches_of_main() - before;
            drop(peer);
            assert_eq!(reads.wait().expect("no panic").expect("the end"), 0);
            tells.put(looks).wait();
        });
        assert_eq!(rt.block_on(told.take()), 0);
        Ok(())
    };
    a_peer_may_write: Returns, |rt| {
        let (stream, mut peer) = pair().expect("there are ports");
        let writes = thread::spawn(move || {
            rest(A_WHILE);
            peer.write_all(&[1])
        });
        let read = rt.try_block_on(async move {
            let got = Arc::new(MVar::empty());
            let gets = got.clone();
            let reads = spawn(async move {
                let read = stream.read(&mut [0; 1]).await;
                gets.put(()).await;
                read
            });
            got.take().await;
            reads.await
        })?;
        assert_eq!(read.expect("no panic").expect("it is open"), 1);
        writes.join().expect("no panic").expect("it is open");
        Ok(())
    };
    a_dump_of_a_thread_at_its_poller: Returns, |rt| {
        let done = Arc::new(MVar::<()>::empty());
        let waits = done.clone();
        let named = thread::Builder::new().name("at its poller".to_owned());
        let thread = named.spawn(move || {
            let own = Runtime::builder().model(Model::Single).build().expect("a runtime");
            let (stream, _peer) = pair().expect("there are ports");
            drop(own.spawn(async move { stream.read(&mut [0; 1]).await }));
            waits.take().wait();
        });
        while !rt.dump().to_string().contains("at its poller") {
            rest(A_WHILE / 40);
        }
        done.put(()).wait();
        thread.expect("a thread").join().expect("no panic");
        Ok(())
    };
}
