//! MONO_GC_PARAMS and MONO_GC_DEBUG, or `--gc-params=` and `--gc-debug=`: the settings that Saki's collector supports.
//!
//! As under Mono, an invalid value gives a warning and the default. Left out: settings that tune parts of Mono's
//! collector which Saki's lacks (`ACCEPTED`); they have no effect.

use crate::options::Options;
use crate::quantities::parse_size;

/// Parameters of Mono's collector that mean nothing to Saki's.
pub const ACCEPTED: [&str; 23] = [
    "soft-heap-limit=",
    "mode=",
    "major=",
    "minor=",
    "wbarrier=",
    "evacuation-threshold=",
    "stack-mark=",
    "save-target-ratio=",
    "default-allowance-ratio=",
    "alloc-ratio=",
    "promotion-age=",
    "bridge-implementation=",
    "toggleref-test",
    "cementing",
    "no-cementing",
    "dynamic-nursery",
    "no-dynamic-nursery",
    "lazy-sweep",
    "no-lazy-sweep",
    "concurrent-sweep",
    "no-concurrent-sweep",
    "allow-synchronous-major",
    "no-allow-synchronous-major",
];

/// A nursery's size unless one is asked for; the smallest heap is four times the nursery.
const DEFAULT_NURSERY_BYTES: usize = 4 << 20;
const MIN_HEAP_NURSERIES: usize = 4;
/// The smallest nursery that Mono takes.
const MIN_NURSERY_BYTES: usize = 512;

/// Sets heap and nursery by the option's list and the variable's, which follows it; `saki --max-heap` and `--nursery`
/// count more.
pub fn apply(options: &mut Options, option: &str, variable: &str) {
    let (mut heap, mut nursery) = (None, None);
    for item in option.split(',').chain(variable.split(',')).filter(|item| !item.is_empty()) {
        let outcome = if let Some(value) = item.strip_prefix("max-heap-size=") {
            parse_size(value)
                .map(|bytes| heap = Some(bytes))
                .map_err(|_| "`max-heap-size` must be an integer.".to_owned())
        } else if let Some(value) = item.strip_prefix("nursery-size=") {
            nursery_size(value).map(|bytes| nursery = Some(bytes))
        } else if ACCEPTED.iter().any(|name| if name.ends_with('=') { item.starts_with(name) } else { item == *name }) {
            Ok(())
        } else {
            Err(format!("Unknown option `{item}`. - Ignoring."))
        };
        if let Err(text) = outcome {
            warn(&text);
        }
    }
    let nursery = options.nursery.or(nursery);
    let min_heap = nursery.unwrap_or(DEFAULT_NURSERY_BYTES).saturating_mul(MIN_HEAP_NURSERIES);
    if options.max_heap.is_none()
        && let Some(bytes) = heap
    {
        if bytes < min_heap {
            warn("`max-heap-size` must be at least 4 times as large as `nursery size`. - Setting to minimum.");
        }
        options.max_heap = Some(bytes.max(min_heap));
    }
    // Mono takes smaller ones than Saki has.
    options.nursery = nursery.map(|bytes| bytes.max(saki_gc::MIN_NURSERY_BYTES));
}

fn warn(text: &str) {
    saki_base::tell!("Warning: In environment variable `MONO_GC_PARAMS': {text}");
}

fn nursery_size(value: &str) -> Result<usize, String> {
    match parse_size(value) {
        Err(_) => Err("`nursery-size` must be an integer. - Using default value.".to_owned()),
        Ok(bytes) if !bytes.is_power_of_two() => {
            Err("`nursery-size` must be a power of two. - Using default value.".to_owned())
        }
        Ok(bytes) if bytes < MIN_NURSERY_BYTES => {
            Err(format!("`nursery-size` must be at least {MIN_NURSERY_BYTES} bytes. - Using default value."))
        }
        Ok(bytes) => Ok(bytes),
    }
}

/// `collect-before-allocs[=N]` collects before every N-th allocation; the other checks are of Mono's own collector.
pub fn apply_debug(options: &mut Options, list: &str) {
    for item in list.split(',') {
        if let Some(rest) = item.strip_prefix("collect-before-allocs") {
            let every_nth = rest.strip_prefix('=').and_then(|number| number.parse().ok()).unwrap_or(1);
            options.gc_stress = options.gc_stress.or(Some(every_nth));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(option: &str, variable: &str) -> (Option<usize>, Option<usize>) {
        let mut options = Options::default();
        apply(&mut options, option, variable);
        (options.max_heap, options.nursery)
    }

    #[test]
    fn sizes_are_taken_and_the_last_one_wins() {
        assert_eq!(sizes("nursery-size=64m,max-heap-size=1g", ""), (Some(1 << 30), Some(64 << 20)));
        assert_eq!(sizes("max-heap-size=1g,", "mode=pause,max-heap-size=2g"), (Some(2 << 30), None));
        // A warning and the default.
        assert_eq!(sizes("", "nursery-size=3m,max-heap-size=x,no-such"), (None, None));
        assert_eq!(sizes("", "max-heap-size=1m"), (Some(16 << 20), None));
    }

    /// Mono takes nurseries that are smaller than Saki's smallest.
    #[test]
    fn small_nurseries_become_the_smallest() {
        assert_eq!(sizes("", "nursery-size=512"), (None, Some(saki_gc::MIN_NURSERY_BYTES)));
    }

    #[test]
    fn sakis_own_options_count_more() {
        let mut options = Options { max_heap: Some(64 << 20), ..Options::default() };
        apply(&mut options, "", "max-heap-size=1g,nursery-size=1m");
        assert_eq!((options.max_heap, options.nursery), (Some(64 << 20), Some(1 << 20)));
    }

    #[test]
    fn collecting_before_allocations_is_stress() {
        let mut options = Options::default();
        apply_debug(&mut options, "clear-at-gc,collect-before-allocs=7");
        assert_eq!(options.gc_stress, Some(7));
    }
}
