//! The macros of `gossamer-macros`, with their documentation: so its examples are tested where the runtime is that they
//! use.

/// Runs an `async fn main` on a runtime.
///
/// The body runs on the main thread, as by `Runtime::block_on`; it need not be `Send`. Its output is the
/// program's: `()`, or whatever else implements [`Termination`](std::process::Termination). When it is complete the
/// runtime is dropped, and the tasks that have not finished with it.
///
/// # Options
/// * `model = "pool:4"`: a text that names a model, checked when the program is compiled; or any expression of type
///   `gossamer::Model`, evaluated when `main` begins, so that the arguments may choose. `"pool"` if left out, the
///   default everywhere: one worker for each processor that the machine grants.
/// * `workers = 4`: how many workers the pool has, whatever `model` says: any expression of type `usize`.
/// * `fibers = unsafe { gossamer::Fibers::contract() }`: the runtime has fibers; any expression of type
///   `gossamer::Fibers`. Read what that promises.
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
///     std::env::args().nth(1).and_then(|name| name.parse().ok()).unwrap_or_default()
/// }
///
/// #[gossamer::main(model = chosen(), runtime = rt)]
/// async fn main() -> Result<(), gossamer::JoinError> {
///     let task = rt.spawn(async { 6 * 7 });
///     assert_eq!(task.await?, 42);
///     Ok(())
/// }
/// ```
pub use gossamer_macros::main;

/// Makes an `async fn` a test, on a runtime of its own.
///
/// The function returns `()`, or whatever else a test may return. Other attributes, such as `#[should_panic]` and
/// `#[ignore]`, work as ever.
///
/// # Options
/// Those of [`macro@main`]; `model = "single"` for a test that is to start no thread. And, for one that is run in many
/// orders of its tasks:
///
/// * `sim`: a simulation runs the body under each of the `seeds`, on virtual time; see the module `sim` (a feature,
///   which belongs among the `dev-dependencies`). A run fails if a task panics, if the body's output is an error, at a
///   deadlock, and at a lost wake-up; the message says how to run that seed again. `sim = EXPR` gives it settings: any
///   expression of type `gossamer::sim::Sim`. There is no `model`, and no `runtime`.
/// * `seeds = 0..1000`: any iterator of `u64`; `0..100` if left out.
/// * `exhaustive`, instead of seeds: each schedule of the operations, 100,000 at most, until one fails (see
///   `gossamer::sim::Sim::only_operations`).
/// * `shortest`, as well: all of them, or the first 100,000, and the message is that of a failure with the fewest preemptions, and of those the
///   shortest.
///
/// # Panics
/// If the runtime cannot be built; the message says why. If a simulation fails.
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
///
/// #[gossamer::test(sim, seeds = 0..1000)]
/// async fn in_a_thousand_orders() {
///     let task = gossamer::spawn(async { 6 * 7 });
///     assert_eq!(task.await.unwrap(), 42);
/// }
/// # fn main() {}
/// ```
pub use gossamer_macros::test;

/// What a simulated test becomes, where the feature `sim` is.
#[cfg(feature = "sim")]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_sim {
    ($($test:tt)*) => { $($test)* };
}

/// What it becomes where it is not.
#[cfg(not(feature = "sim"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_sim {
    ($($test:tt)*) => {
        ::core::compile_error!(
            "a simulated test needs the feature `sim`: gossamer-rt = { version = \"…\", features = [\"sim\"] } among the \
             [dev-dependencies]"
        )
    };
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
/// dropped has not happened, a branch that is not taken has had no effect. (What an operation *owns* goes with it: the
/// message of a `send` in a branch that is not taken is dropped, and that of a `send_from` is not. The senders of an
/// `spsc` channel and `SharedSender` have only `send`.)
///
/// At most one branch takes effect, also at a rendezvous, where the other side may complete several at the same moment;
/// and a select is never its own partner. That is promised of this library's operations, also in a
/// [`timeout`](crate::time::timeout()), and of references to them. Any other future, an `async` block around an operation
/// included, is dropped when it has lost, and what it had done by then is done. [`cancellation`](crate::cancellation) has
/// a table, and says more.
///
/// An operation whose condition is false is not even made. A branch whose pattern does not match what has come is out,
/// and the others go on; what has come has been taken all the same. (A name in a pattern that begins with a small letter is taken for a binding, not for a
/// constant.) If no branch takes part any more, the `else` is the one.
///
/// In which order branches are asked is a matter of chance, so that one that is always ready does not keep the others
/// from being taken: of two that are, each is taken as often as the other. With `biased;` at the beginning they are asked in their order.
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
pub use gossamer_macros::select;

/// A protocol: its states, who sends in each, which messages, and what state follows on each.
///
/// ```text
/// protocol! {
///     pub protocol Name between one and other {
///         First: one { message(u32, String) -> Second, leave -> End },
///         Second: other { answer(u32) -> First },
///     }
/// }
/// ```
///
/// The first state is the one it begins in; `End` is where it ends. It may come back to a state, and go on for ever.
/// Type parameters, without bounds, stand after the name: `protocol Stream<T> between …`. Where the facade is, if it is
/// not `::gossamer`, stands before everything: `crate = path;`. In that path, too, `self` and `super` mean one module
/// further in: what is `self::inner` where the macro stands is `super::inner` there.
///
/// # What it makes
/// A module named after the protocol (`name`; a keyword becomes a raw name, as `r#match`), with
/// * `pipe()` and `local_pipe()`: a pair of connected endpoints, for any thread or for one, in the order in which the
///   sides are named. (The types of endpoints have the flavour as their last parameter, `Shared` if left out;
///   `pipe_of()` makes either.)
/// * a module for each side (`one`, `other`), with an *endpoint* type for each state (`one::First`). In a state in
///   which the side sends, it has a method for each message; in one in which the side receives, it has `recv()`. Each
///   uses the endpoint up, and gives the one in the state that follows. So a wrong message, or one in the wrong state,
///   does not compile, and neither does using an endpoint twice;
/// * an enum for each state (`First`), which is what `recv()` gives: `First::Message(7, text, endpoint)` or
///   `First::Leave`. Attributes of a state, such as `#[derive(Debug)]`, are its.
///
/// The types of messages are looked up where the macro stands, but in a module of their own: `self` and `super` mean
/// one module further in, and items inside a function are not seen. They may be endpoints, also of other protocols,
/// or of the same (`one::First`). One that is called as a state is has to be told from that: `super::First`.
///
/// # Sending
/// Sending never waits: it gives the next endpoint at once, or, if the other end is gone, the message back. (One that
/// goes later drops it.) There is one case in which the slot may still be full, namely when the same side sends again.
/// Then what follows is a `Full` endpoint, and its operation `ready()` gives the one to send with (so does `try_ready()`,
/// if it need not wait).
///
/// # Receiving
/// `recv()` is an operation. It has the endpoint, so dropping it closes the pipe.
///
/// # Closing
/// An endpoint that is dropped before the end of the protocol closes the pipe. What it had sent is still received;
/// then the other side gets an error (`Closed`, or its message back).
///
/// # Examples
/// ```
/// use gossamer::{Runtime, Wait, protocol};
///
/// protocol! {
///     /// Adding up.
///     protocol Sum between client and server {
///         Question: client { add(u64, u64) -> Answer, done -> End },
///         Answer: server { result(u64) -> Question, overflow -> Question },
///     }
/// }
/// use sum::{Answer, Question, client, server};
///
/// async fn serve(mut server: server::Question) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     while let Question::Add(one, two, asked) = server.recv().await? {
///         server = match one.checked_add(two) {
///             Some(result) => asked.result(result)?,
///             None => asked.overflow()?,
///         };
///     }
///     Ok(())
/// }
///
/// let rt = Runtime::builder().build()?;
/// let (client, server) = sum::pipe();
/// let served = rt.spawn(serve(server));
/// let Answer::Result(five, client) = client.add(2, 3)?.recv().wait()? else { panic!() };
/// let Answer::Overflow(client) = client.add(five, u64::MAX)?.recv().wait()? else { panic!() };
/// client.done()?;
/// assert!(served.wait()?.is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use gossamer_macros::protocol;
