//! A program's tasks on a runtime, or on this thread.

use gossamer::{Model, Runtime, Wait};
use gossamer_contender::Failure;
use gossamer_contender::args::{runtime, said};
use savina::Tasks;

/// The sum of what all tasks return.
pub(crate) fn run_on<A, B, C>(rt: &Runtime, tasks: Tasks<A, B, C>) -> Result<u64, Failure>
where
    A: Future<Output = u64> + Send + 'static,
    B: Future<Output = u64> + Send + 'static,
    C: Future<Output = u64> + Send + 'static,
{
    let first = tasks.first.into_iter().map(|task| rt.spawn(task));
    let second = tasks.second.into_iter().map(|task| rt.spawn(task));
    let mut handles: Vec<_> = first.collect();
    handles.extend(second);
    handles.push(rt.spawn(tasks.one));
    let mut sum = 0_u64;
    for handle in handles {
        sum = sum.wrapping_add(handle.wait().map_err(said)?);
    }
    Ok(sum)
}

/// The same with tasks that stay on this thread.
pub(crate) fn run_here<A, B, C>(tasks: Tasks<A, B, C>) -> Result<u64, Failure>
where
    A: Future<Output = u64> + 'static,
    B: Future<Output = u64> + 'static,
    C: Future<Output = u64> + 'static,
{
    runtime(Model::Single)?.block_on_local(|scope| {
        let first = tasks.first.into_iter().map(|task| scope.spawn_local(task));
        let mut handles: Vec<_> = first.collect();
        let second = tasks.second.into_iter();
        handles.extend(second.map(|task| scope.spawn_local(task)));
        handles.push(scope.spawn_local(tasks.one));
        async {
            let mut sum = 0_u64;
            for handle in handles {
                sum = sum.wrapping_add(handle.await.map_err(said)?);
            }
            Ok(sum)
        }
    })
}
