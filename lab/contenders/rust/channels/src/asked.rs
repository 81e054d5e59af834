//! What a workload asks for, from the command line.

/// The bytes that a request of `msgsend` is about.
const REQUEST: u64 = 100;

/// Who sends how much to whom; what a workload has no option for is as it is for one.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// How many messages all senders send together; or how many round trips there are.
    pub messages: u64,
    /// How many there are; in a ring each receives, too.
    pub senders: u64,
    /// How many there are.
    pub receivers: u64,
    /// How many messages the channel holds; `None` if there is no end of it.
    pub capacity: Option<usize>,
    /// Whether the receiver takes as many as there are at once.
    pub many: bool,
    /// The same message all the time, and it comes every so many steps of a calculation; or the numbers, at once.
    pub requests: Option<u64>,
}

impl Asked {
    /// Its options: the workload itself, and the number of an option or the usual one.
    ///
    /// # Errors
    /// There is no such workload, or what `number` says.
    pub fn of(
        workload: &str,
        number: impl Fn(&str, u64) -> Result<u64, String>,
        receive: &str,
    ) -> Result<Asked, String> {
        let many = match receive {
            "one" => false,
            "many" => true,
            other => return Err(format!("--receive {other}: expected one, many")),
        };
        let mut asked = Asked {
            messages: number(size(workload), 1_000)?,
            senders: 1,
            receivers: 1,
            capacity: Some(1),
            many,
            requests: None,
        };
        let count = |number: u64| usize::try_from(number).map_err(|error| error.to_string());
        let capacity = || number("--capacity", 1_024).and_then(count).map(Some);
        match workload {
            "spsc" => asked.capacity = capacity()?,
            "rendezvous" => asked.capacity = Some(0),
            "pipe" => {}
            "mpsc" => {
                (asked.senders, asked.capacity) = (number("--senders", 1)?, capacity()?);
            }
            "mpmc" => {
                (asked.senders, asked.capacity) = (number("--senders", 4)?, capacity()?);
                asked.receivers = number("--receivers", 4)?;
            }
            "message-ring" => asked.senders = number("--tasks", 100)?,
            "msgsend" => {
                (asked.senders, asked.capacity) = (number("--senders", 4)?, None);
                asked.requests = Some(number("--interval", 1)?);
            }
            other => return Err(format!("unknown workload '{other}'")),
        }
        Ok(asked)
    }

    /// The options of a workload, `--kind` first.
    pub fn options(workload: &str) -> &'static [&'static str] {
        match workload {
            "spsc" => &["--kind", "--messages", "--capacity"],
            "mpsc" => &[
                "--kind",
                "--messages",
                "--senders",
                "--capacity",
                "--receive",
            ],
            "mpmc" => &[
                "--kind",
                "--messages",
                "--senders",
                "--receivers",
                "--capacity",
            ],
            "message-ring" => &["--kind", "--messages", "--tasks"],
            "msgsend" => &["--kind", "--requests", "--senders", "--interval"],
            "pipe" => &["--kind", "--trips"],
            _ => &["--kind", "--messages"],
        }
    }

    /// What a sender sends, counted from 0.
    #[must_use]
    pub fn of_sender(&self, sender: u64) -> Messages {
        let (next, step) = match self.requests {
            // Together the senders send each number below that of the messages once.
            None => (sender, self.senders),
            Some(_) => (REQUEST, 0),
        };
        Messages {
            left: waiting::part(self.messages, self.senders, sender),
            next,
            step,
            pause: self.requests.map_or(0, |interval| interval - 1),
            state: sender + 1,
        }
    }

    /// How many messages a member of a ring sends, and how many it receives.
    pub fn of_member(&self, member: u64) -> [u64; 2] {
        let before = (member + self.senders - 1) % self.senders;
        [member, before].map(|index| waiting::part(self.messages, self.senders, index))
    }
}

fn size(workload: &str) -> &'static str {
    match workload {
        "msgsend" => "--requests",
        "pipe" => "--trips",
        _ => "--messages",
    }
}

/// What a sender sends.
#[derive(Debug)]
pub struct Messages {
    left: u64,
    next: u64,
    step: u64,
    /// How many steps of the generator there are before each message.
    pause: u64,
    state: u64,
}

impl Iterator for Messages {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        if self.pause > 0 {
            self.calculate();
        }
        let message = self.next;
        self.next += self.step;
        Some(message)
    }
}

impl Messages {
    #[inline(never)]
    fn calculate(&mut self) {
        let mut state = self.state;
        for _ in 0..self.pause {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        self.state = std::hint::black_box(state);
    }
}
