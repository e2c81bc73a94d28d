//! What the suite measures: the benchmarks, the figures that each prints, and the goals.
//!
//! The programs are bench/green (C#, Go, Java) and bench/lambdas.cs; what a benchmark does stands in their sources. A
//! count stands for `N` in the arguments. Runtimes whose threads are those of the operating system get smaller counts,
//! and a runtime that does not manage a count the next one.

/// Names of the columns. The first three are Saki's modes.
pub const NATIVE: &str = "native";
/// Green threads on one carrier.
pub const GREEN: &str = "green";
/// Green threads on several carriers.
pub const MN: &str = "mn";
/// .NET 9.
pub const NET9: &str = "net9";
/// Go's goroutines.
pub const GO: &str = "go";
/// Java's virtual threads.
pub const JAVA: &str = "java";

/// The program that a benchmark runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// bench/green in three languages.
    Green,
    /// bench/lambdas.cs, which .NET runtimes alone can run.
    Lambdas,
}

/// What a figure is to be.
pub enum Goal {
    AtMost(&'static str, f64),
    AtLeast(&'static str, f64),
    /// (of, than): no more than the other one's, of the figure with this label.
    NoMoreThan(&'static str, &'static str, &'static str),
}

/// A number that a benchmark prints.
pub struct Figure {
    /// As the program prints it.
    pub key: &'static str,
    pub label: &'static str,
    pub unit: &'static str,
    pub goals: &'static [Goal],
}

/// One run of a program, for each runtime, and what it prints.
pub struct Benchmark {
    pub program: Program,
    pub arguments: &'static [&'static str],
    /// Counts for runtimes with threads of their own, largest first; one without meaning if the arguments have no `N`.
    pub counts: &'static [u64],
    /// The same for those whose threads are the operating system's. None: it is not run there.
    pub native_counts: &'static [u64],
    /// Processors or carriers; 0: as many as there are.
    pub processors: usize,
    pub time_limit_s: u64,
    pub figures: &'static [Figure],
}

const ONCE: &[u64] = &[1];
const MANY: &[u64] = &[100_000, 10_000, 1_000];
const MILLION: &[u64] = &[1_000_000, 300_000, 100_000, 10_000];
const NATIVE_MANY: &[u64] = &[10_000, 1_000];
/// A thread that waits takes no more than this of memory and page tables, under any runtime; a count that does not fit
/// is left out.
pub const MAX_BYTES_A_THREAD: u64 = 16 << 10;

/// Frequent form: one figure, all processors, no counts.
const fn plain(arguments: &'static [&'static str], figures: &'static [Figure]) -> Benchmark {
    Benchmark {
        program: Program::Green,
        arguments,
        counts: ONCE,
        native_counts: ONCE,
        processors: 0,
        time_limit_s: 60,
        figures,
    }
}

const fn figure(key: &'static str, label: &'static str, unit: &'static str, goals: &'static [Goal]) -> Figure {
    Figure { key, label, unit, goals }
}

/// Label of the cost of a thread.
pub const CREATE: &str = "new Thread, Start, Join";
/// Label of the cost of a switch.
pub const SWITCH: &str = "switch (Yield, two threads of one carrier)";
/// Label of the cost of handing on a token.
pub const HOP: &str = "ring of 503, monitors";
/// Label of a waiting thread's memory.
pub const RESIDENT: &str = "resident memory of a waiting thread, 100,000";
/// Label of a waiting thread's page tables.
pub const TABLES: &str = "page tables of a waiting thread, 100,000";
/// Label of how much faster two processors are.
pub const SCALING: &str = "scaling, 2 processors for 1";
/// Label of the time of computing threads on one processor.
pub const SCALE_ONE: &str = "4,000 computing threads, 1 processor";
/// Label of the time of computing threads on two processors.
pub const SCALE_TWO: &str = "4,000 computing threads, 2 processors";
/// Label of the time that blocked threads take together.
pub const BLOCKING: &str = "64 threads blocked in native code for 50 ms";
/// Label of how long a thread may be kept from running.
pub const TICKER: &str = "ticker's longest gap beside 4 hogs";
/// Label of the time of sleeping work items.
pub const SLEEPERS: &str = "10,000 work items that sleep 100 ms";
const LAMBDAS_TWO: &str = "300,000 lambdas, 2 threads, a method";

/// The figures that compare the modes, in docs/threads.md.
pub const OF_THE_MODES: [&str; 9] = [CREATE, SWITCH, HOP, RESIDENT, TABLES, SCALING, BLOCKING, SLEEPERS, TICKER];

const HOP_GOAL: &[Goal] = &[Goal::AtMost(MN, 60.0), Goal::AtMost(GREEN, 60.0)];
const LONG_RING_GOAL: &[Goal] = &[Goal::AtMost(MN, 150.0), Goal::AtMost(GREEN, 150.0)];
const MEMORY_GOAL: &[Goal] = &[Goal::AtMost(MN, 1536.0), Goal::AtMost(GREEN, 1536.0)];

/// All benchmarks, in the order in which they run.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        processors: 1,
        ..plain(&["switch"], &[figure("switch", SWITCH, "ns", &[Goal::AtMost(MN, 5.0), Goal::AtMost(GREEN, 5.0)])])
    },
    plain(&["ring", "monitor", "503", "0"], &[figure("hop", HOP, "ns", HOP_GOAL)]),
    plain(
        &["ring", "monitor", "503", "100"],
        &[figure("hop", "ring of 503, monitors, 100 frames deep", "ns", HOP_GOAL)],
    ),
    plain(&["ring", "semaphore", "503", "0"], &[figure("hop", "ring of 503, semaphores", "ns", HOP_GOAL)]),
    plain(
        &["ring", "semaphore", "503", "100"],
        &[figure("hop", "ring of 503, semaphores, 100 frames deep", "ns", HOP_GOAL)],
    ),
    Benchmark {
        counts: MANY,
        native_counts: NATIVE_MANY,
        ..plain(&["ring", "monitor", "N", "0"], &[figure("hop", "ring of 100,000, monitors", "ns", LONG_RING_GOAL)])
    },
    Benchmark {
        counts: MANY,
        native_counts: NATIVE_MANY,
        ..plain(&["ring", "semaphore", "N", "0"], &[figure("hop", "ring of 100,000, semaphores", "ns", LONG_RING_GOAL)])
    },
    Benchmark {
        counts: &[50_000_000, 5_000_000],
        native_counts: &[500_000, 50_000],
        time_limit_s: 90,
        ..plain(&["thread-ring", "503", "N"], &[figure("seconds", "thread-ring, 50,000,000 hops", "s", &[])])
    },
    plain(
        &["create"],
        &[
            figure("new", "new Thread alone", "ns", &[]),
            figure("create", CREATE, "ns", &[Goal::AtMost(MN, 1000.0), Goal::AtMost(GREEN, 1000.0)]),
        ],
    ),
    Benchmark {
        counts: MILLION,
        native_counts: NATIVE_MANY,
        time_limit_s: 180,
        ..plain(
            &["park", "N", "0", "3"],
            &[
                figure("first", "1,000,000 threads, first round, each", "µs", &[Goal::AtMost(MN, 2.0)]),
                figure("next", "1,000,000 threads, next rounds, each", "µs", &[Goal::AtMost(MN, 1.1)]),
                figure("resident", "resident memory of a waiting thread, 1,000,000", "bytes", MEMORY_GOAL),
                figure("tables", "page tables of a waiting thread, 1,000,000", "bytes", &[]),
            ],
        )
    },
    Benchmark {
        counts: MANY,
        native_counts: NATIVE_MANY,
        ..plain(
            &["park", "N", "0", "1"],
            &[figure("resident", RESIDENT, "bytes", MEMORY_GOAL), figure("tables", TABLES, "bytes", &[])],
        )
    },
    Benchmark {
        counts: MANY,
        native_counts: NATIVE_MANY,
        ..plain(
            &["park", "N", "128", "1"],
            &[
                figure("resident", "resident memory, stacks of 128 KiB, 100,000", "bytes", MEMORY_GOAL),
                figure("tables", "page tables, stacks of 128 KiB, 100,000", "bytes", &[]),
            ],
        )
    },
    Benchmark {
        counts: &[10_000],
        native_counts: NATIVE_MANY,
        ..plain(
            &["park", "N", "0", "1"],
            &[figure("resident", "resident memory of a waiting thread, 10,000", "bytes", MEMORY_GOAL)],
        )
    },
    plain(
        &["ping-pong"],
        &[figure("hand-over", "ping-pong", "ns", &[Goal::AtMost(MN, 60.0), Goal::AtMost(GREEN, 60.0)])],
    ),
    plain(
        &["lock", "8"],
        &[figure("lock", "lock that 8 threads want", "ns", &[Goal::AtMost(MN, 15.0), Goal::AtMost(GREEN, 15.0)])],
    ),
    plain(
        &["queue", "100"],
        &[figure(
            "item",
            "bounded queue of four threads, an item",
            "ns",
            &[Goal::NoMoreThan(MN, GO, ""), Goal::NoMoreThan(NATIVE, NET9, "")],
        )],
    ),
    Benchmark {
        counts: &[10_000, 1_000],
        native_counts: &[300, 50],
        ..plain(
            &["sleepers", "N"],
            &[figure("seconds", SLEEPERS, "s", &[Goal::AtMost(MN, 0.3), Goal::AtMost(GREEN, 0.3)])],
        )
    },
    Benchmark {
        time_limit_s: 20,
        ..plain(&["ticker", "4"], &[figure("gap", TICKER, "ms", &[Goal::AtMost(MN, 20.0), Goal::AtMost(GREEN, 20.0)])])
    },
    Benchmark { processors: 1, ..plain(&["scale", "4000"], &[figure("seconds", SCALE_ONE, "s", &[])]) },
    Benchmark { processors: 2, ..plain(&["scale", "4000"], &[figure("seconds", SCALE_TWO, "s", &[])]) },
    Benchmark { time_limit_s: 30, ..plain(&["blocking", "64", "50"], &[figure("milliseconds", BLOCKING, "ms", &[])]) },
    Benchmark {
        counts: MILLION,
        native_counts: &[1_000],
        time_limit_s: 180,
        ..plain(
            &["pause", "N"],
            &[
                figure("p50", "nursery pause beside 1,000,000 threads, median", "ms", &[Goal::AtMost(MN, 0.5)]),
                figure("max", "nursery pause beside 1,000,000 threads, longest", "ms", &[]),
            ],
        )
    },
    Benchmark {
        program: Program::Lambdas,
        time_limit_s: 120,
        ..plain(&["2", "300000"], &[figure("300000 methods, 2 threads", LAMBDAS_TWO, "ns", &[])])
    },
    Benchmark {
        program: Program::Lambdas,
        time_limit_s: 120,
        ..plain(
            &["8", "300000"],
            &[figure(
                "300000 methods, 8 threads",
                "300,000 lambdas, 8 threads, a method",
                "ns",
                &[Goal::NoMoreThan(MN, NATIVE, LAMBDAS_TWO)],
            )],
        )
    },
];

/// Worked out of two others.
pub const SCALING_FIGURE: Figure = figure("", SCALING, "×", &[Goal::AtLeast(MN, 1.8)]);
