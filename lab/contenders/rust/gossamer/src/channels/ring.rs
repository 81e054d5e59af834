//! The thread ring with channels of one as its links: a task owns the end it receives from and the one it sends to. Or
//! with pipes.

use channels::{Came, Channel, Went};
use gossamer::{Model, Wait, raw};

use gossamer_contender::args::{Args, runtime};
use gossamer_contender::flavours::{Local, Shared};
use gossamer_contender::{Failure, pipes, spawned, spawned_here};

/// Runs the ring and gives the number of the task that received the zero.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--threads", "--hops", "--order"])?;
    let threads = args.count("--threads", 503)?;
    let hops = args.number("--hops", 1_000)?;
    let order = waiting::order(threads, args.text("--order", "forward"))?;
    if let Some(kind) = args.kind().strip_suffix("-pipe") {
        return match kind {
            "single-local" => spawned_here(pipes::ring::<raw::Local>(threads, hops, &order)),
            _ => {
                let rt = args.runtime_of(kind)?;
                spawned(rt, pipes::ring::<raw::Shared>(threads, hops, &order))
            }
        };
    }
    let lost = || Failure::Ran("a link was closed".into());
    if args.kind() == "single-local" {
        let (first, members, answer) = members::<Local>(threads, &order);
        return runtime(Model::Single)?.block_on_local(|scope| {
            for member in members {
                drop(scope.spawn_local(member));
            }
            async move {
                first.send(hops).await.map_err(|_| lost())?;
                answer.recv().await.map_err(|_| lost())
            }
        });
    }
    let rt = args.runtime()?;
    let (first, members, answer) = members::<Shared>(threads, &order);
    for member in members {
        drop(rt.spawn(member));
    }
    first.send(hops).wait().map_err(|_| lost())?;
    answer.recv().wait().map_err(|_| lost())
}

/// Where the token is put in, the tasks in the order in which they are to be spawned, and where the answer comes out.
fn members<C: Channel<Tx: Clone>>(
    threads: usize,
    order: &[usize],
) -> (C::Tx, Vec<impl Future<Output = ()> + use<C>>, C::Rx) {
    let (outputs, mut inputs): (Vec<_>, Vec<_>) = (0..threads)
        .map(|_| C::pair(Some(1)))
        .map(|(tx, rx)| (tx, Some(rx)))
        .unzip();
    let (won, answer) = C::pair(Some(1));
    let members = order.iter().filter_map(|&id| {
        let (from, to) = (inputs[id].take()?, outputs[(id + 1) % threads].clone());
        Some(pass_on::<C>(id, from, to, won.clone()))
    });
    let members = members.collect();
    (outputs[0].clone(), members, answer)
}

/// A lost token would leave the ring without an answer, which the lab sees.
async fn pass_on<C: Channel>(id: usize, mut from: C::Rx, mut to: C::Tx, mut won: C::Tx) {
    while let Some(token) = C::recv(&mut from).await.message() {
        if token == 0 {
            C::send(&mut won, id as u64 + 1).await.went();
            break;
        }
        if !C::send(&mut to, token - 1).await.went() {
            break;
        }
    }
}
