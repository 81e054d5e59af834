//! Who polls for those that wait at sockets: while workers are busy, stuck or asleep, and when a runtime is not run, or ends.

use std::future::poll_fn;
use std::io::{ErrorKind, IoSliceMut, Read, Write};
use std::net;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use gossamer::net::{TcpListener, TcpStream};
use gossamer::time::sleep as rest;
use gossamer::{Model, Runtime, TimeoutExt, Wait, yield_now};

use super::{each_model, runtime, watched};

fn listener() -> (TcpListener, net::SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0".parse().expect("it is an address"));
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("it has one");
    (listener, address)
}

/// Both ends of a connection; ours has not waited so far.
fn pair() -> (TcpStream, net::TcpStream) {
    let listener = net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let peer = net::TcpStream::connect(listener.local_addr().expect("it has one"));
    let (ours, _) = listener.accept().expect("somebody connects");
    let ours = TcpStream::try_from(ours).expect("it is a socket");
    (ours, peer.expect("it listens"))
}

fn say(peer: &net::TcpStream, byte: u8) {
    let mut peer = peer;
    peer.write_all(&[byte]).expect("the connection is open");
}

async fn hear(stream: &TcpStream) -> u8 {
    let mut byte = [0];
    let read = stream
        .read(&mut byte)
        .await
        .expect("the connection is open");
    assert_eq!(read, 1, "the connection was closed");
    byte[0]
}

/// Polls a read once, so that the socket has a poller: the one of whoever runs this.
async fn settle_here(stream: &TcpStream) {
    let waited = hear(stream).timeout(Duration::from_millis(1)).await;
    assert!(waited.is_err(), "nothing was sent");
}

#[test]
fn a_byte_there_and_back() {
    each_model(|model| {
        let rt = runtime(model);
        let (listener, address) = listener();
        let echo = rt.spawn(async move {
            let (stream, _) = listener.accept().await.expect("somebody connects");
            loop {
                let mut bytes = [0; 8];
                let read = stream.read(&mut bytes).await.expect("it is open");
                if read == 0 {
                    break;
                }
                assert_eq!(
                    stream.write(&bytes[..read]).await.expect("it is open"),
                    read
                );
            }
        });
        rt.block_on(async {
            let stream = TcpStream::connect(address).await.expect("it listens");
            for byte in 0..100 {
                stream.write(&[byte]).await.expect("it is open");
                assert_eq!(hear(&stream).await, byte);
            }
        });
        echo.wait().expect("no panic");
    });
}

#[test]
fn busy_tasks_do_not_keep_events_back() {
    each_model(|model| {
        let rt = runtime(model);
        let (stream, peer) = pair();
        let done = Arc::new(AtomicBool::new(false));
        let busy: Vec<_> = (0..2)
            .map(|_| {
                let done = done.clone();
                rt.spawn(async move {
                    while !done.load(Ordering::Relaxed) {
                        yield_now().await;
                    }
                })
            })
            .collect();
        let heard = rt.spawn(async move {
            let byte = hear(&stream).await;
            done.store(true, Ordering::Relaxed);
            byte
        });
        let says = thread::spawn(move || say(&peer, 7));
        assert_eq!(heard.wait().expect("no panic"), 7);
        says.join().expect("no panic");
        for task in busy {
            task.wait().expect("no panic");
        }
    });
}

/// All workers are blocked, until somebody has been served.
#[test]
fn stuck_workers_do_not_keep_events_back() {
    for workers in [1, 2] {
        watched(&format!("stuck, pool of {workers}"), move || {
            let rt = runtime(Model::Pool { workers });
            let (stream, peer) = pair();
            let (begun, begins) = mpsc::channel();
            let parks = begun.clone();
            let heard = rt.spawn(async move {
                settle_here(&stream).await;
                parks.send(()).expect("somebody listens");
                hear(&stream).await
            });
            begins.recv().expect("it waits");
            let (served, is_served) = mpsc::channel();
            let is_served = Arc::new(std::sync::Mutex::new(is_served));
            let stuck: Vec<_> = (0..workers)
                .map(|_| {
                    let (begun, is_served) = (begun.clone(), is_served.clone());
                    rt.spawn(async move {
                        begun.send(()).expect("somebody listens");
                        let is_served = is_served.lock().expect("no panic");
                        is_served.recv().expect("it is told");
                    })
                })
                .collect();
            for _ in 0..workers {
                begins.recv().expect("each worker has one, or a spare");
            }
            say(&peer, 7);
            assert_eq!(heard.wait().expect("no panic"), 7);
            for _ in 0..workers {
                served.send(()).expect("somebody waits");
            }
            for task in stuck {
                task.wait().expect("no panic");
            }
        });
    }
}

/// The first socket waits in a thread that is none of the pool's, while all workers sleep.
#[test]
fn the_first_wait_of_a_sleeping_pool() {
    for workers in [1, 2] {
        watched(&format!("first wait, pool of {workers}"), move || {
            let rt = runtime(Model::Pool { workers });
            let (stream, peer) = pair();
            let (polled, polls) = mpsc::channel();
            let says = thread::spawn(move || {
                polls.recv().expect("it is polled");
                say(&peer, 7);
            });
            // By then the monitor sleeps as well.
            rest(Duration::from_millis(500)).wait();
            let byte = rt.block_on(async {
                settle_here(&stream).await;
                polled.send(()).expect("somebody listens");
                hear(&stream).await
            });
            assert_eq!(byte, 7);
            says.join().expect("no panic");
        });
    }
}

/// A socket that has waited in a task is waited for by a thread, while nobody runs the runtime.
#[test]
fn a_socket_leaves_a_runtime_that_rests() {
    each_model(|model| {
        let rt = runtime(model);
        let (stream, peer) = pair();
        rt.block_on(settle_here(&stream));
        let (byte, said) = thread::scope(|scope| {
            let hears = scope.spawn(|| hear(&stream).wait());
            let says = scope.spawn(|| say(&peer, 7));
            (hears.join(), says.join())
        });
        said.expect("no panic");
        assert_eq!(byte.expect("no panic"), 7);
        // And comes back.
        say(&peer, 8);
        assert_eq!(rt.block_on(hear(&stream)), 8);
    });
}

/// A task of another runtime waits for a socket of whose events this one's poller tells, and this one ends.
#[test]
fn the_end_of_a_runtime_strands_nobody() {
    each_model(|model| {
        let other = runtime(Model::Pool { workers: 1 });
        let rt = runtime(model);
        let (stream, peer) = pair();
        rt.block_on(settle_here(&stream));
        let (begun, begins) = mpsc::channel();
        let hears = other.spawn(async move {
            begun.send(()).expect("somebody listens");
            hear(&stream).await
        });
        begins.recv().expect("it begins");
        // The one worker has polled it to its end when it polls the next one.
        other.spawn(async {}).wait().expect("no panic");
        drop(rt);
        say(&peer, 7);
        assert_eq!(hears.wait().expect("no panic"), 7);
    });
}

/// Its handle is kept, and a blocking call of it runs on.
#[test]
fn the_end_of_a_runtime_that_is_kept_strands_nobody() {
    each_model(|model| {
        let rt = runtime(model);
        let kept = rt.handle();
        let (stream, peer) = pair();
        let (begun, begins) = mpsc::channel();
        let call = rt.spawn_blocking(move || {
            settle_here(&stream).wait();
            begun.send(()).expect("somebody listens");
            hear(&stream).wait()
        });
        begins.recv().expect("it begins");
        drop(rt);
        say(&peer, 7);
        assert_eq!(call.wait().expect("no panic"), 7);

        let (stream, peer) = pair();
        kept.enter(|| settle_here(&stream).wait());
        say(&peer, 8);
        assert_eq!(kept.enter(|| hear(&stream).wait()), 8);
    });
}

/// The one worker has left before the thread that ends the pool has dropped the tasks that no worker had.
#[test]
fn the_end_of_a_pool_whose_worker_is_first_strands_nobody() {
    struct Dropped(Option<mpsc::Sender<()>>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            drop(self.0.take());
            // Until the worker, which waited for that, has left.
            thread::park_timeout(Duration::from_millis(100));
        }
    }

    watched("pool:1", || {
        let rt = runtime(Model::Pool { workers: 1 });
        let (stream, peer) = pair();
        let (begun, begins) = mpsc::channel();
        let begun_too = begun.clone();
        let call = rt.spawn_blocking(move || {
            settle_here(&stream).wait();
            begun.send(()).expect("somebody listens");
            hear(&stream).wait()
        });
        begins.recv().expect("it begins");
        let (open, opened) = mpsc::channel();
        drop(rt.spawn(async move {
            begun_too.send(()).expect("somebody listens");
            opened.recv().expect_err("nothing is sent");
        }));
        begins.recv().expect("it begins");
        let dropped = Dropped(Some(open));
        drop(rt.spawn(async move { drop(dropped) }));
        drop(rt);
        say(&peer, 7);
        assert_eq!(call.wait().expect("no panic"), 7);
    });
}

/// A task is polled inside of a runtime whose tasks nobody runs at the time.
#[test]
fn a_task_that_enters_another_runtime_hears() {
    for model in [Model::Pool { workers: 1 }, Model::Threads] {
        watched(&model.to_string(), move || {
            let (rt, single) = (runtime(model), runtime(Model::Single));
            let entered = single.handle();
            let (stream, peer) = pair();
            let (begun, begins) = mpsc::channel();
            let (heard, hears) = mpsc::channel();
            let task = rt.spawn(async move {
                let mut hearing = pin!(hear(&stream));
                let byte = poll_fn(|cx| {
                    let polled = entered.enter(|| hearing.as_mut().poll(cx));
                    begun.send(()).unwrap_or_default();
                    polled
                });
                heard.send(byte.await).expect("somebody listens");
            });
            begins.recv().expect("it begins");
            say(&peer, 7);
            // A thread that waited for the task would run the other runtime.
            assert_eq!(hears.recv(), Ok(7));
            task.wait().expect("no panic");
        });
    }
}

/// A connection goes from one runtime to another one, and back.
#[test]
fn a_socket_goes_from_runtime_to_runtime() {
    for [one, other] in [
        [Model::Single, Model::Single],
        [Model::Single, Model::Pool { workers: 2 }],
        [Model::Pool { workers: 1 }, Model::Threads],
        [Model::Pool { workers: 2 }, Model::Pool { workers: 2 }],
    ] {
        watched(&format!("{one} and {other}"), move || {
            let (stream, peer) = pair();
            let mut stream = Some(stream);
            let runtimes: [Runtime; 2] = [runtime(one), runtime(other)];
            let (settled, settles) = mpsc::channel();
            let says = thread::spawn(move || {
                for turn in settles {
                    say(&peer, turn);
                }
            });
            for turn in 0..4 {
                let (kept, settled) = (stream.take().expect("it is back"), settled.clone());
                let task = runtimes[usize::from(turn) % 2].spawn(async move {
                    settle_here(&kept).await;
                    settled.send(turn).expect("somebody listens");
                    (hear(&kept).await, kept)
                });
                // One that is single is run by this.
                let (byte, kept) = task.wait().expect("no panic");
                assert_eq!(byte, turn);
                stream = Some(kept);
            }
            drop(settled);
            says.join().expect("no panic");
        });
    }
}

/// A task that finds bytes each time it looks lets others run in between; also where it polls by a call of its own.
#[test]
fn bytes_count_in_the_budget() {
    const BYTES: usize = 16 << 10;
    const LOOKS: usize = 1_000;
    let models = [Model::Single, Model::Pool { workers: 1 }];
    for (model, polls) in models
        .into_iter()
        .flat_map(|model| [(model, false), (model, true)])
    {
        watched(&format!("{model}, polls: {polls}"), move || {
            let rt = runtime(model);
            let (mut stream, mut peer) = pair();
            peer.write_all(&[1; BYTES]).expect("the connection is open");
            let has_run = Arc::new(AtomicBool::new(false));
            let runs = has_run.clone();
            let looks = rt.spawn(async move {
                let other = gossamer::spawn(async move { runs.store(true, Ordering::Relaxed) });
                let (mut buffer, mut looks) = (vec![0; BYTES], 0);
                while looks < LOOKS && !has_run.load(Ordering::Relaxed) {
                    let seen = match polls {
                        false => stream.peek(&mut buffer).await,
                        true => {
                            let mut look = |socket: &net::TcpStream| socket.peek(&mut buffer);
                            poll_fn(|cx| stream.poll_read_with(cx, &mut look)).await
                        }
                    };
                    looks += usize::from(seen.expect("it is open") == BYTES);
                }
                other.await.expect("no panic");
                looks
            });
            let looks = looks.wait().expect("no panic");
            assert!(looks < LOOKS, "another task had to wait for all of them");
        });
    }
}

/// What was written before the end is read before the end.
#[test]
fn an_end_right_behind_the_bytes() {
    each_model(|model| {
        let rt = runtime(model);
        for _ in 0..50 {
            let (stream, peer) = pair();
            let says = thread::spawn(move || say(&peer, 7));
            let reads = rt.spawn(async move {
                let mut bytes = [0; 64];
                let first = stream.read(&mut bytes).await.expect("it is open");
                (first, stream.read(&mut bytes).await.expect("it has ended"))
            });
            assert_eq!(reads.wait().expect("no panic"), (1, 0));
            says.join().expect("no panic");
        }
    });
}

/// The standard library's socket blocks again.
#[test]
fn a_socket_goes_back_to_the_standard_library() {
    let (stream, peer) = pair();
    runtime(Model::Single).block_on(settle_here(&stream));
    let mut stream = net::TcpStream::try_from(stream).expect("it is a socket");
    let says = thread::spawn(move || say(&peer, 7));
    let mut byte = [0];
    stream.read_exact(&mut byte).expect("it waits for the byte");
    assert_eq!(byte, [7]);
    says.join().expect("no panic");
}

/// A read ends at urgent data, and gives less than it could.
#[test]
fn urgent_data_is_not_the_end() {
    each_model(|model| {
        let rt = runtime(model);
        let (stream, peer) = pair();
        let (read, reads) = mpsc::channel();
        let reader = rt.spawn(async move {
            let mut bytes = [0; 64];
            while let 1.. = stream.read(&mut bytes).await.expect("it is open") {
                read.send(()).expect("somebody listens");
            }
        });
        let says = thread::spawn(move || {
            say(&peer, 1);
            reads.recv().expect("it is read");
            // What is urgent comes apart from the rest.
            let urgent = rustix::net::SendFlags::OOB;
            rustix::net::send(&peer, &[2], urgent).expect("it is open");
            say(&peer, 3);
            reads.recv().expect("it is read");
        });
        reader.wait().expect("no panic");
        says.join().expect("no panic");
    });
}

/// One call takes 1,024 buffers; the others are for the next.
#[test]
fn more_buffers_than_a_call_takes() {
    each_model(|model| {
        let rt = runtime(model);
        let (stream, mut peer) = pair();
        peer.write_all(&[1; 1_500]).expect("the connection is open");
        drop(peer);
        let reads = rt.spawn(async move {
            let mut all = 0;
            loop {
                let mut bytes = [[0]; 1_500];
                let mut buffers: Vec<_> =
                    bytes.iter_mut().map(|byte| IoSliceMut::new(byte)).collect();
                match stream
                    .read_vectored(&mut buffers)
                    .await
                    .expect("it is open")
                {
                    0 => return all,
                    read => all += read,
                }
            }
        });
        assert_eq!(reads.wait().expect("no panic"), 1_500);
    });
}

/// Nothing there could tell of it.
#[test]
fn a_socket_does_not_wait_in_a_simulation() {
    let (stream, _peer) = pair();
    let read = gossamer_sim::run(1, || async move {
        let read = stream.read(&mut [0; 1]).await;
        read.map_err(|error| error.kind())
    });
    assert_eq!(read.expect("no deadlock"), Err(ErrorKind::Unsupported));
}
