//! The tables of the seeds, cell by cell as they were printed.
//!
//! What is odd in them stays as it is, with a footnote.

/// A table that somebody printed.
#[derive(Debug)]
pub struct Table {
    /// What it is about.
    pub title: &'static str,
    /// Where and when it was printed, and on what it was measured.
    pub source: &'static str,
    /// The workload that runs the same today.
    pub workload: &'static str,
    /// Its headings; empty where it has none.
    pub headings: &'static [&'static str],
    /// Its rows.
    pub rows: &'static [&'static [&'static str]],
    /// What a reader should know.
    pub notes: &'static [&'static str],
}

const EIGENCLASS: &str =
    "eigenclass.org, 2008-03-24; dual-core AMD Athlon 64 X2 6000+, 32-bit mode";

/// "Comparing lightweight threads".
pub const RING: Table = Table {
    title: "Comparing lightweight threads: the thread ring, 503 threads, 10 million hops",
    source: EIGENCLASS,
    workload: "ring",
    headings: &["implementation", "memory usage", "time (s)"],
    rows: &[
        &["Haskell GHC 6.8.2", "2680KB", "1.22"],
        &["OCaml ocamlopt 1024Kword minor heap", "5178KB", "1.85"],
        &["Haskell GHC 6.8.2 -threaded, -N1", "2760KB", "1.9"],
        &["OCaml ocamlopt 256Kword minor heap", "2016KB", "2.05"],
        &["OCaml ocamlopt 64Kword minor heap", "1228KB", "3.06"],
        &["Erlang R12B-1 HiPE", "5996KB", "3.96"],
        &["Mozart/Oz", "3788KB", "4.10"],
        &["OCaml ocamlopt 32Kword minor heap", "970KB", "4.24"],
        &["Haskell GHC 6.8.2 -threaded, -N2", "3300KB", "15.27"],
        &["GCC C (POSIX threads)", "4520KB", "28.7"],
    ],
    notes: &[],
};

/// "The lightest lightweight threads, Protothreads".
pub const PROTOTHREADS: Table = Table {
    title: "The lightest lightweight threads, Protothreads",
    source: "eigenclass.org, 2008-04-01; the same machine",
    workload: "ring",
    headings: &[],
    rows: &[
        &[
            "GCC C (Protothreads, optimum scheduling)",
            "220KB",
            "0.076s",
        ],
        &[
            "GCC C (Protothreads, pessimum scheduling)",
            "220KB",
            "18.6s",
        ],
    ],
    notes: &[
        "\"nearly 400 times faster\" than POSIX threads: 28.7 s over 0.076 s are 378.",
        "\"250 slower\" in the pessimum order: 18.6 s over 0.076 s are 245.",
    ],
};

/// What `Gc.print_stat` said.
pub const OCAML_GC: Table = Table {
    title: "GC overhead: OCaml",
    source: EIGENCLASS,
    workload: "ring",
    headings: &["", "OCaml 1024Kword stack", "OCaml 32Kword stack"],
    rows: &[
        &["minor_words", "369560098", "369589896"],
        &["promoted_words", "4075042", "130355359"],
        &["major_words", "4075554", "130355871"],
        &["minor_collections", "352", "11278"],
        &["major_collections", "176", "5639"],
        &["[...]", "[...]", "[...]"],
    ],
    notes: &["\"stack\" is what the seed prints; these are minor heaps."],
};

/// What GHC's `-sstderr` said.
pub const GHC_GC: Table = Table {
    title: "GC overhead: GHC",
    source: EIGENCLASS,
    workload: "ring",
    headings: &[],
    rows: &[
        &["80,753,700", "bytes allocated in the heap"],
        &["1,984,712", "bytes copied during GC (scavenged)"],
        &["5,120", "bytes copied during GC (not scavenged)"],
        &["634,880", "bytes maximum residency (1 sample(s))"],
        &["154", "collections in generation 0 ( 0.00s)"],
        &["1", "collections in generation 1 ( 0.00s)"],
        &["[...]"],
        &["", "%GC time 0.3% (1.2% elapsed)"],
        &["[...]"],
    ],
    notes: &[
        "The seed asks whether anybody knows how to obtain GC statistics for Erlang: see below.",
    ],
};

/// How much code a primitive takes.
pub const LINES: Table = Table {
    title: "Lines of code",
    source: "eigenclass.org, 2008-03-24",
    workload: "ring",
    headings: &["what", "lines"],
    rows: &[
        &["take of an MVar in OCaml, on Lwt", "3 to 4"],
        &["takeMVar in GHC 6.8.2 (rts/PrimOps.cmm), C--", "around 180"],
        &["all of PrimOps.cmm", "around 2200"],
        &[
            "full put instead of the relaxed one, in OCaml",
            "6 more, 10 % slower",
        ],
    ],
    notes: &[],
};

const RUST_2012: &str = "Eric Holk's notes on the pipes that Rust had in 2012";

/// Many senders, one receiver.
pub const MSGSEND: Table = Table {
    title: "msgsend: many senders, one receiver",
    source: RUST_2012,
    workload: "msgsend",
    headings: &["Language", "Messages per second", "Comparison"],
    rows: &[
        &["Rust port_set", "881,578", "232.8%"],
        &["Scala", "378,740", "100.0%"],
        &["Rust port/chan (updated)", "227,020", "59.9%"],
        &["Rust shared_chan", "173,436", "45.8%"],
        &["Erlang (Bare)", "78,670", "20.8%"],
        &["Erlang (OTP)", "76,405", "20.2%"],
    ],
    notes: &[],
};

/// The three lines.
pub const MESSAGE_RING: Table = Table {
    title: "The message ring on pipes",
    source: RUST_2012,
    workload: "message-ring",
    headings: &[],
    rows: &[
        &["Sent 1000000 messages in 0.227634 seconds"],
        &["  4.39301e+06 messages / second"],
        &["  0.227634 µs / message"],
    ],
    notes: &["port/chan before that: about 250,000 messages per second, 3.9 µs each."],
};

const IMPROVEMENT: &[&str] = &[
    "Benchmark",
    "Port/chan time (s)",
    "Pipe time (s)",
    "Improvement (%)",
];

/// A whole program by ports and channels, and by pipes.
pub const PBFS: Table = Table {
    title: "Graph500 parallel breadth-first search",
    source: RUST_2012,
    workload: "bfs",
    headings: IMPROVEMENT,
    rows: &[&["Graph500 PBFS", "0.914772", "0.777784", "17.6%"]],
    notes: &[],
};

/// The other one.
pub const K_NUCLEOTIDE: Table = Table {
    title: "k-nucleotide",
    source: RUST_2012,
    workload: "k-nucleotide",
    headings: IMPROVEMENT,
    rows: &[&["Shootout K-Nucleotide", "4.335", "3.125", "38.7%"]],
    notes: &[],
};

/// The tables whose workloads there are not yet.
pub const LATER: [Table; 3] = [
    Table {
        title: "Concurrency, parallelism, distribution",
        source: "eigenclass.org, 2008-03-24, in the comments",
        workload: "",
        headings: &[
            "language",
            "(lightweight) concurrency",
            "parallelism",
            "distributed programming",
        ],
        rows: &[
            &["Haskell", "Control.Concurrent abstractions", "X?", ""],
            &["OCaml", "Lwt/Thread", "JoCaml", ""],
        ],
        notes: &[],
    },
    Table {
        title: "Benben: 61 songs rendered to WAV, geometric means of three runs",
        source: "nanako.mooo.com, 2023-11-01; Crystal 1.10.1, Core i9-10850K (10 cores, 20 threads)",
        workload: "render",
        headings: &["configuration", "Time", "Samples per Sec", "Memory Used"],
        rows: &[
            &[
                "preview_mt, CRYSTAL_WORKERS=20, --jobs 20, WITHOUT Fiber.yield added",
                "00:00:23:88967938",
                "6,806,318",
                "112.62 MiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=20, --jobs 4, WITHOUT Fiber.yield added",
                "00:00:49:561379837",
                "3,157,491",
                "82.06 MiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=20, --jobs 1, WITHOUT Fiber.yield added",
                "00:01:25:153285603",
                "1,829,959",
                "53.44 MiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=20, --jobs 20, Fiber.yield added",
                "00:00:21:316036046",
                "7,445,727",
                "152.65 MiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=4, --jobs 20, Fiber.yield added",
                "00:00:49:71518083",
                "3,186,044",
                "113.33 MiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=4, --jobs 4, Fiber.yield added",
                "00:01:03:478200751",
                "2,462,458",
                "73.96 MiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=4, --jobs 1, Fiber.yield added",
                "00:01:28:427111020",
                "1,766,431",
                "58.58 MiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=1, --jobs 20, Fiber.yield added",
                "00:02:31:215964094",
                "1,030,649",
                "13.94 GiB",
            ],
            &[
                "preview_mt, CRYSTAL_WORKERS=1, --jobs 1, Fiber.yield added",
                "00:02:26:233878863",
                "1,066,631",
                "1.20 GiB",
            ],
            &[
                "--jobs 20, Fiber.yield added",
                "00:02:25:331626453",
                "1,072,926",
                "112.62 MiB",
            ],
            &[
                "--jobs 4, Fiber.yield added",
                "00:02:24:504344037",
                "1,078,986",
                "82.06 MiB",
            ],
            &[
                "--jobs 1, Fiber.yield added",
                "00:02:24:695090870",
                "1,077,629",
                "53.44 MiB",
            ],
        ],
        notes: &[
            "The last field of a time is nanoseconds without leading zeros: 00:00:23:88967938 is 23.089 s, 00:00:49:71518083 is 49.072 s.",
            "The three memory figures without preview_mt repeat the first three rows, probably a slip; no claim of ours rests on them.",
        ],
    },
    Table {
        title: "Three dice: what they can show, and how probable that is",
        source: "eigenclass.org, 2008-03-11",
        workload: "3d6",
        headings: &["outcome", "probability"],
        rows: &[
            &["3", "0.00462962962962963"],
            &["4", "0.0138888888888889"],
            &["5", "0.0277777777777778"],
            &["6", "0.0462962962962963"],
            &["7", "0.0694444444444444"],
            &["8", "0.0972222222222222"],
            &["9", "0.115740740740741"],
            &["10", "0.125"],
            &["11", "0.125"],
            &["12", "0.115740740740741"],
            &["13", "0.0972222222222222"],
            &["14", "0.0694444444444444"],
            &["15", "0.0462962962962963"],
            &["16", "0.0277777777777778"],
            &["17", "0.0138888888888889"],
            &["18", "0.00462962962962963"],
        ],
        notes: &[],
    },
];

impl Table {
    /// The table as text, columns under each other.
    #[must_use]
    pub fn render(&self) -> String {
        let headings = (!self.headings.is_empty()).then_some(self.headings);
        let lines: Vec<Vec<String>> = headings
            .into_iter()
            .chain(self.rows.iter().copied())
            .map(|cells| cells.iter().map(|cell| (*cell).to_owned()).collect())
            .collect();
        let mut text = format!("{}\n({})\n\n{}", self.title, self.source, columns(&lines));
        for note in self.notes {
            text = text + "* " + note + "\n";
        }
        text
    }
}

/// Cells under each other: columns of figures to the right, others to the left.
#[must_use]
pub fn columns(lines: &[Vec<String>]) -> String {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let is_figure =
        |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '~');
    let figures: Vec<bool> = (0..count)
        .map(|column| {
            lines
                .iter()
                .skip(1)
                .filter_map(|line| line.get(column))
                .any(is_figure)
        })
        .collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (index, cell) in line.iter().enumerate() {
            let width = widths[index];
            if index > 0 {
                row += "  ";
            }
            row += &match figures[index] {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            };
        }
        text = text + row.trim_end() + "\n";
    }
    text
}

#[cfg(test)]
mod tests;
