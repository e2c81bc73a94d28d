//! Instruments of the program (System.Diagnostics.Metrics), for who looks at a running process.
//!
//! The class library adds their values up and tells an event source of them, `System.Diagnostics.Metrics`, once in an
//! interval, if somebody listens by an event pipe. That is done here: the source's provider is enabled by its callback,
//! and of its events the newest value of each instrument is kept, with each set of tags. Left out: events of other
//! sources (`events`, `event_counters`), the runtime's own meter (`saki_runtime::vm::counters` has its figures), and
//! several intervals at a time: that of the first watcher counts.
//!
//! Invariant: managed code runs without the lock.

use saki_base::locks::{Mutex, rank};
use saki_runtime::CurrentThread;
use std::collections::BTreeMap;
use std::slice;
use std::time::Duration;

/// The provider of instruments' values.
pub(crate) const PROVIDER: &str = "System.Diagnostics.Metrics";
/// The meter of the runtime's own figures.
const RUNTIME_METER: &str = "System.Runtime";
/// The most sets of tags of all instruments, and the most histograms, that are told.
const MAX_SERIES: u32 = 1000;
const MAX_HISTOGRAMS: u32 = 50;

/// An instrument with a set of tags.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Series {
    /// The name of its meter.
    pub meter: String,
    /// Its own name.
    pub instrument: String,
    /// As the program says; may be empty.
    pub unit: String,
    /// `name=value`, separated by commas; may be empty.
    pub tags: String,
}

/// The newest value of a series. The class library writes numbers as texts.
#[derive(Clone, PartialEq, Debug)]
pub enum MetricValue {
    /// How much it grew in the last interval, and its sum.
    Counter { growth: f64, sum: f64 },
    /// Of a gauge, and of a counter that may shrink.
    Level(f64),
    /// How much it grew by the second in the last interval, its sum unknown.
    Rate(f64),
    /// Quantiles of the values of the last interval: share and value.
    Quantiles(Vec<(f64, f64)>),
}

/// The event source's provider, as it was created: the callback and its argument.
#[derive(Clone, Copy)]
struct Provider {
    callback: Callback,
    context: usize,
}

struct State {
    provider: Option<Provider>,
    watchers: u32,
    interval: Duration,
    values: BTreeMap<Series, MetricValue>,
}

static STATE: Mutex<rank::MetricValues, State> =
    Mutex::new(State { provider: None, watchers: 0, interval: Duration::ZERO, values: BTreeMap::new() });

/// `EVENT_FILTER_DESCRIPTOR`.
#[repr(C)]
pub(crate) struct Filter {
    address: u64,
    len: u32,
    kind: u32,
}

/// `EventProvider.EventData`.
#[repr(C)]
pub(crate) struct EventData {
    address: u64,
    len: u32,
    _reserved: u32,
}

impl EventData {
    /// # Safety
    /// The address and length are of memory that stays valid and unchanged while the slice is used.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        let address = self.address as *const u8;
        // SAFETY: contract; the empty slice has no address.
        if address.is_null() { &[] } else { unsafe { slice::from_raw_parts(address, self.len as usize) } }
    }
}

/// What the class library has called when somebody begins or ceases to listen: the session's id, whether it begins, the
/// level, two masks of keywords, arguments, and its own argument.
pub(crate) type Callback = unsafe extern "C" fn(*const [u64; 2], i32, u8, i64, i64, *const Filter, usize);

/// Notes the provider, and enables it if somebody watches.
pub(crate) fn provider_created(t: CurrentThread, callback: Callback, context: usize) {
    let provider = Provider { callback, context };
    let interval = {
        let mut state = STATE.lock();
        state.provider = Some(provider);
        (state.watchers > 0).then_some(state.interval)
    };
    if let Some(interval) = interval {
        tell(t, provider, Some(interval));
    }
}

/// Forgets the provider, whose callback's argument is no longer valid.
pub(crate) fn provider_deleted() {
    STATE.lock().provider = None;
}

/// Has the class library tell the values of all instruments each `interval`, until `unwatch`.
pub fn watch(t: CurrentThread, interval: Duration) {
    let provider = {
        let mut state = STATE.lock();
        state.watchers += 1;
        if state.watchers > 1 {
            return;
        }
        state.interval = interval;
        state.provider
    };
    if let Some(provider) = provider {
        tell(t, provider, Some(interval));
    }
}

/// Ends one `watch`.
pub fn unwatch(t: CurrentThread) {
    let provider = {
        let mut state = STATE.lock();
        state.watchers -= 1;
        if state.watchers > 0 {
            return;
        }
        state.values.clear();
        state.provider
    };
    if let Some(provider) = provider {
        tell(t, provider, None);
    }
}

/// The newest values, in order, and the interval in which they are told.
pub fn values() -> (Duration, Vec<(Series, MetricValue)>) {
    let state = STATE.lock();
    (state.interval, state.values.iter().map(|(series, value)| (series.clone(), value.clone())).collect())
}

/// Enables the event source with this interval, or disables it.
fn tell(t: CurrentThread, provider: Provider, interval: Option<Duration>) {
    /// The keyword of values.
    const TIME_SERIES_VALUES: i64 = 2;
    const INFORMATIONAL: u8 = 4;
    // The class library takes a session whose id begins with a word of 0 for none.
    let session = [1, 1_u64];
    let arguments = interval.map(|interval| {
        let seconds = interval.as_secs_f64();
        format!(
            "SessionId\0saki\0Metrics\0*\0RefreshInterval\0{seconds}\0MaxTimeSeries\0{MAX_SERIES}\0MaxHistograms\0{MAX_HISTOGRAMS}\0"
        )
    });
    // SAFETY: the callback's argument is what came with it.
    unsafe { call(t, (provider.callback, provider.context), session, arguments, INFORMATIONAL, TIME_SERIES_VALUES) };
}

/// Enables an event source for a session with these arguments, a level and a keyword; without arguments, disables it.
///
/// # Safety
/// `callback` is one of the class library for native code, with the argument that came with it, which is still valid.
pub(crate) unsafe fn call(
    t: CurrentThread,
    (callback, context): (Callback, usize),
    session: [u64; 2],
    arguments: Option<String>,
    level: u8,
    keyword: i64,
) {
    /// A command that is an update of the filter.
    const UPDATE: u32 = 0;
    let filter =
        arguments.as_ref().map(|text| Filter { address: text.as_ptr() as u64, len: text.len() as u32, kind: UPDATE });
    let filter_address = filter.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let is_enabled = i32::from(arguments.is_some());
    t.managed().blocking(|| {
        // SAFETY: contract; it is called in a safe region, and the session and the filter live until it returns.
        unsafe { callback(&raw const session, is_enabled, level, keyword, 0, filter_address, context) };
    });
}

/// An event of the source.
///
/// # Safety
/// `data` is an array of `count` items, each the address and length of valid memory.
pub(crate) unsafe fn event_written(id: u32, data: *const EventData, count: u32) {
    if data.is_null() {
        return;
    }
    // SAFETY: contract.
    let fields = unsafe { slice::from_raw_parts(data, count as usize) };
    let text = |index: usize| fields.get(index).map_or(String::new(), text_of);
    let series = Series { meter: text(1), instrument: text(3), unit: text(4), tags: text(5) };
    if series.meter.is_empty() || series.meter == RUNTIME_METER {
        return;
    }
    if let Some(value) = value_of(id, &text(6), &text(7)) {
        let mut state = STATE.lock();
        if state.watchers > 0 && (state.values.len() < MAX_SERIES as usize || state.values.contains_key(&series)) {
            state.values.insert(series, value);
        }
    }
}

/// The value that an event tells. `first` and `second`: its fields behind the tags.
fn value_of(id: u32, first: &str, second: &str) -> Option<MetricValue> {
    const COUNTER: u32 = 4;
    const GAUGE: u32 = 5;
    const HISTOGRAM: u32 = 6;
    const UP_DOWN_COUNTER: u32 = 16;
    let number = |text: &str| text.parse::<f64>().ok();
    match id {
        // The first interval has no growth.
        COUNTER => Some(MetricValue::Counter { growth: number(first).unwrap_or(0.0), sum: number(second)? }),
        GAUGE => number(first).map(MetricValue::Level),
        UP_DOWN_COUNTER => number(second).map(MetricValue::Level),
        HISTOGRAM => {
            let pairs = first.split(';').filter_map(|pair| pair.split_once('='));
            Some(MetricValue::Quantiles(pairs.filter_map(|(share, value)| number(share).zip(number(value))).collect()))
        }
        _ => None,
    }
}

/// A field's text: UTF-16 that ends with a NUL. Characters that end lines or columns become spaces.
fn text_of(field: &EventData) -> String {
    // SAFETY: the field's memory is valid (`event_written`).
    let bytes = unsafe { field.bytes() };
    let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).take_while(|unit| *unit != 0);
    let characters = char::decode_utf16(units).map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER));
    characters.map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_from_the_texts_of_events() {
        let check = |id, first, second, expected| assert_eq!(value_of(id, first, second), expected);
        check(4, "3", "10", Some(MetricValue::Counter { growth: 3.0, sum: 10.0 }));
        check(4, "", "10", Some(MetricValue::Counter { growth: 0.0, sum: 10.0 }));
        check(5, "1.5", "", Some(MetricValue::Level(1.5)));
        check(5, "", "", None);
        check(16, "-1", "-7", Some(MetricValue::Level(-7.0)));
        check(6, "0.5=2;0.95=3.5", "", Some(MetricValue::Quantiles(vec![(0.5, 2.0), (0.95, 3.5)])));
        check(7, "Counter`1", "", None);
    }

    #[test]
    fn texts_end_at_their_nul_and_have_no_control_characters() {
        let units: Vec<u8> = "a\tb\0c".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let field = |bytes: &[u8]| EventData { address: bytes.as_ptr() as u64, len: bytes.len() as u32, _reserved: 0 };
        assert_eq!(text_of(&field(&units)), "a b");
        assert_eq!(text_of(&EventData { address: 0, len: 0, _reserved: 0 }), "");
    }
}
