//! The attributes of Gossamer. Use them through the facade: `gossamer::main`, `gossamer::test`.
//!
//! Both turn an `async fn` into a plain one that builds a runtime and waits for the body with
//! `Runtime::block_on`: the body runs on the calling thread, may borrow, and need not be `Send`.
#![forbid(unsafe_code)]

mod expand;
mod options;

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
