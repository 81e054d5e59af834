//! The figures of the seeds, as printed: what others measured between 2008 and 2023.
//!
//! They are shown beside today's figures, never mixed into a ratio with them.

/// A row of a table that somebody printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Past {
    /// The workload that runs the same today.
    pub workload: &'static str,
    /// What the row was called.
    pub implementation: &'static str,
    /// The contender that comes closest today; empty if it cannot be had any more.
    pub contender: &'static str,
    /// Memory in KB, as printed.
    pub memory_kb: Option<u32>,
    /// Seconds, as printed.
    pub seconds: &'static str,
    /// How many operations they were for.
    pub ops: u64,
}

impl Past {
    /// The seconds as a number.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds.parse().unwrap_or(f64::NAN)
    }
}

/// On what the thread ring was measured in 2008, and by whom.
pub const RING_SOURCE: &str =
    "eigenclass.org, March and April 2008: dual-core AMD Athlon 64 X2 6000+, 32-bit";

const HOPS: u64 = 10_000_000;

/// A row of the thread ring of 2008.
const fn ring(
    implementation: &'static str,
    contender: &'static str,
    memory_kb: u32,
    seconds: &'static str,
) -> Past {
    Past {
        workload: "ring",
        implementation,
        contender,
        memory_kb: Some(memory_kb),
        seconds,
        ops: HOPS,
    }
}

/// "Comparing lightweight threads", in its order.
pub const RING: [Past; 10] = [
    ring("Haskell GHC 6.8.2", "ghc", 2680, "1.22"),
    ring(
        "OCaml ocamlopt 1024Kword minor heap",
        "lwt-1m",
        5178,
        "1.85",
    ),
    ring(
        "Haskell GHC 6.8.2 -threaded, -N1",
        "ghc-threaded-n1",
        2760,
        "1.9",
    ),
    ring(
        "OCaml ocamlopt 256Kword minor heap",
        "lwt-256k",
        2016,
        "2.05",
    ),
    ring("OCaml ocamlopt 64Kword minor heap", "lwt-64k", 1228, "3.06"),
    ring("Erlang R12B-1 HiPE", "erlang", 5996, "3.96"),
    ring("Mozart/Oz", "", 3788, "4.10"),
    ring("OCaml ocamlopt 32Kword minor heap", "lwt-32k", 970, "4.24"),
    ring(
        "Haskell GHC 6.8.2 -threaded, -N2",
        "ghc-threaded-n2",
        3300,
        "15.27",
    ),
    ring("GCC C (POSIX threads)", "pthreads", 4520, "28.7"),
];

/// "The lightest lightweight threads, Protothreads": its two rows.
pub const PROTOTHREADS: [Past; 2] = [
    ring(
        "GCC C (Protothreads, optimum scheduling)",
        "protothreads/optimum",
        220,
        "0.076",
    ),
    ring(
        "GCC C (Protothreads, pessimum scheduling)",
        "protothreads/pessimum",
        220,
        "18.6",
    ),
];

/// What was printed about this workload.
#[must_use]
pub fn of(workload: &str) -> Vec<Past> {
    let all = RING.iter().chain(&PROTOTHREADS);
    all.filter(|past| past.workload == workload)
        .copied()
        .collect()
}
