//! Describing a runtime before it is built.

use std::io;
use std::num::NonZeroUsize;
use std::time::Duration;

use gossamer_fiber::Fibers;
use gossamer_sched::{
    BlockingOptions, Fifo, OnPanic, Pool, Scheduler, Single, Stuck, TaskPanic, ThreadOptions,
    Threads, Watching,
};

use super::Runtime;
use crate::model::Model;
use crate::shared::{Inner, Shared, refuse_in_simulation};

impl Runtime {
    /// A runtime as [`builder`](Runtime::builder) makes it when it is told nothing: of the default
    /// [`Model`], a pool of one worker for each processor.
    ///
    /// # Errors
    /// See [`Builder::build`].
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Runtime, Wait};
    ///
    /// let rt = Runtime::new()?;
    /// assert_eq!(rt.spawn(async { 6 * 7 }).wait()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> io::Result<Self> {
        Self::builder().build()
    }

    /// Begins to describe a runtime. Its model is a [pool](Model::pool) of one worker for each processor, unless told
    /// otherwise.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

/// Configures a [`Runtime`] before it is built; from [`Runtime::builder`].
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct Builder<S = Fifo> {
    /// None: the default, which looks at the machine.
    model: Option<Model>,
    workers: Option<usize>,
    watching: Watching,
    fibers: Option<Fibers>,
    threads: ThreadOptions,
    blocking: BlockingOptions,
    on_panic: OnPanic,
    hangs_silently: bool,
    records_waits: bool,
    #[cfg(all(feature = "dumps", unix, not(any(loom, shuttle))))]
    dumps_on_quit: bool,
    scheduler: S,
    has_own_scheduler: bool,
}

impl<S: Scheduler> Builder<S> {
    /// Chooses the threading model; a [pool](Model::pool) of one worker for each processor unless told otherwise.
    pub fn model(mut self, model: Model) -> Self {
        self.model = Some(model);
        self
    }

    /// Chooses the number of workers of a [`Model::Pool`], whatever the model says; the other models, which have none, ignore it,
    /// as a model is often chosen when the program runs.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Brings a scheduler of one's own: the order in which runnable tasks are polled under [`Model::Single`], which has
    /// to be chosen. (A pool has an order of its own, as theft is part of it.)
    pub fn scheduler<T: Scheduler>(self, scheduler: T) -> Builder<T> {
        Builder {
            model: self.model,
            workers: self.workers,
            watching: self.watching,
            fibers: self.fibers,
            threads: self.threads,
            blocking: self.blocking,
            on_panic: self.on_panic,
            hangs_silently: self.hangs_silently,
            records_waits: self.records_waits,
            #[cfg(all(feature = "dumps", unix, not(any(loom, shuttle))))]
            dumps_on_quit: self.dumps_on_quit,
            scheduler,
            has_own_scheduler: true,
        }
    }

    /// Has `report` be told of polls that a worker of a [`Model::Pool`] was stuck in while work waited, instead of a line
    /// on the standard error.
    ///
    /// A poll is told of when it has ended, or has gone on for five seconds: once, and after others have been called,
    /// or a spare worker started, to take the worker's other tasks over. While the runtime is shut down, which waits
    /// for it, one that goes on for so long is told of though no work waits ([`Stuck::at_end`]). One that ended with a
    /// panic is not, as what took long may have been the report of that. Of the tasks that were spawned in one line at
    /// most one report comes in ten seconds; the last poll is kept back, and told with the number of the others
    /// ([`Stuck::more`]).
    ///
    /// It is called by the monitor's thread, which relieves nobody else meanwhile, and shutting down waits for it, up
    /// to its limit: a poll that goes on then may be told of later. A panic in it is swallowed.
    pub fn on_stuck(mut self, report: impl Fn(&Stuck) + Send + Sync + 'static) -> Self {
        self.watching.set_report(report);
        self
    }

    /// A worker whose thread has run or been blocked for so long in one poll is stuck, and its tasks are taken over; 10
    /// ms unless told otherwise, from 100 µs to an hour. Time in which the thread waits for a processor does not count,
    /// where the system tells it apart (on 64-bit Linux with `/proc`).
    pub fn stuck_after(mut self, stuck_after: Duration) -> Self {
        self.watching.set_stuck_after(stuck_after);
        self
    }

    /// Has the runtime run fibers, which the program has to promise something for: see [`Fibers::contract`]. Without it
    /// [`spawn_fiber`](Runtime::spawn_fiber) panics, also that of scopes and handles.
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Fibers, Model, Runtime, Wait};
    ///
    /// // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
    /// const FIBERS: Fibers = unsafe { Fibers::contract() };
    ///
    /// let rt = Runtime::builder().model(Model::Single).fibers(FIBERS).build()?;
    /// assert_eq!(rt.spawn_fiber(|| 1).wait()?, 1);
    ///
    /// let without = Runtime::builder().model(Model::Single).build()?;
    /// let refused = without.try_spawn_fiber(|| 2).expect_err("nobody has promised anything");
    /// assert_eq!(refused.error.kind(), std::io::ErrorKind::Unsupported);
    /// assert_eq!((refused.future)(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fibers(mut self, promised: Fibers) -> Self {
        self.fibers = Some(promised);
        self
    }

    /// Has a [deadlock](Runtime::try_block_on) hang as if nobody looked for one; for the whole process, from now on. For a
    /// program that waits for nothing but a signal that ends it.
    pub fn without_deadlock_reports(mut self) -> Self {
        self.hangs_silently = true;
        self
    }

    /// Has it be noted since when each task and thread waits, which is since its last turn, and who has locked a
    /// [`Mutex`](crate::sync::Mutex) or, to write, an [`RwLock`](crate::sync::RwLock): for [dumps](Runtime::dump) and reports of
    /// [deadlocks](Runtime::try_block_on), for the whole process, from when the runtime is built.
    ///
    /// A turn of a task takes some ten instructions more then, and a lock some hundred. To be asked by a dump counts as no
    /// turn, unless the task's runtime runs only afterwards. A guard that is passed on, or forgotten, counts as that of
    /// whoever locked. A thread that is not a runtime's notes what it locks from when it has waited once.
    pub fn record_waits(mut self) -> Self {
        self.records_waits = true;
        self
    }

    /// Prints a [dump](Runtime::dump) on the standard error whenever the process gets SIGQUIT (`kill -QUIT`, or Ctrl+\\ in a
    /// terminal), which does not end it then. For the whole process; a handler that was there before is called too.
    ///
    /// # Errors
    /// [`build`](Builder::build) fails if the system refuses the handler or the thread that prints.
    #[cfg(all(feature = "dumps", unix, not(any(loom, shuttle))))]
    pub fn dump_on_quit(mut self) -> Self {
        self.dumps_on_quit = true;
        self
    }

    /// Has `report` be told of each task or fiber that panics, and of each call of [`spawn_blocking`](Runtime::spawn_blocking):
    /// on its thread, in the midst of it, before it is joined. Without it nobody is but who joins the task, and the panic
    /// hook. (A panic of a call of [`blocking`](crate::blocking()) is its task's; if that has dropped it, the call's.)
    ///
    /// A panic of the future of a [`block_on`](Runtime::block_on) is its caller's, and one of a
    /// [scope](crate::scope)'s child the scope's: these are not told of. Nor are panics of the destructors of a task that
    /// has ended or been aborted. A panic of `report` itself is swallowed.
    ///
    /// A program that is to end with the first panic, as in Go, says `.on_panic(|_| std::process::abort())`.
    ///
    /// # Examples
    /// ```
    /// use std::sync::mpsc;
    /// use gossamer::Runtime;
    ///
    /// let (tell, told) = mpsc::channel();
    /// let rt = Runtime::builder()
    ///     .on_panic(move |panic| {
    ///         let text = panic.message().unwrap_or("something");
    ///         let _ = tell.send(format!("{} said: {text}", panic.name.as_deref().unwrap_or("a task")));
    ///     })
    ///     .build()?;
    /// // Nobody joins it.
    /// drop(rt.task().name("reader").spawn(async { panic!("no file") }));
    /// assert_eq!(told.recv()?, "reader said: no file");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_panic(mut self, report: impl Fn(&TaskPanic<'_>) + Send + Sync + 'static) -> Self {
        self.on_panic = OnPanic::new(report);
        self
    }

    /// Names the threads of the runtime: workers, those of [`Model::Threads`], and those for blocking calls. Without it
    /// they are told apart: `gossamer-0` and so on are the workers, `gossamer-task` and `gossamer-blocking` the others.
    ///
    /// The system shows the first 15 bytes.
    pub fn thread_name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.thread_name_fn(move || name.clone())
    }

    /// As [`thread_name`](Builder::thread_name), with a name from `name` for each. A thread for which that panics does not
    /// start, as if the system granted none.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use gossamer::{Runtime, Wait};
    ///
    /// let number = AtomicU32::new(0);
    /// let rt = Runtime::builder()
    ///     .thread_name_fn(move || format!("mine-{}", number.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// let task = rt.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert!(task.wait()?.is_some_and(|name| name.starts_with("mine-")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_name_fn(mut self, name: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.threads.set_name(name);
        self
    }

    /// Gives the threads of the runtime (see [`thread_name`](Builder::thread_name)) a stack of so many bytes, from 64 KiB.
    /// Without it they have the standard library's, 2 MiB. That of fibers is another:
    /// [`Fibers::stack_size`].
    pub fn thread_stack_size(mut self, bytes: usize) -> Self {
        self.threads.set_stack_size(bytes);
        self
    }

    /// Chooses how many blocking calls run at once, at least one; more wait in line. 512 unless told otherwise.
    pub fn max_blocking_threads(mut self, threads: usize) -> Self {
        self.blocking.threads_max = threads;
        self
    }

    /// Chooses how long a thread for blocking calls stays that has none; 10 seconds unless told otherwise.
    pub fn thread_keep_alive(mut self, keep_for: Duration) -> Self {
        self.blocking.keep_for = keep_for;
        self
    }

    /// Builds the runtime.
    ///
    /// Under [`Model::Single`] the current thread owns it: its `.wait()`s run the tasks.
    ///
    /// # Seccomp
    /// The first runtime of a process asks Linux for `membarrier(2)`, and all do without if that is forbidden. A filter
    /// that is installed later has to allow it: else the process is aborted, with a message that says so.
    ///
    /// # Errors
    /// A pool of no workers, or of more than 1,024; a [`stuck_after`](Builder::stuck_after) out of bounds, stacks that no thread or fiber can have, or no thread for blocking
    /// calls; a [`scheduler`](Builder::scheduler) under another model than [`Model::Single`]; the system grants no more threads
    /// (the error says for which worker, or for the monitor); 65,535 shards (one a runtime, one a worker) are in use in
    /// this process; or this is a simulation, which is a runtime itself.
    pub fn build(self) -> io::Result<Runtime> {
        refuse_in_simulation()?;
        let model = self.model.unwrap_or_default();
        if self.has_own_scheduler && model != Model::Single {
            let text = format!(
                "a scheduler of one's own needs the model single, but this is {model}: add .model(Model::Single)"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.threads.check()?;
        let blocking = BlockingOptions {
            threads: self.threads.clone(),
            ..self.blocking
        };
        blocking.check()?;
        if self.fibers.is_some() {
            Fibers::check(self.fibers)?;
        }
        #[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
        if self.hangs_silently {
            gossamer_sched::stop_looking_for_deadlocks();
        }
        if self.records_waits {
            gossamer_core::recording::begin();
        }
        #[cfg(all(feature = "dumps", unix, not(any(loom, shuttle))))]
        if self.dumps_on_quit {
            super::quitting::dump_on_quit()?;
        }
        let inner = match model {
            Model::Single => Inner::single(Single::with_scheduler(self.scheduler)?),
            Model::Pool { workers } => {
                let workers = self.workers.unwrap_or(workers);
                let Some(workers) = NonZeroUsize::new(workers) else {
                    let text = "0 workers: a pool has 1 to 1024";
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
                };
                Inner::Pool(Pool::with_options(workers, self.watching, self.threads)?)
            }
            Model::Threads => Inner::Threads(Threads::with_options(self.threads)),
        };
        Ok(Runtime {
            shared: Shared::new(inner, self.fibers, blocking, self.on_panic),
        })
    }
}
