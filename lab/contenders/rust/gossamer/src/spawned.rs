//! Senders and receivers as tasks.

use channels::Tasks;
use gossamer::{JoinHandle, Model, Runtime, Wait};

use crate::Failure;
use crate::args::{runtime, said};

/// The sum of what all receivers got.
pub fn spawned<S, R>(rt: &Runtime, tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + Send + 'static,
    R: Future<Output: Into<Option<u64>> + Send> + Send + 'static,
{
    let senders: Vec<JoinHandle<()>> = tasks.senders.into_iter().map(|f| rt.spawn(f)).collect();
    let receivers: Vec<JoinHandle<R::Output>> =
        tasks.receivers.into_iter().map(|f| rt.spawn(f)).collect();
    for sender in senders {
        sender.wait().map_err(said)?;
    }
    let mut sum = 0_u64;
    for receiver in receivers {
        sum = sum.wrapping_add(receiver.wait().map_err(said)?.into().unwrap_or(0));
    }
    Ok(sum)
}

/// The same with tasks that stay on this thread.
pub fn spawned_here<S, R>(tasks: Tasks<S, R>) -> Result<u64, Failure>
where
    S: Future<Output = ()> + 'static,
    R: Future<Output: Into<Option<u64>>> + 'static,
{
    runtime(Model::Single)?.block_on_local(|scope| {
        let senders: Vec<_> = tasks
            .senders
            .into_iter()
            .map(|f| scope.spawn_local(f))
            .collect();
        let receivers: Vec<_> = tasks
            .receivers
            .into_iter()
            .map(|f| scope.spawn_local(f))
            .collect();
        async {
            for sender in senders {
                sender.await.map_err(said)?;
            }
            let mut sum = 0_u64;
            for receiver in receivers {
                sum = sum.wrapping_add(receiver.await.map_err(said)?.into().unwrap_or(0));
            }
            Ok(sum)
        }
    })
}
