//! The macros of Gossamer. Use them through the facade: `gossamer::main`, `gossamer::test`, `gossamer::select!`.
//!
//! The attributes turn an `async fn` into a plain one that builds a runtime and waits for the body with
//! `Runtime::block_on`: the body runs on the calling thread, may borrow, and need not be `Send`.
#![forbid(unsafe_code)]

mod expand;
mod options;
mod select;

use proc_macro::TokenStream;

use crate::expand::{Kind, expand};

/// Runs an `async fn main` on a runtime.
///
/// The body runs on the main thread, as by `Runtime::block_on`; it need not be `Send`. Its output is the
/// program's: `()`, or whatever else implements [`Termination`](std::process::Termination). When it is complete the
/// runtime is dropped, and the tasks that have not finished with it.
///
/// # Options
/// * `model = "pool:4"`: a text that names a model, checked when the program is compiled; or any expression of type
///   `gossamer::Model`, evaluated when `main` begins, so that the arguments may choose. `"pool"` if left out: one
///   worker for each processor that the machine grants.
/// * `workers = 4`: how many workers the pool has, whatever `model` says: any expression of type `usize`.
/// * `runtime = rt`: the name under which the body finds its `&Runtime`, to spawn tasks with.
/// * `crate = path`: where the facade is, if it is not `::gossamer`.
///
/// # Panics
/// If the runtime cannot be built; the message says why.
///
/// # Examples
/// ```
/// use gossamer::Model;
///
/// fn chosen() -> Model {
///     std::env::args().nth(1).and_then(|name| name.parse().ok()).unwrap_or(Model::Single)
/// }
///
/// #[gossamer::main(model = chosen(), runtime = rt)]
/// async fn main() -> Result<(), gossamer::JoinError> {
///     let task = rt.spawn(async { 6 * 7 });
///     assert_eq!(task.await?, 42);
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn main(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(Kind::Main, options.into(), function.into()).into()
}

/// Makes an `async fn` a test, on a runtime of its own.
///
/// The function returns `()`, or whatever else a test may return. Other attributes, such as `#[should_panic]` and
/// `#[ignore]`, work as ever.
///
/// # Options
/// Those of [`macro@main`]. Without `model` it is `"single"`, so that a test starts no thread; with `workers` alone
/// it is a pool.
///
/// # Panics
/// If the runtime cannot be built; the message says why.
///
/// # Examples
/// ```
/// #[gossamer::test]
/// async fn two_and_two() {
///     assert_eq!(async { 2 + 2 }.await, 4);
/// }
///
/// #[gossamer::test(model = "pool:2", runtime = rt)]
/// async fn on_two_workers() -> Result<(), gossamer::JoinError> {
///     let (one, two) = (rt.spawn(async { 1 }), rt.spawn(async { 2 }));
///     assert_eq!(one.await? + two.await?, 3);
///     Ok(())
/// }
/// # fn main() {}
/// ```
#[proc_macro_attribute]
pub fn test(options: TokenStream, function: TokenStream) -> TokenStream {
    expand(Kind::Test, options.into(), function.into()).into()
}

/// Waits for whichever of several operations comes first, and goes on with its branch.
///
/// ```text
/// select! {
///     pattern = operation => body,
///     pattern = operation, if condition => body,
///     else => body,
/// }
/// ```
///
/// The operations are any futures; they are made in their order, pinned, and polled until one is ready. The others are
/// dropped before the branch's body runs, so the body may use what they had borrowed; and as an operation that is
/// dropped loses nothing, a branch that is not taken has had no effect. (What an operation *owns* goes with it: the
/// message of a `send` in a branch that is not taken is dropped, and that of a `send_from` is not.)
///
/// An operation whose condition is false is not even made. A branch whose pattern does not match what has come is out,
/// and the others go on. If no branch takes part any more, the `else` is the one.
///
/// Which branch is asked first is a matter of chance, so that one that is always ready does not keep the others from
/// being taken. With `biased;` at the beginning they are asked in their order.
///
/// A timeout is a branch that sleeps: `_ = sleep(limit) => …`. In a loop the operations are made anew each time; one that
/// is to go on is made before the loop.
///
/// # Blocking
/// It awaits, so it stands in an `async` block or function. With `wait;` at the beginning it waits as `.wait()` does, in a
/// fiber or a thread.
///
/// # Cancellation
/// Dropped unfinished, it drops all operations.
///
/// # Panics
/// No branch takes part any more, and there is no `else`.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use gossamer::{Runtime, channel, select, time::sleep};
///
/// let rt = Runtime::builder().build()?;
/// let (tx, numbers) = channel::unbounded();
/// let (_words, words) = channel::unbounded::<String>();
/// tx.try_send(20).unwrap();
/// tx.try_send(22).unwrap();
/// drop(tx);
/// let sum = rt.block_on(async {
///     let mut sum = 0;
///     loop {
///         select! {
///             Ok(number) = numbers.recv() => sum += number,
///             Ok(word) = words.recv(), if sum < 42 => println!("{word}"),
///             _ = sleep(Duration::from_secs(60)), if sum < 42 => println!("nothing for a minute"),
///             else => break sum,
///         }
///     }
/// });
/// assert_eq!(sum, 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    select::expand(input.into()).into()
}
