//! The machine's options by name, wherever they are given.
//!
//! An option has one name, from which its three spellings follow: on the command line `--hot-stacks`, in the
//! environment SAKI_HOT_STACKS, and in `configProperties` of a program's `runtimeconfig.json` `Saki.HotStacks`. The
//! command line counts most, then the environment, then the program's configuration.
//!
//! Invariant: a setting means the same in each spelling. Left out: options of the command alone (profiles, statistics,
//! dumps of compiled code), and how the command line is parsed.

use crate::environment;
use crate::properties::RuntimeProperties;
use crate::quantities::{parse_flag, parse_gc_threads, parse_nursery, parse_size};
use saki_gc::Stress;
use saki_jit::Tiers;
use saki_runtime::exec::code_cache::CachePlaces;
use saki_runtime::vm::VmOptions;

/// Under GC stress, polls of compiled code between two collections for each allocation between two: loops poll much
/// more often than they allocate.
const STRESSED_POLLS_PER_ALLOCATION: u32 = 16;

/// The options with which a library starts a machine in its host's process, before settings: the user's code cache (an
/// installed one lies beside the executable of the command, and is of another build), and both tiers.
pub fn of_guest() -> VmOptions {
    let places = CachePlaces { own: environment::own_cache(), installed: None };
    VmOptions { code_cache: Some(places), tiers: Tiers::Both, ..VmOptions::default() }
}

/// An option of the machine.
pub struct Setting {
    /// Its name on the command line, without the dashes: "hot-stacks".
    pub name: &'static str,
    /// Changes the options; the error says what is wrong with the value.
    apply: fn(&mut VmOptions, &str) -> Result<(), String>,
}

/// All of them, in alphabetical order.
pub const SETTINGS: [Setting; 11] = [
    Setting { name: "gc-stress", apply: |options, text| set(&mut options.heap.stress, parse_stress(text)) },
    Setting { name: "gc-threads", apply: |options, text| set(&mut options.heap.gc_threads, parse_gc_threads(text)) },
    Setting { name: "hot-stacks", apply: |options, text| set(&mut options.hot_stacks, parse_count(text)) },
    Setting { name: "io", apply: |options, text| set(&mut options.io, text.parse().map(Some)) },
    Setting {
        name: "max-heap",
        apply: |options, text| set(&mut options.heap.max_heap_bytes, parse_size(text).map(Some)),
    },
    Setting {
        name: "no-cache",
        apply: |options, text| {
            if parse_flag(text)? {
                options.code_cache = None;
            }
            Ok(())
        },
    },
    Setting {
        name: "no-simd",
        apply: |options, text| {
            let is_off = parse_flag(text)?;
            options.vectors &= !is_off;
            Ok(())
        },
    },
    Setting {
        name: "nursery",
        apply: |options, text| set(&mut options.heap.nursery_bytes, parse_nursery(text).map(Some)),
    },
    Setting { name: "perf", apply: |options, text| set(&mut options.tools, text.parse()) },
    Setting { name: "small-stacks", apply: |options, text| set(&mut options.small_stacks, text.parse()) },
    Setting { name: "threads", apply: |options, text| set(&mut options.threads, text.parse()) },
];

fn set<T, E: std::fmt::Display>(place: &mut T, value: Result<T, E>) -> Result<(), String> {
    *place = value.map_err(|error| error.to_string())?;
    Ok(())
}

fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}

fn parse_stress(text: &str) -> Result<Option<Stress>, String> {
    let n = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    Ok(stress(n))
}

/// The collector's stress for `--gc-stress=N`: a collection at every N-th allocation; 0 is none.
pub fn stress(n: u32) -> Option<Stress> {
    (n > 0).then(|| Stress {
        every_nth_allocation: n,
        every_nth_safepoint: n.saturating_mul(STRESSED_POLLS_PER_ALLOCATION),
    })
}

/// The option's words with capital letters, and this between them.
fn joined(name: &str, between: &str, capitals: fn(&str) -> String) -> String {
    name.split('-').map(capitals).collect::<Vec<_>>().join(between)
}

/// The variable of an option: SAKI_HOT_STACKS for "hot-stacks".
pub fn variable(name: &str) -> String {
    format!("SAKI_{}", joined(name, "_", str::to_uppercase))
}

/// The property of an option in a program's `runtimeconfig.json`: `Saki.HotStacks` for "hot-stacks".
pub fn property(name: &str) -> String {
    let capitalised = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_uppercase())
    };
    format!("Saki.{}", joined(name, "", capitalised))
}

/// Applies one option, by its name on the command line.
///
/// # Errors
/// No option has the name, or its value is wrong: one line that names the option.
pub fn apply(options: &mut VmOptions, name: &str, value: &str) -> Result<(), String> {
    let setting = SETTINGS.iter().find(|setting| setting.name == name);
    let setting = setting.ok_or_else(|| format!("there is no option '{name}'"))?;
    (setting.apply)(options, value).map_err(|error| format!("{name}: {error}"))
}

/// Applies the properties of a program's configuration, but not those of options that were given otherwise.
///
/// # Errors
/// A value is wrong: one line that names the property.
pub fn apply_properties(
    options: &mut VmOptions,
    properties: &RuntimeProperties,
    is_given: impl Fn(&str) -> bool,
) -> Result<(), String> {
    for setting in SETTINGS.iter().filter(|setting| !is_given(setting.name)) {
        let property = property(setting.name);
        if let Some(value) = properties.value(&property) {
            (setting.apply)(options, value).map_err(|error| format!("{property} in runtimeconfig.json: {error}"))?;
        }
    }
    Ok(())
}

/// Applies the variables of the environment; the names of the options that have one.
///
/// # Errors
/// A value is wrong: one line that names the variable.
pub fn apply_environment(options: &mut VmOptions) -> Result<Vec<&'static str>, String> {
    let mut given = Vec::new();
    for setting in &SETTINGS {
        let variable = variable(setting.name);
        if let Some(value) = environment::text(&variable) {
            (setting.apply)(options, &value).map_err(|error| format!("{variable}: {error}"))?;
            given.push(setting.name);
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_sched::ThreadMode;

    fn properties(pairs: &[(&str, &str)]) -> RuntimeProperties {
        let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        RuntimeProperties::new(pairs.iter().map(own).collect())
    }

    #[test]
    fn an_option_has_three_spellings_by_one_rule() {
        for (name, variable_name, property_name) in [
            ("hot-stacks", "SAKI_HOT_STACKS", "Saki.HotStacks"),
            ("io", "SAKI_IO", "Saki.Io"),
            ("gc-stress", "SAKI_GC_STRESS", "Saki.GcStress"),
        ] {
            assert_eq!((variable(name), property(name)), (variable_name.to_owned(), property_name.to_owned()));
        }
        assert!(SETTINGS.is_sorted_by_key(|setting| setting.name));
        for setting in &SETTINGS {
            let row = (variable(setting.name), format!("--{}", setting.name));
            assert!(
                environment::VARIABLES.iter().any(|(name, about)| (*name, *about) == (&*row.0, &*row.1)),
                "{row:?}"
            );
        }
    }

    #[test]
    fn properties_change_what_was_not_given_otherwise() {
        let mut options = VmOptions::default();
        let configuration = properties(&[
            ("Saki.Threads", "mn:3"),
            ("Saki.MaxHeap", "64m"),
            ("Saki.NoSimd", "true"),
            ("Saki.HotStacks", "7"),
            ("System.GC.Server", "true"),
        ]);
        let usual = options.hot_stacks;
        apply_properties(&mut options, &configuration, |name| name == "hot-stacks").expect("good values");
        assert_eq!(options.threads, ThreadMode::Mn { carriers: 3 });
        assert_eq!((options.heap.max_heap_bytes, options.vectors, options.hot_stacks), (Some(64 << 20), false, usual));
        let error = apply_properties(&mut options, &properties(&[("Saki.Io", "no")]), |_| false).unwrap_err();
        assert!(error.starts_with("Saki.Io in runtimeconfig.json: "), "{error}");
    }
}
