//! What everything promises that is waited for: rules, panics and cancelling, written once, and run over all locks and
//! cells.
//!
//! A flavour is a [`Kind`]: a primitive that somebody [holds](Lock::hold), others [wait](Lock::wait) for, and that one of
//! them has, or all, when it is let go. What only one primitive promises stands in [`locks`](crate::locks).
//!
//! A barrier is not among them: nobody holds it, and it is the number of those that wait which lets them go.

mod cancelling;
mod flavours;
mod owned;
mod panics;
mod rules;

use std::pin::Pin;
use std::rc::Rc;

/// What keeps others from going on, until it is dropped.
struct Held<'a> {
    _held: Box<dyn Keeps + 'a>,
}

trait Keeps {}
impl<T> Keeps for T {}

impl<'a> Held<'a> {
    fn new(held: impl Keeps + 'a) -> Self {
        Self {
            _held: Box::new(held),
        }
    }
}

type Operation<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A primitive under test.
trait Lock {
    /// Holds it, if it is free.
    fn hold(&self) -> Option<Held<'_>>;

    /// Waits until it is let go, and then has what that gives.
    fn wait(&self) -> Operation<'_, Held<'_>>;
}

/// A flavour.
struct Kind {
    make: fn() -> Rc<dyn Lock>,
    /// Whether one that waits has it at a time, and then the next; or else all that wait go, once and for all.
    one_at_a_time: bool,
    /// Whether it can be held again when all have gone.
    free_again: bool,
    /// Whether simulations have scheduling points inside of operations.
    scheduling_points: bool,
}

/// Makes the tests of one flavour: a module of its name.
macro_rules! over {
    ($flavour:ident = $make:ident $policy:ident: $($name:ident)*) => {
        mod $flavour {
            $(#[test]
            fn $name() {
                super::$name(&crate::every_lock::flavours::$make::<crate::flavour::$policy>());
            })*
        }
    };
}

/// Makes a test of each of these functions for each flavour.
macro_rules! over_all {
    ($($name:ident,)*) => {
        crate::every_lock::over! { shared_mutex = mutexes Shared: $($name)* }
        crate::every_lock::over! { local_mutex = mutexes Local: $($name)* }
        crate::every_lock::over! { shared_fair_mutex = fair_mutexes Shared: $($name)* }
        crate::every_lock::over! { local_fair_mutex = fair_mutexes Local: $($name)* }
        crate::every_lock::over! { shared_writers = writers Shared: $($name)* }
        crate::every_lock::over! { local_writers = writers Local: $($name)* }
        crate::every_lock::over! { shared_writers_for_a_reader = writers_for_a_reader Shared: $($name)* }
        crate::every_lock::over! { local_writers_for_a_reader = writers_for_a_reader Local: $($name)* }
        crate::every_lock::over! { shared_readers = readers Shared: $($name)* }
        crate::every_lock::over! { local_readers = readers Local: $($name)* }
        crate::every_lock::over! { shared_semaphore = semaphores Shared: $($name)* }
        crate::every_lock::over! { local_semaphore = semaphores Local: $($name)* }
        crate::every_lock::over! { shared_semaphore_of_many = semaphores_of_many Shared: $($name)* }
        crate::every_lock::over! { local_semaphore_of_many = semaphores_of_many Local: $($name)* }
        crate::every_lock::over! { shared_semaphore_for_all = semaphores_for_all Shared: $($name)* }
        crate::every_lock::over! { local_semaphore_for_all = semaphores_for_all Local: $($name)* }
        crate::every_lock::over! { shared_owned_mutex = owned_mutexes Shared: $($name)* }
        crate::every_lock::over! { local_owned_mutex = owned_mutexes Local: $($name)* }
        crate::every_lock::over! { shared_owned_fair_mutex = owned_fair_mutexes Shared: $($name)* }
        crate::every_lock::over! { local_owned_fair_mutex = owned_fair_mutexes Local: $($name)* }
        crate::every_lock::over! { shared_owned_writers = owned_writers Shared: $($name)* }
        crate::every_lock::over! { local_owned_writers = owned_writers Local: $($name)* }
        crate::every_lock::over! { shared_owned_readers = owned_readers Shared: $($name)* }
        crate::every_lock::over! { local_owned_readers = owned_readers Local: $($name)* }
        crate::every_lock::over! { shared_owned_semaphore = owned_permits Shared: $($name)* }
        crate::every_lock::over! { local_owned_semaphore = owned_permits Local: $($name)* }
        crate::every_lock::over! { shared_mvar = mvars Shared: $($name)* }
        crate::every_lock::over! { local_mvar = mvars Local: $($name)* }
        crate::every_lock::over! { shared_puts = puts Shared: $($name)* }
        crate::every_lock::over! { local_puts = puts Local: $($name)* }
        crate::every_lock::over! { shared_condvar_for_one = condvars_for_one Shared: $($name)* }
        crate::every_lock::over! { local_condvar_for_one = condvars_for_one Local: $($name)* }
        crate::every_lock::over! { shared_condvar_for_all = condvars_for_all Shared: $($name)* }
        crate::every_lock::over! { local_condvar_for_all = condvars_for_all Local: $($name)* }
        crate::every_lock::over! { shared_event = events Shared: $($name)* }
        crate::every_lock::over! { local_event = events Local: $($name)* }
        crate::every_lock::over! { shared_ivar = ivars Shared: $($name)* }
        crate::every_lock::over! { local_ivar = ivars Local: $($name)* }
        crate::every_lock::over! { shared_once_cell = once_cells Shared: $($name)* }
        crate::every_lock::over! { local_once_cell = once_cells Local: $($name)* }
        crate::every_lock::over! { shared_watch = watches Shared: $($name)* }
        crate::every_lock::over! { local_watch = watches Local: $($name)* }
    };
}
use {over, over_all};
