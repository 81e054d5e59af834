//! A callback from C that waits: `qsort` of the C library sorts in a fiber, and asks a task for each comparison.
//!
//! The frames of `qsort` stand on the fiber's stack while the callback waits, and the worker runs others: here three
//! fibers sort at once, in one thread if the model says so. `gossamer::foreign` sees to it that no abort unwinds C's
//! frames.
//!
//! `cargo run --release -p gossamer-rt --example c_callback [MODEL]`, where MODEL is `single`, `pool:2` or `threads`

use std::cmp::Ordering;
use std::error::Error;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use gossamer::{Fibers, Model, Runtime, Wait, foreign, sync::MVar};

/// Knows the order: a task that takes questions and puts answers.
struct Judge {
    question: MVar<(u32, u32)>,
    answer: MVar<Ordering>,
}

impl Judge {
    fn new() -> Self {
        Self {
            question: MVar::empty(),
            answer: MVar::empty(),
        }
    }

    /// Answers for ever: the smaller sum of digits comes first, and the smaller number where the sums are the same.
    async fn serve(&self) {
        loop {
            let (one, other) = self.question.take().await;
            let key = |number| (digit_sum(number), number);
            self.answer.put(key(one).cmp(&key(other))).await;
        }
    }

    /// Asks the task, and waits.
    fn compare(&self, one: u32, other: u32) -> Ordering {
        self.question.put((one, other)).wait();
        self.answer.take().wait()
    }
}

fn digit_sum(number: u32) -> u32 {
    match number {
        0 => 0,
        _ => number % 10 + digit_sum(number / 10),
    }
}

/// What is sorted: `qsort` gives its callback two elements and nothing else, so each knows whom to ask. A thread-local
/// would be wrong: while this callback waits, another fiber of the thread may sort.
#[derive(Clone, Copy)]
struct Element<'a> {
    number: u32,
    judge: &'a Judge,
}

/// The callback. If it panicked, `extern "C"` would end the process: no panic gets into C.
///
/// # Safety
/// Both point at elements that nobody changes meanwhile.
unsafe extern "C" fn compare(one: *const c_void, other: *const c_void) -> c_int {
    // SAFETY: as the caller promises.
    let one = unsafe { &*one.cast::<Element<'_>>() };
    // SAFETY: as the caller promises.
    let other = unsafe { &*other.cast::<Element<'_>>() };
    one.judge.compare(one.number, other.number) as c_int
}

/// Sorts as the judge says, in C.
fn sort(numbers: &mut [u32], judge: &Judge) {
    let mut elements: Vec<_> = numbers
        .iter()
        .map(|&number| Element { number, judge })
        .collect();
    let (base, len) = (elements.as_mut_ptr(), elements.len());
    // SAFETY: these are `len` elements of that size, which are `Copy` and belong to this call alone; the callback is for
    // them, and its answers are those of one total order. It does not unwind: it has no panic, and inside `foreign` an
    // abort does not come.
    foreign(|| unsafe { libc::qsort(base.cast(), len, size_of::<Element<'_>>(), Some(compare)) });
    for (number, element) in numbers.iter_mut().zip(&elements) {
        *number = element.number;
    }
}

/// The first argument, or a pool.
fn model() -> Result<Model, Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(name) => Ok(name.parse()?),
        None => Ok(Model::default()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises
    // one.
    let fibers = unsafe { Fibers::contract() };
    let rt = Runtime::builder().model(model()?).fibers(fibers).build()?;
    let sorts: Vec<_> = [99, 100, 101]
        .map(|step| {
            let judge = Arc::new(Judge::new());
            let serving = judge.clone();
            let server = rt.spawn(async move { serving.serve().await });
            let fiber = rt.spawn_fiber(move || {
                let mut numbers: Vec<u32> = (1..=1_000).map(|at| at * step).collect();
                sort(&mut numbers, &judge);
                numbers
            });
            (step, server, fiber)
        })
        .into();
    for (step, server, fiber) in sorts {
        let sorted = fiber.wait()?;
        server.abort();
        assert_eq!(sorted.len(), 1_000);
        assert!(sorted.is_sorted_by_key(|&number| (digit_sum(number), number)));
        println!(
            "multiples of {step}: {:?} ... {:?}",
            &sorted[..4],
            &sorted[998..]
        );
    }
    Ok(())
}
