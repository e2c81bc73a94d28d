//! `--stats` and `--missing`: print the costs of a run, and the features that it lacked, on stderr.

use crate::options::Options;
use saki_base::tell;
use saki_os::ExitStage;
use saki_runtime::exec::compile::{BASELINE_METHODS, GUARDED_CALLS, STATISTICS};
use saki_runtime::object::overrides::OVERRIDDEN_LATE;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What is printed at exit: the requested reports.
struct Reports {
    /// From the command's start to `Main`.
    start_up: Duration,
    statistics: bool,
    missing: bool,
    walks: bool,
    replacements: bool,
}

static REPORTS: OnceLock<Reports> = OnceLock::new();

/// Prints at the process's end, however the program ends it.
pub fn at_exit(start_up: Duration, options: &Options) {
    fn report() {
        let Some(reports) = REPORTS.get() else { return };
        if reports.statistics {
            print(reports.start_up);
        }
        if reports.missing {
            print_missing();
        }
        if reports.walks {
            print_walks();
        }
        if reports.replacements {
            print_replacements();
        }
    }
    let (statistics, missing) = (options.stats, options.missing);
    let (walks, replacements) = (options.check_walks.is_some(), options.replace_bodies.is_some());
    let reports = Reports { start_up, statistics, missing, walks, replacements };
    if (statistics || missing || walks || replacements) && REPORTS.set(reports).is_ok() {
        saki_os::at_exit(ExitStage::Statistics, report);
    }
}

fn print_walks() {
    let checked = &saki_runtime::vm::walk_check::STATISTICS;
    // Relaxed: counters.
    let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    tell!(
        "walks: {} signals, {} frames, {} dynamic, {} stale, {} hits, {} wrong",
        get(&checked.signals),
        get(&checked.frames),
        get(&checked.dynamic_frames),
        get(&checked.stale_lookups),
        get(&checked.stale_hits),
        get(&checked.wrong)
    );
}

fn print_replacements() {
    let replaced = &saki_runtime::vm::body_replacement::STATISTICS;
    // Relaxed: counters.
    let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    tell!(
        "bodies: {} made, {} taken back, {} stops, {} wrong",
        get(&replaced.made),
        get(&replaced.taken_back),
        get(&replaced.stops),
        get(&replaced.wrong)
    );
}

fn print(start_up: Duration) {
    // Relaxed: counters that are read after the program has ended.
    let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let methods = get(&STATISTICS.methods).max(1);
    let per_method = |nanoseconds: u64| nanoseconds as f64 / 1000.0 / methods as f64;
    let (import, codegen, place) =
        (get(&STATISTICS.import_nanoseconds), get(&STATISTICS.codegen_nanoseconds), get(&STATISTICS.place_nanoseconds));
    tell!("start-up            {:>10.2} ms", start_up.as_secs_f64() * 1000.0);
    tell!("methods compiled    {:>10}", get(&STATISTICS.methods));
    tell!("first tier          {:>10}", get(&BASELINE_METHODS));
    let tiers = &saki_runtime::vm::tiers::STATISTICS;
    tell!(
        "second tier         {:>10} methods, {} guards, {} overridden late, {} loops, {} continued, {} failed, {} overflows, {} waiting, {} stops, {:.2} ms",
        get(&tiers.methods),
        get(&GUARDED_CALLS),
        get(&OVERRIDDEN_LATE),
        get(&tiers.continuations),
        get(&tiers.continued),
        get(&tiers.failed),
        get(&tiers.overflows),
        get(&tiers.longest_queue),
        get(&tiers.stops),
        get(&tiers.nanoseconds) as f64 / 1e6
    );
    tell!(
        "replaced code       {:>10} bytes, and {} bytes of its tables",
        get(&tiers.replaced_code_bytes),
        get(&tiers.replaced_record_bytes)
    );
    let cache = &saki_runtime::exec::code_cache::STATISTICS;
    tell!(
        "code cache          {:>10} bodies found, {} kept, {} stale, {} too early, {:.2} ms",
        get(&cache.found),
        get(&cache.kept),
        get(&cache.stale),
        get(&cache.too_early),
        get(&cache.find_nanoseconds) as f64 / 1e6
    );
    tell!(
        "file contents       {:>10} hashed, {} remembered",
        get(&cache.contents_hashed),
        get(&cache.contents_remembered)
    );
    tell!("machine code        {:>10} bytes", get(&STATISTICS.code_bytes));
    tell!("import              {:>10.2} µs a method", per_method(import));
    tell!("code generation     {:>10.2} µs a method", per_method(codegen));
    tell!("placing             {:>10.2} µs a method", per_method(place));
    tell!("compile time        {:>10.2} ms in all", (import + codegen + place) as f64 / 1e6);
    tell!(
        "shared bodies       {:>10} compiled, {} instantiations copied",
        get(&saki_runtime::exec::compile::SHARED_BODIES),
        get(&saki_runtime::exec::compile::SHARED_COPIES)
    );
    let dynamic = saki_runtime::vm::dynamic_methods::statistics();
    tell!("dynamic methods     {:>10} made, {} freed, {} kept for ever", dynamic.made, dynamic.freed, dynamic.kept);
    tell!("collectible asm.    {:>10} ended", get(&saki_runtime::vm::collectible::ENDED));
    tell!("domains             {:>10} ended", get(&saki_runtime::vm::collectible::DOMAINS_ENDED));
    if let Some(green) = saki_sched::statistics() {
        tell!("threads             {:>10}, {} OS threads as carriers", saki_sched::mode().to_string(), green.carriers);
        tell!(
            "switches            {:>10}, {} thefts, {} yields, {} carriers taken from native code",
            green.switches,
            green.thefts,
            green.yields,
            green.taken
        );
        let (stacks, cold) = (green.stacks, green.cold);
        tell!(
            "stacks              {:>10} made, {} in use, {} bytes reserved",
            stacks.stacks,
            stacks.in_use,
            stacks.reserved_bytes
        );
        tell!(
            "stacks in place     {:>10}, {} moved to compact memory ({} bytes each), {} moved back",
            cold.hot,
            cold.moved_away,
            cold.copied_bytes / cold.moved_away.max(1),
            cold.restored
        );
    }
    tell!("heap in use         {:>10} bytes", saki_gc::heap_bytes_used());
    let heap = saki_gc::statistics();
    tell!("collections         {:>10} ({} full)", saki_gc::collections(), heap.full_collections);
    tell!("marked in place     {:>10} objects", heap.objects_marked_in_place);
    let pauses = heap.pause_histogram.iter().enumerate().map(|(bucket, count)| (2 << bucket, *count));
    let pause_at = |share| heap.pause_quantile(share).as_secs_f64() * 1e6;
    print_durations("pause", [pause_at(0.5), pause_at(0.99), heap.pause_max.as_secs_f64() * 1e6], pauses);
    let latency = saki_thread::stop_latency_histogram();
    // The recorded buckets begin at 1 ns; those below 1 µs are shown as one.
    let below_1_us: u64 = latency.counts[..10].iter().sum();
    let above = latency.counts[10..].iter().enumerate().map(|(bucket, count)| (2 << bucket, *count));
    let stop_at = |share| latency.quantile_ns(share) as f64 / 1e3;
    print_durations(
        "stop latency",
        [stop_at(0.5), stop_at(0.99), latency.max_ns as f64 / 1e3],
        std::iter::once((1, below_1_us)).chain(above),
    );
}

/// Quantiles in µs, and how many durations lay below each bound in µs and not below the one before.
fn print_durations(what: &str, quantiles_us: [f64; 3], buckets: impl Iterator<Item = (u64, u64)>) {
    for (name, value) in ["p50", "p99", "max"].iter().zip(quantiles_us) {
        tell!("{:<20}{value:>10.1} µs", format!("{what} {name}"));
    }
    let counted: Vec<String> =
        buckets.filter(|(_, count)| *count > 0).map(|(bound_us, count)| format!("<{bound_us}:{count}")).collect();
    tell!("{:<20}{}", format!("{what} in µs"), counted.join(" "));
}

fn print_missing() {
    let hits = saki_runtime::object::missing::hits();
    if hits.is_empty() {
        tell!("missing: nothing was asked for");
    }
    for (name, count) in hits {
        tell!("missing: {name} ({count} times)");
    }
}
