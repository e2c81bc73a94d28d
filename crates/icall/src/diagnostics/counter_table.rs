//! Performance counters: the built-in categories with the sources of their values, and the categories that the
//! program makes.
//!
//! Built-in are only counters whose value is known here or counted by managed code; categories that a program makes
//! live as long as the process and are not shared with other processes. Left out: counters that Mono lists and Saki
//! does not measure (.NET CLR JIT, Loading, Remoting, Interop, Security, the thread pool's I/O).

use crate::process::information;
use saki_base::locks::{Mutex, rank};
use saki_runtime::vm::thread_pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// `PerformanceCounterType`.
pub const NUMBER_OF_ITEMS_32: i32 = 65_536;
const NUMBER_OF_ITEMS_64: i32 = 65_792;
const RATE_PER_SECOND_32: i32 = 272_696_320;
const RATE_PER_SECOND_64: i32 = 272_696_576;
const TIMER_100_NS: i32 = 542_180_608;
const TIMER_100_NS_INVERSE: i32 = 558_957_824;

/// Kinds of `Process.GetProcessData`.
const USER_TIME: i32 = 1;
const SYSTEM_TIME: i32 = 2;
const TOTAL_TIME: i32 = 3;

/// The source that a counter's value is read from.
#[derive(Clone)]
pub enum Source {
    /// Kept here and written by the program. Relaxed: increments are atomic, and the number publishes nothing else.
    Cell(Arc<AtomicI64>),
    /// A kind of `Process.GetProcessData`, for the process with this number.
    Process {
        kind: i32,
        pid: i32,
    },
    /// Columns of /proc/stat for one processor, or for all of them (None), added up.
    Processor {
        columns: &'static [usize],
        number: Option<u32>,
    },
    /// A key of /proc/meminfo.
    Memory(&'static str),
    Collections(u32),
    HeapBytes,
    /// Work items that the thread pool was given.
    PoolItems,
    PoolThreads,
    /// Columns of /proc/net/dev for an interface, added up.
    Network {
        columns: &'static [usize],
        interface: String,
    },
}

/// Which instances a built-in category has.
#[derive(Clone, Copy, PartialEq)]
enum Instances {
    /// One unnamed instance.
    One,
    Processes,
    Processors,
    Interfaces,
}

/// A performance counter of one instance.
#[derive(Clone)]
pub struct Counter {
    pub name: String,
    pub kind: i32,
    source: Source,
}

/// A category of counters, with its instances.
pub struct Category {
    pub name: String,
    pub help: String,
    pub counters: Vec<Counter>,
    /// None: made by the program.
    built_in: Option<Instances>,
    /// For a category that the program made: the instances with counters.
    instances: Vec<(String, Vec<Arc<AtomicI64>>)>,
}

static CATEGORIES: Mutex<rank::CounterCategories, Vec<Category>> = Mutex::new(Vec::new());

/// Runs `action` on the categories. It must not allocate managed objects: the lock is held.
pub fn with_categories<R>(action: impl FnOnce(&mut Vec<Category>) -> R) -> R {
    let mut categories = CATEGORIES.lock();
    if categories.is_empty() {
        categories.extend(built_in());
    }
    action(&mut categories)
}

fn built_in() -> Vec<Category> {
    let counter = |name: &str, kind, source| Counter { name: name.to_owned(), kind, source };
    let process = |name, type_, kind| counter(name, type_, Source::Process { kind, pid: 0 });
    let processor = |name, type_, columns| counter(name, type_, Source::Processor { columns, number: None });
    let network =
        |name, columns| counter(name, RATE_PER_SECOND_64, Source::Network { columns, interface: String::new() });
    let cell = |name, kind| counter(name, kind, Source::Cell(Arc::default()));
    let category = |name: &str, instances, counters| Category {
        name: name.to_owned(),
        help: String::new(),
        counters,
        built_in: Some(instances),
        instances: Vec::new(),
    };
    vec![
        category(
            "Processor",
            Instances::Processors,
            vec![
                processor("% User Time", TIMER_100_NS, &[0, 1]),
                processor("% Privileged Time", TIMER_100_NS, &[2]),
                processor("% Interrupt Time", TIMER_100_NS, &[5]),
                processor("% DCP Time", TIMER_100_NS, &[6]),
                processor("% Processor Time", TIMER_100_NS_INVERSE, &[3]),
            ],
        ),
        category(
            "Process",
            Instances::Processes,
            vec![
                process("% User Time", TIMER_100_NS, USER_TIME),
                process("% Privileged Time", TIMER_100_NS, SYSTEM_TIME),
                process("% Processor Time", TIMER_100_NS, TOTAL_TIME),
                process("Thread Count", NUMBER_OF_ITEMS_64, 0),
                process("Virtual Bytes", NUMBER_OF_ITEMS_64, 7),
                process("Working Set", NUMBER_OF_ITEMS_64, 4),
                process("Private Bytes", NUMBER_OF_ITEMS_64, 6),
            ],
        ),
        category(
            "Mono Memory",
            Instances::One,
            vec![
                counter("Total Physical Memory", NUMBER_OF_ITEMS_64, Source::Memory("MemTotal")),
                counter("Available Physical Memory", NUMBER_OF_ITEMS_64, Source::Memory("MemAvailable")),
            ],
        ),
        category(
            "ASP.NET",
            Instances::One,
            vec![
                cell("Requests Queued", NUMBER_OF_ITEMS_64),
                cell("Requests Total", NUMBER_OF_ITEMS_32),
                cell("Requests/Sec", RATE_PER_SECOND_32),
            ],
        ),
        category(
            ".NET CLR Memory",
            Instances::One,
            vec![
                counter("# Gen 0 Collections", NUMBER_OF_ITEMS_32, Source::Collections(0)),
                counter("# Gen 1 Collections", NUMBER_OF_ITEMS_32, Source::Collections(1)),
                counter("# Bytes in all Heaps", NUMBER_OF_ITEMS_64, Source::HeapBytes),
            ],
        ),
        category(
            "Mono Threadpool",
            Instances::One,
            vec![
                counter("Work Items Added", NUMBER_OF_ITEMS_64, Source::PoolItems),
                counter("Work Items Added/Sec", RATE_PER_SECOND_32, Source::PoolItems),
                counter("# of Threads", NUMBER_OF_ITEMS_32, Source::PoolThreads),
            ],
        ),
        category(
            "Network Interface",
            Instances::Interfaces,
            vec![
                network("Bytes Received/sec", &[0]),
                network("Bytes Sent/sec", &[8]),
                network("Bytes Total/sec", &[0, 8]),
            ],
        ),
    ]
}

impl Category {
    /// A category that the program creates; its counters begin at 0.
    pub fn made_by_program(name: String, help: String, counters: Vec<(String, i32)>) -> Category {
        let counters =
            counters.into_iter().map(|(name, kind)| Counter { name, kind, source: Source::Cell(Arc::default()) });
        Category { name, help, counters: counters.collect(), built_in: None, instances: Vec::new() }
    }

    /// Whether the machine fills in the values.
    pub fn is_built_in(&self) -> bool {
        self.built_in.is_some()
    }

    /// A counter for an instance, which is made if the category is the program's. None: no such counter or instance.
    pub fn counter_of(&mut self, counter: &str, instance: &str) -> Option<Counter> {
        let index = self.counters.iter().position(|c| c.name == counter)?;
        let mut found = self.counters[index].clone();
        match &mut found.source {
            Source::Process { pid, .. } => {
                *pid = if instance.is_empty() { std::process::id() as i32 } else { instance.parse().ok()? };
            }
            Source::Processor { number, .. } => {
                *number = if instance.is_empty() || instance == "_Total" { None } else { Some(instance.parse().ok()?) };
            }
            Source::Network { interface, .. } => instance.clone_into(interface),
            Source::Cell(cell) if self.built_in.is_none() => {
                let known = self.instances.iter().position(|(name, _)| name == instance).unwrap_or_else(|| {
                    let cells = self.counters.iter().map(|_| Arc::default()).collect();
                    self.instances.push((instance.to_owned(), cells));
                    self.instances.len() - 1
                });
                *cell = Arc::clone(&self.instances[known].1[index]);
            }
            _ => {}
        }
        Some(found)
    }

    /// Names of the present instances. Reads /proc, which takes long for a function that is called under the lock.
    pub fn instance_names(&self) -> Vec<String> {
        match self.built_in {
            None => self.instances.iter().map(|(name, _)| name.clone()).collect(),
            Some(Instances::One) => Vec::new(),
            Some(Instances::Processes) => std::fs::read_dir("/proc")
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
                .map(|pid| pid.to_string())
                .collect(),
            Some(Instances::Processors) => {
                let count = std::thread::available_parallelism().map_or(1, usize::from);
                std::iter::once("_Total".to_owned()).chain((0..count).map(|number| number.to_string())).collect()
            }
            Some(Instances::Interfaces) => {
                let text = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
                text.lines().skip(2).filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
            }
        }
    }
}

impl Counter {
    /// The value now; 0 for a process or interface that is gone.
    pub fn value(&self) -> i64 {
        // Relaxed: the number publishes nothing else.
        match &self.source {
            Source::Cell(cell) => cell.load(Ordering::Relaxed),
            Source::Process { kind, pid } => information::data(*pid, *kind).unwrap_or(0),
            Source::Processor { columns, number } => processor_time(columns, *number),
            Source::Memory(key) => memory_bytes(key),
            Source::Collections(generation) => saki_gc::collection_count(*generation) as i64,
            Source::HeapBytes => saki_gc::heap_bytes_used() as i64,
            Source::PoolItems => thread_pool::queued_count() as i64,
            Source::PoolThreads => thread_pool::worker_count() as i64,
            Source::Network { columns, interface } => network_bytes(columns, interface),
        }
    }

    /// Adds to the value, or sets it, and returns the new one. Counters that the program does not write stay as they
    /// are: 0.
    pub fn update(&self, add: bool, value: i64) -> i64 {
        // Relaxed, here and below: the number publishes nothing else.
        match &self.source {
            Source::Cell(cell) if add => cell.fetch_add(value, Ordering::Relaxed).wrapping_add(value),
            Source::Cell(cell) => {
                cell.store(value, Ordering::Relaxed);
                value
            }
            _ => 0,
        }
    }
}

/// The time of one processor, or the mean of all processors, in units of 100 ns.
fn processor_time(columns: &[usize], number: Option<u32>) -> i64 {
    let key = number.map_or("cpu".to_owned(), |number| format!("cpu{number}"));
    let text = saki_thread::blocking(|| std::fs::read_to_string("/proc/stat")).unwrap_or_default();
    let Some(fields) = text.lines().find_map(|line| line.strip_prefix(&key)?.strip_prefix(' ')) else { return 0 };
    let fields: Vec<i64> = fields.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    let ticks: i64 = columns.iter().filter_map(|&column| fields.get(column)).sum();
    let share = if number.is_some() { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) as i64 };
    information::ticks_to_100_ns(ticks) / share
}

fn memory_bytes(key: &str) -> i64 {
    let text = saki_thread::blocking(|| std::fs::read_to_string("/proc/meminfo")).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')?.split_whitespace().next());
    value.and_then(|kib| kib.parse::<i64>().ok()).map_or(0, |kib| kib * 1024)
}

fn network_bytes(columns: &[usize], interface: &str) -> i64 {
    let text = saki_thread::blocking(|| std::fs::read_to_string("/proc/net/dev")).unwrap_or_default();
    let of_interface = |line: &str| {
        let (name, fields) = line.split_once(':')?;
        (interface.is_empty() || name.trim() == interface).then(|| {
            let fields: Vec<i64> = fields.split_whitespace().filter_map(|field| field.parse().ok()).collect();
            columns.iter().filter_map(|&column| fields.get(column)).sum::<i64>()
        })
    };
    text.lines().skip(2).filter_map(of_interface).sum()
}

#[cfg(test)]
mod tests {
    use super::{Category, NUMBER_OF_ITEMS_32, with_categories};

    #[test]
    fn instances_of_a_programs_category_count_apart() {
        let counters = vec![("n".to_owned(), NUMBER_OF_ITEMS_32)];
        let mut category = Category::made_by_program("c".to_owned(), String::new(), counters);
        let (a, b) = (category.counter_of("n", "a").unwrap(), category.counter_of("n", "b").unwrap());
        assert_eq!((a.update(true, 2), a.update(true, 3), b.value()), (2, 5, 0));
        assert_eq!(category.counter_of("n", "a").unwrap().value(), 5);
        assert!(category.counter_of("other", "a").is_none());
        assert_eq!(category.instance_names(), ["a", "b"]);
    }

    #[test]
    fn memory_is_known() {
        let total = with_categories(|categories| {
            let memory = categories.iter_mut().find(|c| c.name == "Mono Memory").unwrap();
            memory.counter_of("Total Physical Memory", "").unwrap()
        });
        assert!(total.value() > 1 << 20);
    }
}
