//! A path through the choices of a description, and those that follow it.
//!
//! A path is a list of the alternatives that were chosen. A run follows the list, and takes the first alternative in
//! each draw beyond it; the next path is the list with its last entry that has another alternative moved to that, and
//! what came after it cut off. Its first entries may be fixed: then those that follow it are one part of all paths.

use std::ops::Range;
use std::sync::Arc;

use dashu_int::UBig;

use crate::interpreter::sum;
use crate::weight::Weight;
use crate::{Among, Error, Interpreter};

/// A path, and how far a run has followed it.
pub(crate) struct Path {
    steps: Vec<Step>,
    /// What was chosen in each step, close together, as a run asks for that alone.
    answers: Vec<Answer>,
    /// Steps before this one are fixed; its own part of this one's alternatives ends before `until`.
    fixed: usize,
    until: u32,
    at: usize,
    most: usize,
    is_over: bool,
}

/// What was chosen.
#[derive(Clone, Copy)]
struct Answer {
    /// Of so many that are alike; 0: of others.
    of: u32,
    chosen: u32,
}

/// A draw.
#[derive(Clone)]
struct Step {
    among: Alternatives,
    /// The probability of the path up to the draw, and up to and with it.
    before: Weight,
    weight: Weight,
}

#[derive(Clone)]
enum Alternatives {
    Alike(u32),
    Weighted { weights: Arc<[UBig]>, total: UBig },
}

impl Alternatives {
    fn new(among: Among<'_>) -> Self {
        match among {
            Among::Alike(count) => Self::Alike(count),
            Among::Weighted(weights) => Self::Weighted {
                weights: weights.into(),
                total: sum(weights),
            },
        }
    }

    fn as_among(&self) -> Among<'_> {
        match self {
            Self::Alike(count) => Among::Alike(*count),
            Self::Weighted { weights, .. } => Among::Weighted(weights),
        }
    }

    fn len(&self) -> u32 {
        self.as_among().len() as u32
    }

    /// The first of these that can be.
    fn possible(&self, mut indices: Range<u32>) -> Option<u32> {
        let among = self.as_among();
        indices.find(|index| among.is_possible(*index as usize))
    }

    /// The probability of a path that was so probable before, and goes on with the alternative that has this index.
    fn weight(&self, before: &Weight, index: u32) -> Weight {
        match self {
            Self::Alike(count) => before.one_of(*count),
            Self::Weighted { weights, total } => before.part(&weights[index as usize], total),
        }
    }
}

impl Interpreter for Path {
    #[inline]
    fn choose(&mut self, among: Among<'_>) -> Result<usize, Error> {
        let draw = self.at;
        self.at += 1;
        match self.answers.get(draw) {
            Some(answer) if among == Among::Alike(answer.of) => Ok(answer.chosen as usize),
            _ => self.choose_slowly(draw, among),
        }
    }
}

impl Path {
    /// The first of all paths, of at most so many draws.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            steps: Vec::new(),
            answers: Vec::new(),
            fixed: 0,
            until: u32::MAX,
            at: 0,
            most,
            is_over: false,
        }
    }

    /// Allows as many draws as it has, or `few`: that number.
    pub(crate) fn allow(&mut self, few: usize) -> usize {
        self.most = self.steps.len().max(few);
        self.most
    }

    /// Whether all of its part have been run.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// A run begins.
    pub(crate) fn begin_run(&mut self) {
        self.at = 0;
    }

    /// A run has returned.
    ///
    /// # Errors
    /// It has not drawn as often as before.
    pub(crate) fn end_run(&self) -> Result<(), Error> {
        match self.at < self.steps.len() {
            true => Err(Error::NotDeterministic { draw: self.at }),
            false => Ok(()),
        }
    }

    /// How probable it is.
    pub(crate) fn weight(&self) -> &Weight {
        self.steps.last().map_or(&Weight::ONE, |step| &step.weight)
    }

    /// In a draw that is new, or has weights, or was of others before.
    #[inline(never)]
    fn choose_slowly(&mut self, draw: usize, among: Among<'_>) -> Result<usize, Error> {
        match self.steps.get(draw) {
            Some(step) if step.among.as_among() == among => Ok(self.answers[draw].chosen as usize),
            Some(_) => Err(Error::NotDeterministic { draw }),
            None if draw >= self.most => Err(Error::TooManyDraws(self.most)),
            None => Ok(self.begin(among)),
        }
    }

    /// Takes the first alternative of a draw that is new.
    fn begin(&mut self, among: Among<'_>) -> usize {
        let of = match among {
            Among::Alike(count) => count,
            Among::Weighted(_) => 0,
        };
        let among = Alternatives::new(among);
        let chosen = among
            .possible(0..among.len())
            .expect("not all are impossible");
        let before = self.weight().clone();
        self.answers.push(Answer { of, chosen });
        self.steps.push(Step {
            weight: among.weight(&before, chosen),
            among,
            before,
        });
        chosen as usize
    }

    /// Goes to the next path of its part.
    pub(crate) fn advance(&mut self) {
        while self.steps.len() > self.fixed {
            let last = self.steps.len() - 1;
            if self.move_on(last) {
                return;
            }
            self.steps.pop();
            self.answers.pop();
        }
        self.is_over = true;
    }

    /// Takes the next alternative in a step, if there is another one.
    fn move_on(&mut self, step: usize) -> bool {
        let others = self.others(step);
        self.take_one_of(step, others)
    }

    /// The alternatives of a step that follow the one that is chosen, in its part.
    fn others(&self, step: usize) -> Range<u32> {
        let all = self.steps[step].among.len();
        let until = if step == self.fixed {
            self.until.min(all)
        } else {
            all
        };
        self.answers[step].chosen + 1..until
    }

    /// Takes the first of these alternatives that can be, if one can.
    fn take_one_of(&mut self, step: usize, others: Range<u32>) -> bool {
        let (step, answer) = (&mut self.steps[step], &mut self.answers[step]);
        let Some(next) = step.among.possible(others) else {
            return false;
        };
        answer.chosen = next;
        if let Alternatives::Weighted { .. } = step.among {
            step.weight = step.among.weight(&step.before, next);
        }
        true
    }

    /// Splits its part where that gives the largest halves: in its first step that has other alternatives, of which it
    /// gives half away. `None`: there is none, or those cannot be.
    pub(crate) fn split(&mut self) -> Option<Self> {
        let mut steps = self.fixed..self.steps.len();
        let step = steps.find(|step| !self.others(*step).is_empty())?;
        let others = self.others(step);
        let middle = others.start + (others.end - others.start) / 2;
        let mut half = Self {
            steps: self.steps[..=step].to_vec(),
            answers: self.answers[..=step].to_vec(),
            fixed: step,
            until: others.end,
            ..Self::new(self.most)
        };
        (self.fixed, self.until) = (step, middle);
        half.take_one_of(step, middle..others.end).then_some(half)
    }
}
