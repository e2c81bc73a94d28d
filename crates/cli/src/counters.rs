//! `saki counters`: figures of a program while it runs, or of a running process.
//!
//! A program's figures are read in its own process, and written to standard error or a file. A running process is found
//! as for profiles (`control_socket`): the client asks with a line for each report, and the process answers with a line
//! for each figure, then an empty one.
//!
//! ```text
//! client                                       process
//! "counters", the interval's seconds    →
//!                                       ←      "profiling", or "error: …"
//! "next"                                →
//!                                       ←      NAME KIND UNIT VALUE …,
//!                                              of the program's own a tab, NAME, UNIT, VALUE, TOTAL by tabs,
//!                                              an empty line
//! the end of the stream                 →      its thread ends
//! ```
//!
//! Invariant: figures that only grow are shown as their growth in a second (a processor's and collections' time as
//! shares), from the second reading on. Left out: which figures there are (`saki_runtime::vm::counters`).

pub mod words;

use crate::control_socket::{ControlRequest, connect_for};
use crate::quantities::parse_seconds;
use saki_base::messages;
use saki_corelib::event_counters;
use saki_corelib::metrics::{self, MetricValue, Series};
use saki_os::clock::{self, Moment};
use saki_os::services;
use saki_profile::json;
use saki_runtime::CurrentThread;
use saki_runtime::vm::counters::{self, CounterKind, CounterUnit, CounterValue};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// The word of a request to a running process; its settings are the seconds of an interval.
pub const REQUEST_WORD: &str = "counters";

/// How figures are reported.
#[derive(Clone, PartialEq, Debug)]
pub struct CounterRequest {
    /// The time between two reports.
    pub interval: Duration,
    /// The number of reports; None: to the end.
    pub count: Option<u64>,
    /// Lines of JSON, not tables.
    pub json: bool,
    /// None: standard output, or error where a program runs.
    pub output: Option<PathBuf>,
}

/// Reports the figures of this process while its program runs.
///
/// # Errors
/// The file's, or the system's for a thread.
pub fn begin(request: &CounterRequest) -> Result<(), String> {
    let mut reporter = Reporter::new(request, false)?;
    counters::on_own_thread(move |t| {
        watch(t, reporter.interval);
        loop {
            let failed =
                reporter.report(Readings { own: readings(&counters::read(t)), metrics: metric_rows() }).is_err();
            if failed || reporter.is_done() || !saki_thread::blocking(|| services::machine().pause(reporter.interval)) {
                break;
            }
        }
        unwatch(t);
    })
    .map_err(|error| error.to_string())
}

/// In a process that is asked: answers until the client goes.
///
/// # Errors
/// The stream's, or the system's for a thread.
pub fn serve(mut stream: UnixStream, settings: &str) -> io::Result<()> {
    let Ok(interval) = parse_seconds(settings) else { return writeln!(stream, "error: '{settings}' is no interval") };
    writeln!(stream, "profiling")?;
    let mut lines = BufReader::new(stream.try_clone()?);
    counters::on_own_thread(move |t| {
        let mut line = String::new();
        watch(t, interval);
        while saki_thread::blocking(|| lines.read_line(&mut line)).is_ok_and(|len| len > 0) {
            line.clear();
            let own = counters::read(t).iter().map(|value| format!("{}\n", Reading::of(value))).collect::<String>();
            let answer = own + &metric_rows().iter().map(|row| format!("{row}\n")).collect::<String>();
            if saki_thread::blocking(|| stream.write_all(format!("{answer}\n").as_bytes())).is_err() {
                break;
            }
        }
        unwatch(t);
    })
}

/// Reports the figures of a running process until it ends, `count` is reached, or Ctrl-C.
///
/// # Errors
/// The process cannot be asked, or refuses; the file's.
pub fn attach(process: u32, request: &CounterRequest) -> Result<(), String> {
    let mut reporter = Reporter::new(request, true)?;
    let settings = request.interval.as_secs_f64().to_string();
    let question = ControlRequest { word: REQUEST_WORD.to_owned(), settings, output: PathBuf::new() };
    let answers = connect_for(process, &question)?;
    let mut stream = answers.get_ref().try_clone().map_err(|error| error.to_string())?;
    let mut lines = answers.lines();
    loop {
        let mut readings = Readings::default();
        // An error, as the end of the stream, says that the process has ended.
        if stream.write_all(b"next\n").is_err() {
            return Ok(());
        }
        loop {
            match lines.next() {
                Some(Ok(line)) if line.is_empty() => break,
                Some(Ok(line)) if line.starts_with('\t') => readings.metrics.extend(Shown::parse(&line)),
                Some(Ok(line)) => readings.own.extend(Reading::parse(&line)),
                _ => return Ok(()),
            }
        }
        reporter.report(readings).map_err(|error| error.to_string())?;
        if reporter.is_done() {
            return Ok(());
        }
        std::thread::sleep(reporter.interval);
    }
}

/// A figure that was read, here or in another process.
#[derive(Clone, PartialEq, Debug)]
struct Reading {
    name: String,
    kind: CounterKind,
    unit: CounterUnit,
    value: u64,
}

impl Reading {
    fn of(value: &CounterValue) -> Reading {
        Reading { name: value.name.to_owned(), kind: value.kind, unit: value.unit, value: value.value }
    }

    /// What `Display` writes; None for what this version does not know.
    fn parse(line: &str) -> Option<Reading> {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, kind, unit, value] = words[..] else { return None };
        let kind = [CounterKind::Level, CounterKind::Total].into_iter().find(|found| format!("{found:?}") == kind)?;
        let units = [CounterUnit::Items, CounterUnit::Bytes, CounterUnit::Nanoseconds];
        let unit = units.into_iter().find(|found| format!("{found:?}") == unit)?;
        Some(Reading { name: name.to_owned(), kind, unit, value: value.parse().ok()? })
    }
}

impl std::fmt::Display for Reading {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {:?} {:?} {}", self.name, self.kind, self.unit, self.value)
    }
}

fn readings(values: &[CounterValue]) -> Vec<Reading> {
    values.iter().map(Reading::of).collect()
}

/// What is read at a moment.
#[derive(Default)]
struct Readings {
    own: Vec<Reading>,
    /// The program's instruments and counters.
    metrics: Vec<Shown>,
}

/// A figure as it is shown.
#[derive(Clone, PartialEq, Debug)]
struct Shown {
    name: String,
    /// "%", "bytes", "bytes/s", "/s", nothing, or what the program says.
    unit: String,
    value: f64,
    /// Of a figure that only grows: what it has grown to.
    total: Option<f64>,
}

impl Shown {
    fn new(name: String, unit: &str, value: f64, total: Option<f64>) -> Shown {
        Shown { name, unit: unit.to_owned(), value, total }
    }

    /// What `Display` writes.
    fn parse(line: &str) -> Option<Shown> {
        let columns: Vec<&str> = line.split('\t').collect();
        let ["", name, unit, value, total] = columns[..] else { return None };
        Some(Shown::new(name.to_owned(), unit, value.parse().ok()?, total.parse().ok()))
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let total = self.total.map_or(String::new(), |total| total.to_string());
        write!(out, "\t{}\t{}\t{}\t{total}", self.name, self.unit, self.value)
    }
}

/// Has the program's instruments and the counters of its event sources tell their values.
fn watch(t: CurrentThread, interval: Duration) {
    metrics::watch(t, interval);
    event_counters::watch(t, interval);
}

fn unwatch(t: CurrentThread) {
    event_counters::unwatch(t);
    metrics::unwatch(t);
}

/// The program's instruments, `Meter/instrument{tags}`, and counters, `EventSource/counter{metadata}`.
fn metric_rows() -> Vec<Shown> {
    let (interval, values) = metrics::values();
    values
        .into_iter()
        .chain(event_counters::values())
        .flat_map(|(series, value)| rows_of(&series, value, interval))
        .collect()
}

fn rows_of(series: &Series, value: MetricValue, interval: Duration) -> Vec<Shown> {
    let Series { meter, instrument, unit, tags } = series;
    let tags = if tags.is_empty() { String::new() } else { format!("{{{tags}}}") };
    let name = format!("{meter}/{instrument}{tags}");
    match value {
        MetricValue::Counter { growth, sum } => {
            let seconds = interval.as_secs_f64().max(f64::MIN_POSITIVE);
            vec![Shown::new(name, &format!("{unit}/s"), growth / seconds, Some(sum))]
        }
        MetricValue::Rate(value) => vec![Shown::new(name, &format!("{unit}/s"), value, None)],
        MetricValue::Level(value) => vec![Shown::new(name, unit, value, None)],
        MetricValue::Quantiles(quantiles) => {
            let row = |(share, value)| Shown::new(format!("{name} p{}", share * 100.0), unit, value, None);
            quantiles.into_iter().map(row).collect()
        }
    }
}

/// What is to be shown of a reading, `since` the last one with its moment, if there is one.
fn shown(reading: &Reading, last: Option<(&Reading, Duration)>) -> Shown {
    let name = reading.name.clone();
    if reading.kind == CounterKind::Level {
        let unit = if reading.unit == CounterUnit::Bytes { "bytes" } else { "" };
        return Shown::new(name, unit, reading.value as f64, None);
    }
    let growth = last.map_or(0.0, |(last, time)| {
        reading.value.saturating_sub(last.value) as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE)
    });
    match reading.unit {
        CounterUnit::Nanoseconds => Shown::new(name, "%", growth / 1e7, None),
        CounterUnit::Bytes => Shown::new(name, "bytes/s", growth, Some(reading.value as f64)),
        CounterUnit::Items => Shown::new(name, "/s", growth, Some(reading.value as f64)),
    }
}

/// Writes reports.
struct Reporter {
    interval: Duration,
    count: Option<u64>,
    json: bool,
    target: Target,
    last: Option<(Moment, Vec<Reading>)>,
    written: u64,
}

enum Target {
    File(File),
    Output,
    Errors,
}

impl Reporter {
    fn new(request: &CounterRequest, is_client: bool) -> Result<Reporter, String> {
        let target = match &request.output {
            Some(path) => Target::File(File::create(path).map_err(|error| format!("{}: {error}", path.display()))?),
            None if is_client => Target::Output,
            None => Target::Errors,
        };
        let CounterRequest { interval, count, json, .. } = *request;
        Ok(Reporter { interval, count, json, target, last: None, written: 0 })
    }

    fn is_done(&self) -> bool {
        self.count.is_some_and(|count| self.written >= count)
    }

    /// The first reading is the beginning of the first interval: nothing is written for it.
    fn report(&mut self, readings: Readings) -> io::Result<()> {
        let now = Moment::now();
        if let Some((then, last)) = &self.last {
            let time = now.saturating_duration_since(*then);
            let last_of = |name: &str| last.iter().find(|reading| reading.name == name).map(|last| (last, time));
            let own = readings.own.iter().map(|reading| shown(reading, last_of(&reading.name)));
            let rows: Vec<Shown> = own.chain(readings.metrics).collect();
            let text = if self.json { json_line(&rows, time) } else { table(&rows) };
            self.write(&text)?;
            self.written += 1;
        }
        self.last = Some((now, readings.own));
        Ok(())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        /// Moves the cursor to the top and clears what is below.
        const AGAIN: &str = "\x1b[H\x1b[J";
        let is_page = !self.json && matches!(self.target, Target::Output) && is_terminal();
        let before = if is_page { AGAIN } else { "" };
        match &mut self.target {
            Target::File(file) => file.write_all(text.as_bytes()),
            Target::Output => {
                messages::answer(format_args!("{before}{text}"));
                messages::answer_failure().map_or(Ok(()), Err)
            }
            Target::Errors => {
                messages::tell(format_args!("{text}"));
                Ok(())
            }
        }
    }
}

/// Whether standard output is a terminal.
fn is_terminal() -> bool {
    // SAFETY: takes a number only.
    unsafe { libc::isatty(libc::STDOUT_FILENO) != 0 }
}

/// A line for each figure, and an empty one.
fn table(rows: &[Shown]) -> String {
    let mut text = String::new();
    for row in rows {
        let (value, unit) = scaled(row.value, &row.unit);
        let total = row.total.map_or(String::new(), |total| match &*row.unit {
            "bytes/s" => format!("   ({} {})", scaled(total, "bytes").0, scaled(total, "bytes").1),
            _ => format!("   ({total})"),
        });
        let line = format!("{:<34}{value:>12} {unit:<6}{total}", row.name);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
    text
}

fn scaled(value: f64, unit: &str) -> (String, &str) {
    const MEBIBYTE: f64 = (1 << 20) as f64;
    match unit {
        "bytes" => (format!("{:.2}", value / MEBIBYTE), "MiB"),
        "bytes/s" => (format!("{:.2}", value / MEBIBYTE), "MiB/s"),
        _ if value.fract() == 0.0 && unit != "%" && unit != "/s" => (format!("{value:.0}"), unit),
        unit => (format!("{value:.1}"), unit),
    }
}

/// One line: the time in seconds since 1970, the interval's length, the figures, and the totals of those that grow.
fn json_line(rows: &[Shown], time: Duration) -> String {
    let object = |fields: Vec<String>| format!("{{{}}}", fields.join(","));
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    // JSON has no infinity.
    let field = |name: &str, value: f64| {
        let mut text = String::new();
        json::string(&mut text, name);
        if value.is_finite() { format!("{text}:{value}") } else { format!("{text}:null") }
    };
    let values = rows.iter().map(|row| field(&row.name, rounded(row.value))).collect();
    let totals = rows.iter().filter_map(|row| row.total.map(|total| field(&row.name, total))).collect();
    let now = clock::realtime_ns() as f64 / 1e9;
    format!(
        "{{\"time\":{},\"seconds\":{},\"counters\":{},\"totals\":{}}}\n",
        rounded(now),
        rounded(time.as_secs_f64()),
        object(values),
        object(totals)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(name: &str, kind: CounterKind, unit: CounterUnit, value: u64) -> Reading {
        Reading { name: name.to_owned(), kind, unit, value }
    }

    #[test]
    fn what_a_process_writes_is_read() {
        for kind in [CounterKind::Level, CounterKind::Total] {
            for unit in [CounterUnit::Items, CounterUnit::Bytes, CounterUnit::Nanoseconds] {
                let written = reading("gc-heap-size", kind, unit, u64::MAX);
                assert_eq!(Reading::parse(&written.to_string()), Some(written));
            }
        }
        assert_eq!(Reading::parse("new-figure Average Items 1"), None);
    }

    #[test]
    fn instruments_are_shown_by_meter_and_tags() {
        let series = Series { meter: "M".into(), instrument: "i".into(), unit: "ms".into(), tags: "a=1".into() };
        let rows = |value| rows_of(&series, value, Duration::from_secs(2));
        let counter = Shown::new("M/i{a=1}".into(), "ms/s", 1.5, Some(9.0));
        assert_eq!(rows(MetricValue::Counter { growth: 3.0, sum: 9.0 }), std::slice::from_ref(&counter));
        let quantile = Shown::new("M/i{a=1} p95".into(), "ms", 7.25, None);
        assert_eq!(rows(MetricValue::Quantiles(vec![(0.95, 7.25)])), std::slice::from_ref(&quantile));
        let rate = Shown::new("M/i{a=1}".into(), "ms/s", 1.5, None);
        assert_eq!(rows(MetricValue::Rate(1.5)), std::slice::from_ref(&rate));
        for shown in [counter, quantile, rate] {
            assert_eq!(Shown::parse(&shown.to_string()), Some(shown));
        }
    }

    #[test]
    fn what_grows_is_shown_by_the_second_and_times_as_shares() {
        let time = Duration::from_millis(500);
        let check = |unit, before, now, value, shown_unit, total| {
            let (before, now) =
                (reading("n", CounterKind::Total, unit, before), reading("n", CounterKind::Total, unit, now));
            let expected = Shown::new("n".into(), shown_unit, value, total);
            assert_eq!(shown(&now, Some((&before, time))), expected);
        };
        check(CounterUnit::Items, 3, 5, 4.0, "/s", Some(5.0));
        check(CounterUnit::Bytes, 0, 1 << 20, f64::from(2 << 20), "bytes/s", Some(f64::from(1 << 20)));
        check(CounterUnit::Nanoseconds, 0, 250_000_000, 50.0, "%", None);
        let level = reading("n", CounterKind::Level, CounterUnit::Bytes, 7);
        assert_eq!(shown(&level, None), Shown::new("n".into(), "bytes", 7.0, None));
    }

    #[test]
    fn a_line_of_json_is_an_object() {
        let rows = [
            Shown::new("cpu-usage".into(), "%", 12.3456, None),
            Shown::new("exception-count".into(), "/s", 2.0, Some(10.0)),
            Shown::new("a\"b/c".into(), "", f64::INFINITY, None),
        ];
        let line = json_line(&rows, Duration::from_secs(1));
        let (_, rest) = line.split_once(",\"seconds\"").unwrap();
        let expected = ":1,\"counters\":{\"cpu-usage\":12.346,\"exception-count\":2,\"a\\\"b/c\":null},\"totals\":{\"exception-count\":10}}\n";
        assert_eq!(rest, expected);
    }
}
