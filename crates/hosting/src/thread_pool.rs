//! The settings of .NET's thread pool that a runtime hands to its class libraries, as properties of `AppContext`.
//!
//! They come from variables (.NET 10's class library reads these itself, with the same result), and one depends on how
//! threads are executed. A pool of OS threads holds back new ones while its threads are blocked, because each is dear:
//! 10,000 tasks that sleep 100 ms take .NET 50 s on two processors. A green thread is cheap, so the pool may have as
//! many as it has work for; each asks for the next one only when it runs, so work that never waits still gets few.

use crate::environment;
use crate::properties::RuntimeProperties;
use saki_sched::ThreadMode;

/// A variable with a hexadecimal number, as all of CoreCLR's, and the property that it becomes.
struct PoolSetting {
    variable: &'static str,
    property: &'static str,
    is_switch: bool,
}

const fn number(variable: &'static str, property: &'static str) -> PoolSetting {
    PoolSetting { variable, property, is_switch: false }
}

const MIN_THREADS: &str = "System.Threading.ThreadPool.MinThreads";
const MAX_THREADS: &str = "System.Threading.ThreadPool.MaxThreads";

const SETTINGS: [PoolSetting; 7] = [
    number("DOTNET_ThreadPool_ForceMinWorkerThreads", MIN_THREADS),
    number("DOTNET_ThreadPool_ForceMaxWorkerThreads", MAX_THREADS),
    PoolSetting {
        variable: "DOTNET_ThreadPool_Blocking_CooperativeBlocking",
        property: "System.Threading.ThreadPool.Blocking.CooperativeBlocking",
        is_switch: true,
    },
    number(
        "DOTNET_ThreadPool_Blocking_ThreadsToAddWithoutDelay_ProcCountFactor",
        "System.Threading.ThreadPool.Blocking.ThreadsToAddWithoutDelay_ProcCountFactor",
    ),
    number(
        "DOTNET_ThreadPool_Blocking_ThreadsPerDelayStep_ProcCountFactor",
        "System.Threading.ThreadPool.Blocking.ThreadsPerDelayStep_ProcCountFactor",
    ),
    number("DOTNET_ThreadPool_Blocking_DelayStepMs", "System.Threading.ThreadPool.Blocking.DelayStepMs"),
    number("DOTNET_ThreadPool_Blocking_MaxDelayMs", "System.Threading.ThreadPool.Blocking.MaxDelayMs"),
];

/// The most workers that the pool can have (`PortableThreadPool.MaxPossibleThreadCount`).
const MOST_WORKERS: &str = "32767";

/// The host's properties with the pool's.
pub(crate) fn with_pool_settings(given: &RuntimeProperties, threads: ThreadMode) -> Vec<(String, String)> {
    with_settings(given, threads, environment::text)
}

fn with_settings(
    given: &RuntimeProperties,
    threads: ThreadMode,
    value_of: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let mut pairs = given.pairs().to_vec();
    let mut set = |name: &str, value: String| {
        pairs.retain(|(key, _)| key != name);
        pairs.push((name.to_owned(), value));
    };
    let mut is_sized = given.value(MIN_THREADS).is_some() || given.value(MAX_THREADS).is_some();
    for setting in &SETTINGS {
        // As there, a number that is none counts as absent.
        let value = value_of(setting.variable).and_then(|text| u32::from_str_radix(text.trim(), 16).ok());
        let Some(value) = value else { continue };
        is_sized |= matches!(setting.property, MIN_THREADS | MAX_THREADS);
        set(setting.property, if setting.is_switch { (value != 0).to_string() } else { value.to_string() });
    }
    if threads != ThreadMode::Native && !is_sized {
        set(MIN_THREADS, MOST_WORKERS.to_owned());
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(given: &[(&str, &str)], threads: ThreadMode, variables: &[(&str, &str)]) -> Vec<(String, String)> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        with_settings(&RuntimeProperties::new(given), threads, |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn green_threads_are_not_held_back_unless_somebody_sized_the_pool() {
        let most = [(MIN_THREADS.to_owned(), MOST_WORKERS.to_owned())];
        assert_eq!(pool(&[], ThreadMode::Green, &[]), most);
        assert_eq!(pool(&[], ThreadMode::Mn { carriers: 2 }, &[]), most);
        assert_eq!(pool(&[], ThreadMode::Native, &[]), []);
        let small = [(MAX_THREADS.to_owned(), "4".to_owned())];
        assert_eq!(pool(&[(MAX_THREADS, "4")], ThreadMode::Green, &[]), small);
        assert_eq!(pool(&[], ThreadMode::Green, &[("DOTNET_ThreadPool_ForceMaxWorkerThreads", "4")]), small);
    }

    #[test]
    fn variables_are_hexadecimal_and_count_more_than_the_programs_configuration() {
        let variables = [
            ("DOTNET_ThreadPool_ForceMinWorkerThreads", "1f"),
            ("DOTNET_ThreadPool_Blocking_CooperativeBlocking", "0"),
        ];
        assert_eq!(
            pool(&[(MIN_THREADS, "3"), ("a", "b")], ThreadMode::Native, &variables),
            [
                ("a".to_owned(), "b".to_owned()),
                (MIN_THREADS.to_owned(), "31".to_owned()),
                (SETTINGS[2].property.to_owned(), "false".to_owned())
            ]
        );
        assert_eq!(pool(&[], ThreadMode::Native, &[("DOTNET_ThreadPool_ForceMinWorkerThreads", "many")]), []);
    }
}
