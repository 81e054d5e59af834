//! An interpreter of one's own: it prints the tree of what an experiment may draw, with the probability of each outcome.
//!
//! `cargo run -p gossamer-rt --features experiment --example choice_tree`

use gossamer::experiment::{Among, Choices, Error, Interpreter, Probability, attempt};

/// A coin, and for tails a die with four sides.
fn experiment(c: &mut Choices) -> String {
    match *c.pick(&["heads", "tails"]) {
        "tails" => format!("tails, then a {}", c.die(4)),
        heads => heads.to_owned(),
    }
}

/// Takes the alternatives of `path`, and then the first one of each further draw. (Here all are possible; among weights one
/// would ask `Among::is_possible`.)
struct Follow {
    path: Vec<usize>,
    /// How many alternatives each draw had, and how probable the path is.
    counts: Vec<usize>,
    probability: Probability,
}

impl Interpreter for Follow {
    fn choose(&mut self, among: Among<'_>) -> Result<usize, Error> {
        let draw = self.counts.len();
        if draw == self.path.len() {
            self.path.push(0);
        }
        self.counts.push(among.len());
        self.probability = self.probability.clone() * among.probability(self.path[draw]);
        Ok(self.path[draw])
    }
}

fn main() -> Result<(), Error> {
    let mut path = Vec::new();
    loop {
        let known = path.len();
        let mut follow = Follow {
            path,
            counts: Vec::new(),
            probability: Probability::ONE,
        };
        let outcome = attempt(&mut follow, experiment)?;
        let Follow {
            path: taken,
            counts,
            probability,
        } = follow;
        for draw in known.saturating_sub(1)..taken.len() {
            let indent = "    ".repeat(draw);
            println!("{indent}{} of {}", taken[draw] + 1, counts[draw]);
        }
        let indent = "    ".repeat(taken.len());
        println!("{indent}{outcome}: {probability}");

        // The next path: the last draw that has another alternative takes it.
        path = taken;
        loop {
            let Some(last) = path.pop() else {
                return Ok(());
            };
            if last + 1 < counts[path.len()] {
                path.push(last + 1);
                break;
            }
        }
    }
}
