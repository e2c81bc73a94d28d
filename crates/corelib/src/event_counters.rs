//! Counters of the program's event sources (EventCounter and its like), for who looks at a running process.
//!
//! The class library adds a source's counters up and writes an event of each, `EventCounters`, once in an interval, if
//! the source is enabled with the argument `EventCounterIntervalSec`. That is done here for each source, by its
//! provider's callback, and the newest value of each counter is kept. Which fields an event has, its description says
//! that the class library gives beforehand. Left out: the source of the runtime's own figures
//! (`saki_runtime::vm::counters` has them), sources that have no counters and cost time when they are enabled
//! (`HIDDEN`), and several intervals at a time: that of the first watcher counts.
//!
//! Sources are enabled at the lowest level and for a keyword that none of them has: they write no other events.
//!
//! Invariant: managed code runs without the lock, and a callback only while its provider is not deleted.

use crate::metrics::{self, Callback, EventData, MetricValue, Series};
use saki_base::locks::{Mutex, rank};
use saki_runtime::CurrentThread;
use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

/// Event sources of the class libraries without counters that do more when they are enabled, and that of the runtime.
const HIDDEN: [&str; 9] = [
    "System.Runtime",
    "Microsoft-Windows-DotNETRuntime",
    "Microsoft-Diagnostics-DiagnosticSource",
    "Microsoft-Extensions-DependencyInjection",
    "Microsoft-Extensions-Logging",
    "System.Buffers.ArrayPoolEventSource",
    "System.Diagnostics.Eventing.FrameworkEventSource",
    "System.Threading.Tasks.TplEventSource",
    "System.Diagnostics.Metrics",
];
/// The beginning of the names of sources that make texts of all they do.
const HIDDEN_PREFIX: &str = "Private.InternalDiagnostics.";
/// The name of events that tell a counter's value.
const EVENT_NAME: &str = "EventCounters";
/// The most counters that are kept.
const MAX_COUNTERS: usize = 1000;
/// Between two looks whether a callback has returned.
const PAUSE: Duration = Duration::from_micros(200);

/// A source's provider: its name, the callback and the callback's argument.
#[derive(Clone)]
struct Provider {
    name: String,
    callback: Callback,
    context: usize,
}

/// A field of an event, in the order of its bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Text,
    Double,
    Float,
    Integer,
    /// A number that is passed over.
    Bytes(usize),
}

/// What an event of a source looks like.
struct Layout {
    provider: usize,
    source: String,
    fields: Vec<(String, Kind)>,
}

struct State {
    providers: BTreeMap<usize, Provider>,
    /// Handles are not given twice.
    last_provider: usize,
    layouts: BTreeMap<usize, Arc<Layout>>,
    last_layout: usize,
    /// Providers whose callbacks run, and the threads that called them.
    called: Vec<(usize, u32)>,
    watchers: u32,
    interval: Duration,
    values: BTreeMap<Series, MetricValue>,
}

static STATE: Mutex<rank::EventCounterValues, State> = Mutex::new(State {
    providers: BTreeMap::new(),
    last_provider: 0,
    layouts: BTreeMap::new(),
    last_layout: 0,
    called: Vec::new(),
    watchers: 0,
    interval: Duration::ZERO,
    values: BTreeMap::new(),
});

/// Whether a source of this name may have counters that are shown.
pub(crate) fn is_shown(source: &str) -> bool {
    !HIDDEN.contains(&source) && !source.starts_with(HIDDEN_PREFIX)
}

/// Notes the provider, and enables it if somebody watches. Its number, from 1.
pub(crate) fn provider_created(t: CurrentThread, name: String, callback: Callback, context: usize) -> usize {
    let (number, interval) = {
        let mut state = STATE.lock();
        state.last_provider += 1;
        let number = state.last_provider;
        state.providers.insert(number, Provider { name, callback, context });
        (number, (state.watchers > 0).then_some(state.interval))
    };
    if interval.is_some() {
        tell(t, number, interval);
    }
    number
}

/// Forgets the provider, whose callback's argument is not valid after this: waits for callbacks of other threads.
pub(crate) fn provider_deleted(t: CurrentThread, number: usize) {
    let own = t.id();
    {
        let mut state = STATE.lock();
        if let Some(provider) = state.providers.remove(&number) {
            state.values.retain(|series, _| series.meter != provider.name);
            state.layouts.retain(|_, layout| layout.provider != number);
        }
    }
    while STATE.lock().called.iter().any(|(called, thread)| *called == number && *thread != own) {
        t.managed().sleep(Some(PAUSE), false);
    }
}

/// Has all sources tell the values of their counters each `interval`, until `unwatch`.
pub fn watch(t: CurrentThread, interval: Duration) {
    tell_all(t, Some(interval), |state| {
        state.watchers += 1;
        let is_first = state.watchers == 1;
        if is_first {
            state.interval = interval;
        }
        is_first
    });
}

/// Ends one `watch`.
pub fn unwatch(t: CurrentThread) {
    tell_all(t, None, |state| {
        state.watchers -= 1;
        let was_last = state.watchers == 0;
        if was_last {
            state.values.clear();
        }
        was_last
    });
}

/// Enables or disables all sources, if the change says so.
fn tell_all(t: CurrentThread, interval: Option<Duration>, change: impl FnOnce(&mut State) -> bool) {
    let numbers: Vec<usize> = {
        let mut state = STATE.lock();
        let is_wanted = change(&mut state);
        if is_wanted { state.providers.keys().copied().collect() } else { Vec::new() }
    };
    numbers.into_iter().for_each(|number| tell(t, number, interval));
}

/// The newest values, in order.
pub fn values() -> Vec<(Series, MetricValue)> {
    STATE.lock().values.iter().map(|(series, value)| (series.clone(), value.clone())).collect()
}

/// Enables a source with this interval, or disables it.
fn tell(t: CurrentThread, number: usize, interval: Option<Duration>) {
    /// The lowest level but that of events which are always written.
    const CRITICAL: u8 = 1;
    /// A keyword that no source has.
    const NO_EVENTS: i64 = 1 << 40;
    let provider = {
        let mut state = STATE.lock();
        let Some(provider) = state.providers.get(&number).cloned() else { return };
        state.called.push((number, t.id()));
        provider
    };
    // The class library takes a session whose id begins with a word of 0 for none.
    let session = [2, 1_u64];
    let arguments = interval.map(|interval| format!("EventCounterIntervalSec\0{}\0", interval.as_secs_f64()));
    // SAFETY: the callback's argument is what came with it, and is valid while the call is noted in `called`.
    unsafe { metrics::call(t, (provider.callback, provider.context), session, arguments, CRITICAL, NO_EVENTS) };
    let mut state = STATE.lock();
    let own = (number, t.id());
    if let Some(index) = state.called.iter().position(|call| *call == own) {
        state.called.swap_remove(index);
    }
}

/// Notes what an event of a provider looks like, if it tells counters. Its number, from 1.
pub(crate) fn event_defined(provider: usize, description: &[u8]) -> Option<usize> {
    let fields = fields_of(description)?;
    let mut state = STATE.lock();
    let source = state.providers.get(&provider)?.name.clone();
    state.last_layout += 1;
    let number = state.last_layout;
    state.layouts.insert(number, Arc::new(Layout { provider, source, fields }));
    Some(number)
}

/// An event of a source: a counter's value.
///
/// # Safety
/// `data` is an array of `count` items, each the address and length of valid memory.
pub(crate) unsafe fn event_written(event: usize, data: *const EventData, count: u32) {
    let layout = {
        let state = STATE.lock();
        let Some(layout) = state.layouts.get(&event) else { return };
        Arc::clone(layout)
    };
    // SAFETY: contract.
    let bytes = unsafe { bytes_of(data, count) };
    let Some((counter, value)) = counter_of(&layout, &bytes) else { return };
    let mut state = STATE.lock();
    if state.watchers > 0 && (state.values.len() < MAX_COUNTERS || state.values.contains_key(&counter)) {
        state.values.insert(counter, value);
    }
}

/// The parts of an event in one.
///
/// # Safety
/// As for `event_written`.
unsafe fn bytes_of(data: *const EventData, count: u32) -> Vec<u8> {
    if data.is_null() {
        return Vec::new();
    }
    // SAFETY: contract.
    let parts = unsafe { slice::from_raw_parts(data, count as usize) };
    // SAFETY: contract, for each of the parts.
    parts.iter().flat_map(|part| unsafe { part.bytes() }.iter().copied()).collect()
}

/// What an event says of a counter.
fn counter_of(layout: &Layout, bytes: &[u8]) -> Option<(Series, MetricValue)> {
    let mut rest = Bytes(bytes);
    let mut series =
        Series { meter: layout.source.clone(), instrument: String::new(), unit: String::new(), tags: String::new() };
    let (mut mean, mut increment, mut seconds) = (None, None, 0.0);
    for (name, kind) in &layout.fields {
        let (mut text, mut number) = (String::new(), 0.0);
        match kind {
            Kind::Text => text = rest.text()?,
            Kind::Double => number = f64::from_le_bytes(rest.take()?),
            Kind::Float => number = f32::from_le_bytes(rest.take()?).into(),
            Kind::Integer => number = i32::from_le_bytes(rest.take()?).into(),
            Kind::Bytes(len) => rest.skip(*len)?,
        }
        match &**name {
            "Name" => series.instrument = text,
            "DisplayUnits" => series.unit = text,
            "Metadata" => series.tags = text.replace(':', "="),
            "Mean" => mean = Some(number),
            "Increment" => increment = Some(number),
            "IntervalSec" => seconds = number,
            _ => {}
        }
    }
    let value = match (mean, increment) {
        (Some(mean), _) => MetricValue::Level(mean),
        (None, Some(increment)) if seconds > 0.0 => MetricValue::Rate(increment / seconds),
        _ => return None,
    };
    (!series.instrument.is_empty()).then_some((series, value))
}

/// The fields of an event by its description, those of a structure in its place; None: it tells no counter.
///
/// A description has the event's number, its name, the keywords (8 bytes), version and level, the number of fields, and
/// of each its `System.TypeCode`, then of a structure the number of its fields and these, and the name.
fn fields_of(description: &[u8]) -> Option<Vec<(String, Kind)>> {
    let mut rest = Bytes(description);
    rest.skip(4)?;
    if rest.text()? != EVENT_NAME {
        return None;
    }
    rest.skip(8 + 4 + 4)?;
    let mut fields = Vec::new();
    structure(&mut rest, &mut fields, 0)?;
    Some(fields)
}

fn structure(rest: &mut Bytes<'_>, fields: &mut Vec<(String, Kind)>, depth: u32) -> Option<()> {
    /// Payloads have two.
    const MAX_DEPTH: u32 = 8;
    const OBJECT: u32 = 1;
    if depth == MAX_DEPTH {
        return None;
    }
    for _ in 0..u32::from_le_bytes(rest.take()?) {
        match u32::from_le_bytes(rest.take()?) {
            OBJECT => {
                structure(rest, fields, depth + 1)?;
                rest.text()?;
            }
            code => {
                let kind = kind_of(code)?;
                fields.push((rest.text()?, kind));
            }
        }
    }
    Some(())
}

/// The field that a `System.TypeCode` stands for.
fn kind_of(code: u32) -> Option<Kind> {
    Some(match code {
        // Boolean is of four bytes in events.
        3 => Kind::Bytes(4),
        5 | 6 => Kind::Bytes(1),
        4 | 7 | 8 => Kind::Bytes(2),
        9 => Kind::Integer,
        10 => Kind::Bytes(4),
        11 | 12 | 16 => Kind::Bytes(8),
        13 => Kind::Float,
        14 => Kind::Double,
        18 => Kind::Text,
        _ => return None,
    })
}

/// What is left of an event or a description.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, len: usize) -> Option<()> {
        self.0 = self.0.get(len..)?;
        Some(())
    }

    /// UTF-16 that ends with a NUL. Characters that end lines or columns become spaces.
    fn text(&mut self) -> Option<String> {
        let mut units = Vec::new();
        loop {
            match u16::from_le_bytes(self.take()?) {
                0 => break,
                unit => units.push(unit),
            }
        }
        let characters = String::from_utf16_lossy(&units);
        Some(characters.chars().map(|character| if character.is_control() { ' ' } else { character }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
    }

    /// The description of an event with a structure of these fields.
    fn description(name: &str, fields: &[(u32, &str)]) -> Vec<u8> {
        let word = |number: u32| number.to_le_bytes().to_vec();
        let members = fields.iter().flat_map(|(code, name)| [word(*code), text(name)].concat()).collect();
        let head = [word(7), text(name), vec![0; 16]].concat();
        [head, word(1), word(1), word(fields.len() as u32), members, text("Payload")].concat()
    }

    #[test]
    fn counters_are_read_by_the_description_of_their_event() {
        assert_eq!(fields_of(&description("Request", &[(18, "Name")])), None);
        let read = |fields: &[(u32, &str)], bytes: Vec<u8>| {
            let fields = fields_of(&description("EventCounters", fields)).expect("counters");
            counter_of(&Layout { provider: 1, source: "S".into(), fields }, &bytes)
        };
        let series = |unit: &str, tags: &str| Series {
            meter: "S".into(),
            instrument: "n".into(),
            unit: unit.into(),
            tags: tags.into(),
        };
        let mean = [(18, "Name"), (14, "Mean"), (9, "Count"), (13, "IntervalSec"), (18, "DisplayUnits")];
        let bytes = [text("n"), 2.5_f64.to_le_bytes().to_vec(), vec![1; 8], text("ms")].concat();
        assert_eq!(read(&mean, bytes.clone()), Some((series("ms", ""), MetricValue::Level(2.5))));
        // A short event tells nothing.
        assert_eq!(read(&mean, bytes[..bytes.len() - 1].to_vec()), None);
        let sum = [(18, "Name"), (14, "Increment"), (13, "IntervalSec"), (18, "Metadata")];
        let bytes = [text("n"), 3_f64.to_le_bytes().to_vec(), 2_f32.to_le_bytes().to_vec(), text("a:1,b:2")];
        assert_eq!(read(&sum, bytes.concat()), Some((series("", "a=1,b=2"), MetricValue::Rate(1.5))));
    }

    #[test]
    fn sources_that_make_texts_of_all_they_do_stay_off() {
        assert!(is_shown("System.Net.Http") && is_shown("Shop"));
        assert!(!is_shown("Private.InternalDiagnostics.System.Net.Http") && !is_shown("System.Runtime"));
    }
}
