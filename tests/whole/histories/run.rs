//! One program in all schedules, by hand.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use gossamer::channel::{TryRecvError, TrySendError};
use gossamer::raw::channel::{Receiver, Sender};
use gossamer::raw::{Local, LockPolicy, Shared};
use gossamer::select;

use super::Op;
use super::spec::{Output, Spec};

/// A flavour of channels.
pub(super) trait Flavour: LockPolicy + Sized + 'static {
    fn pair(capacity: usize) -> (Sender<u8, Self>, Receiver<u8, Self>);
}

impl Flavour for Shared {
    fn pair(capacity: usize) -> (Sender<u8, Self>, Receiver<u8, Self>) {
        gossamer::channel::bounded(capacity)
    }
}

impl Flavour for Local {
    fn pair(capacity: usize) -> (Sender<u8, Self>, Receiver<u8, Self>) {
        gossamer::local::channel::bounded(capacity)
    }
}

/// What is run.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) tasks: &'a [Vec<Op>; 3],
    pub(super) capacity: usize,
    /// Whether handles that are not needed any more are dropped.
    pub(super) closes: bool,
}

/// Notes that it was called.
#[derive(Default)]
struct Note(AtomicBool);

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends, or receives.
type Waiting = Pin<Box<dyn Future<Output = Output>>>;

/// A waker, and whether it was called.
struct Bell {
    note: Arc<Note>,
    waker: Waker,
}

impl Bell {
    fn new() -> Self {
        let note = Arc::<Note>::default();
        let waker = note.clone().into();
        Self { note, waker }
    }

    fn clear(&self) {
        self.note.0.store(false, Ordering::Relaxed);
    }
}

/// Handles are shared, so that they need not be counted in the channel for each schedule.
struct Task<'a, P: Flavour> {
    tx: Option<Rc<Sender<u8, P>>>,
    rx: Option<Rc<Receiver<u8, P>>>,
    done: usize,
    waiting: Option<Waiting>,
    bell: &'a Bell,
}

impl<P: Flavour> Task<'_, P> {
    fn is_woken(&self) -> bool {
        self.bell.note.0.load(Ordering::Relaxed)
    }

    fn poll(&mut self, op: Op, message: u8) -> Option<Output> {
        let (tx, rx) = (&self.tx, &self.rx);
        let mut waiting: Waiting = match (op, self.waiting.take()) {
            (_, Some(waiting)) => waiting,
            (Op::TrySend, None) => return Some(try_send(tx.as_ref().expect("kept"), message)),
            (Op::TryRecv, None) => return Some(try_recv(rx.as_ref().expect("kept"))),
            (Op::Send, None) => {
                let tx = tx.clone().expect("kept");
                Box::pin(async move {
                    let sent = tx.send(message).await;
                    let sent = sent.map_err(|error| assert_eq!(error.0, message));
                    sent.map_or(Output::Closed, |()| Output::Sent)
                })
            }
            (Op::SendOrGiveUp, None) => {
                let tx = tx.clone().expect("kept");
                Box::pin(async move {
                    select! {
                        biased;
                        sent = tx.send(message) => sent.map_or(Output::Closed, |()| Output::Sent),
                        () = second_poll() => Output::GivenUp,
                    }
                })
            }
            (Op::GiveUpOrSend, None) => {
                let tx = tx.clone().expect("kept");
                Box::pin(async move {
                    select! {
                        biased;
                        () = second_poll() => Output::GivenUp,
                        sent = tx.send(message) => sent.map_or(Output::Closed, |()| Output::Sent),
                    }
                })
            }
            (Op::Close, None) => {
                tx.as_ref().expect("kept").close();
                return Some(Output::Sent);
            }
            (Op::Reserve, None) => {
                let tx = tx.clone().expect("kept");
                Box::pin(async move {
                    let Ok(permit) = tx.reserve().await else {
                        return Output::Closed;
                    };
                    yield_once().await;
                    permit.send(message);
                    Output::Sent
                })
            }
            (Op::Recv, None) => {
                let rx = rx.clone().expect("kept");
                Box::pin(async move { rx.recv().await.map_or(Output::Closed, Output::Got) })
            }
        };
        self.bell.clear();
        match waiting
            .as_mut()
            .poll(&mut Context::from_waker(&self.bell.waker))
        {
            Poll::Ready(output) => Some(output),
            Poll::Pending => {
                self.waiting = Some(waiting);
                None
            }
        }
    }
}

fn try_send<P: Flavour>(tx: &Sender<u8, P>, message: u8) -> Output {
    match tx.try_send(message) {
        Ok(()) => Output::Sent,
        Err(TrySendError::Full(back)) => {
            assert_eq!(back, message);
            Output::Full
        }
        Err(TrySendError::Closed(back)) => {
            assert_eq!(back, message);
            Output::Closed
        }
    }
}

fn try_recv<P: Flavour>(rx: &Receiver<u8, P>) -> Output {
    match rx.try_recv() {
        Ok(message) => Output::Got(message),
        Err(TryRecvError::Empty) => Output::Empty,
        Err(TryRecvError::Closed) => Output::Closed,
    }
}

fn sends(op: &Op) -> bool {
    !matches!(op, Op::Recv | Op::TryRecv)
}

/// Is ready in its second poll, whoever wakes.
async fn second_poll() {
    let mut is_first = true;
    poll_fn(|_| match std::mem::take(&mut is_first) {
        true => Poll::Pending,
        false => Poll::Ready(()),
    })
    .await;
}

/// Is ready in its second poll, which may come at once.
async fn yield_once() {
    let mut is_first = true;
    poll_fn(|cx| match std::mem::take(&mut is_first) {
        true => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        false => Poll::Ready(()),
    })
    .await;
}

/// A run of a program so far.
struct Run<'a, P: Flavour> {
    program: &'a Program<'a>,
    tasks: [Task<'a, P>; 3],
    spec: Spec,
}

impl<'a, P: Flavour> Run<'a, P> {
    fn new(program: &'a Program<'a>, bells: &'a [Bell; 3]) -> Self {
        let (tx, rx) = P::pair(program.capacity);
        let (tx, rx) = (Some(Rc::new(tx)), Some(Rc::new(rx)));
        let needs = |task: usize, kind: fn(&Op) -> bool| {
            !program.closes || program.tasks[task].iter().any(kind)
        };
        let tasks = [0, 1, 2].map(|task| {
            bells[task].clear();
            Task {
                tx: tx.clone().filter(|_| needs(task, sends)),
                rx: rx.clone().filter(|_| needs(task, |op| !sends(op))),
                done: 0,
                waiting: None,
                bell: &bells[task],
            }
        });
        let senders = tasks.iter().filter(|task| task.tx.is_some()).count();
        let receivers = tasks.iter().filter(|task| task.rx.is_some()).count();
        Self {
            program,
            tasks,
            spec: Spec::new(program.capacity, senders, receivers),
        }
    }

    /// Who may be polled, a bit each.
    fn enabled(&self) -> u8 {
        let is_enabled = |number: usize| {
            let (ops, task) = (&self.program.tasks[number], &self.tasks[number]);
            let is_waiting = task.waiting.is_some() && !task.is_woken();
            task.done < ops.len() && (!is_waiting || ops[task.done].gives_up())
        };
        (0..3)
            .map(|number| u8::from(is_enabled(number)) << number)
            .sum()
    }

    fn woken(&self) -> [bool; 3] {
        [0, 1, 2].map(|number| self.tasks[number].is_woken())
    }

    /// Polls a task; what that gave, and what it had to give.
    fn step(&mut self, number: usize) -> (Option<Output>, Option<Output>) {
        let woken = self.woken();
        let ops = &self.program.tasks[number];
        let task = &mut self.tasks[number];
        let (op, message) = (ops[task.done], (number * 8 + task.done) as u8);
        let output = task.poll(op, message);
        let expected = self.spec.poll(number, op, message, woken);
        if output.is_some() {
            task.done += 1;
            if self.program.closes {
                let rest = &ops[task.done..];
                if !rest.iter().any(sends) && task.tx.take().is_some() {
                    self.spec.drop_sender();
                }
                if rest.iter().all(sends) && task.rx.take().is_some() {
                    self.spec.drop_receiver();
                }
            }
        }
        (output, expected)
    }
}

/// A choice: who was polled, and who is to be polled instead in other schedules, a bit each.
#[derive(Debug, Clone, Copy)]
struct Choice {
    task: usize,
    others: u8,
}

impl Choice {
    fn first(of: u8) -> Self {
        Self {
            task: of.trailing_zeros() as usize,
            others: of & (of - 1),
        }
    }
}

/// Runs a program in all schedules, and gives their number.
#[track_caller]
pub(super) fn schedules<P: Flavour>(program: &Program<'_>) -> usize {
    let bells = [Bell::new(), Bell::new(), Bell::new()];
    let mut path: Vec<Choice> = Vec::new();
    let mut count = 0;
    loop {
        run_through::<P>(program, &bells, &mut path);
        count += 1;
        while path.last().is_some_and(|last| last.others == 0) {
            path.pop();
        }
        let Some(last) = path.last_mut() else {
            return count;
        };
        *last = Choice::first(last.others);
    }
}

/// Runs a program along the path, and on to an end.
#[track_caller]
fn run_through<P: Flavour>(program: &Program<'_>, bells: &[Bell; 3], path: &mut Vec<Choice>) {
    let mut run = Run::<P>::new(program, bells);
    for at in 0.. {
        if at == path.len() {
            match run.enabled() {
                0 => return,
                enabled => path.push(Choice::first(enabled)),
            }
        }
        let (output, expected) = run.step(path[at].task);
        let woken = run.woken();
        assert!(
            output == expected && run.spec.is_right(woken),
            "{program:?}, {:?}: {output:?}, not {expected:?}; woken {woken:?}, {:?}",
            &path[..=at],
            run.spec
        );
    }
}
