//! Structured concurrency: scopes, names, bounded spawning, and spawning from inside a task.

use gossamer_structure::{AsyncScope, LimitedHandle, RunScope, Scope, async_scope, scope};

use super::Runtime;
use crate::handle::Handle;
use crate::naming::TaskBuilder;

impl Runtime {
    /// Returns a handle that spawns onto this runtime and does not keep it from ending: for tasks that spawn.
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    /// A task that is given a name before it is spawned.
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Runtime, Wait, task::task_name};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let named = rt.task().name("reader").spawn(async { task_name() });
    /// assert_eq!(named.wait()?.as_deref(), Some("reader"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn task(&self) -> TaskBuilder<'_> {
        TaskBuilder::new(&self.shared)
    }

    /// Returns a handle that lets at most `limit` tasks run at once; a caller that wants one more waits.
    ///
    /// # Panics
    /// `limit` is zero.
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Model, Runtime, Wait};
    ///
    /// let rt = Runtime::builder().model(Model::Pool { workers: 2 }).build()?;
    /// let bounded = rt.limited(2);
    /// let tasks: Vec<_> = (0..10).map(|n| bounded.spawn(async move { n * n }).wait()).collect();
    /// let squares: Vec<i32> = tasks.into_iter().map(|task| task.wait()).collect::<Result<_, _>>()?;
    /// assert_eq!(squares[9], 81);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn limited(&self, limit: usize) -> LimitedHandle<Handle> {
        self.handle().limited(limit)
    }

    /// Calls `body` with a scope, and returns when it has returned and all children that were spawned there have ended.
    /// They may borrow from what surrounds the call, as with [`std::thread::scope`].
    ///
    /// # Blocking
    /// In a fiber: it stands still. Else: blocks the thread; if that built [`Single`](crate::Model::Single) runtimes,
    /// their tasks run meanwhile (on another thread, the children of such a runtime wait until somebody runs it).
    ///
    /// A child that waits for something that `body` should have done, and that panicked before, waits for good.
    ///
    /// # Cancellation
    /// A fiber that is to end while it is in here ends the children first. It blocks its thread until they have ended:
    /// each ends its current poll, and a [thread](Scope::spawn_thread) its closure. So does a thread that ends while a
    /// fiber of it is in a scope, which may have loaned what goes with the thread; after 10 seconds it ends the
    /// process.
    ///
    /// A child that is a [fiber](Scope::spawn_fiber) is ended by the thread where it has begun. If a
    /// [`Single`](crate::Model::Single) runtime is moved, and dropped on another thread, that is when the fiber's own
    /// thread next waits for a scope, or ends; until then this does not return, and a line on the standard error says
    /// so.
    ///
    /// # Panics
    /// As `body` does, or else as the first child did whose panic was not joined; in either case after all children
    /// have ended. Inside a task: use [`async_scope`](Runtime::async_scope). (A scope that was open at a `fork()` must
    /// not end [in the child](Runtime#in-a-forked-child).)
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Fibers, Model, Runtime, Wait};
    ///
    /// // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
    /// let fibers = unsafe { Fibers::contract() };
    /// let rt = Runtime::builder().model(Model::Pool { workers: 2 }).fibers(fibers).build()?;
    /// let words = ["one", "two", "three"];
    /// let mut longest = 0;
    /// let sum = rt.scope(|s| {
    ///     let lengths = words.each_ref().map(|word| s.spawn(async move { word.len() }));
    ///     s.spawn_fiber(|| longest = words.iter().map(|word| word.len()).max().unwrap_or(0));
    ///     lengths.into_iter().map(|length| length.wait().expect("no panic")).sum::<usize>()
    /// });
    /// assert_eq!((sum, longest), (11, 5));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        scope(&*self.shared, body)
    }

    /// A future that runs `body` with a scope and `input`, which they own, and is complete when that has ended and all
    /// children that were spawned there have.
    ///
    /// # Cancellation
    /// Dropping it drops the body and aborts the children, and does not wait for them: they own what they have.
    ///
    /// # Panics
    /// When polled: as the body does, or else as the first child did whose panic was not joined; in either case after
    /// all children have ended.
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Runtime, Wait};
    ///
    /// let rt = Runtime::builder().build()?;
    /// let words = vec!["one".to_owned(), "three".to_owned()];
    /// let sum = rt.async_scope(words, async |s, words| {
    ///     let lengths: Vec<_> = words.into_iter().map(|word| s.spawn(async move { word.len() })).collect();
    ///     let mut sum = 0;
    ///     for length in lengths {
    ///         sum += length.await.expect("no panic");
    ///     }
    ///     sum
    /// });
    /// assert_eq!(sum.wait(), 8);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn async_scope<I, F, B>(&self, input: I, body: F) -> RunScope<B>
    where
        F: FnOnce(AsyncScope, I) -> B,
        B: Future,
    {
        async_scope(self.shared.clone(), input, body)
    }
}
