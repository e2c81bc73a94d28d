//! `saki counters`: figures of a program while it runs, or of a running process.
//!
//! A program's figures are read in its own process, and written to standard error or a file. A running process is found
//! as for profiles (`control_socket`): the client asks with a line for each report, and the process answers with a line
//! for each figure, then an empty one.
//!
//! ```text
//! client                                       process
//! "counters"                            →
//!                                       ←      "profiling", or "error: …"
//! "next"                                →
//!                                       ←      NAME KIND UNIT VALUE …, an empty line
//! the end of the stream                 →      its thread ends
//! ```
//!
//! Invariant: figures that only grow are shown as their growth in a second (a processor's and collections' time as
//! shares), from the second reading on. Left out: which figures there are (`saki_runtime::vm::counters`).

pub mod words;

use crate::control_socket::{ControlRequest, connect_for};
use saki_base::messages;
use saki_os::clock::{self, Moment};
use saki_os::services;
use saki_runtime::vm::counters::{self, CounterKind, CounterUnit, CounterValue};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// The word of a request to a running process, which has no settings.
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
        loop {
            let failed = reporter.report(readings(&counters::read(t))).is_err();
            if failed || reporter.is_done() || !saki_thread::blocking(|| services::machine().pause(reporter.interval)) {
                break;
            }
        }
    })
    .map_err(|error| error.to_string())
}

/// In a process that is asked: answers until the client goes.
///
/// # Errors
/// The stream's, or the system's for a thread.
pub fn serve(mut stream: UnixStream) -> io::Result<()> {
    writeln!(stream, "profiling")?;
    let mut lines = BufReader::new(stream.try_clone()?);
    counters::on_own_thread(move |t| {
        let mut line = String::new();
        while saki_thread::blocking(|| lines.read_line(&mut line)).is_ok_and(|len| len > 0) {
            line.clear();
            let answer: String = counters::read(t).iter().map(|value| format!("{}\n", Reading::of(value))).collect();
            if saki_thread::blocking(|| stream.write_all(format!("{answer}\n").as_bytes())).is_err() {
                break;
            }
        }
    })
}

/// Reports the figures of a running process until it ends, `count` is reached, or Ctrl-C.
///
/// # Errors
/// The process cannot be asked, or refuses; the file's.
pub fn attach(process: u32, request: &CounterRequest) -> Result<(), String> {
    let mut reporter = Reporter::new(request, true)?;
    let question = ControlRequest { word: REQUEST_WORD.to_owned(), settings: String::new(), output: PathBuf::new() };
    let answers = connect_for(process, &question)?;
    let mut stream = answers.get_ref().try_clone().map_err(|error| error.to_string())?;
    let mut lines = answers.lines();
    loop {
        let mut readings = Vec::new();
        // An error, as the end of the stream, says that the process has ended.
        if stream.write_all(b"next\n").is_err() {
            return Ok(());
        }
        loop {
            match lines.next() {
                Some(Ok(line)) if line.is_empty() => break,
                Some(Ok(line)) => readings.extend(Reading::parse(&line)),
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

/// A figure as it is shown.
#[derive(Clone, PartialEq, Debug)]
struct Shown {
    name: String,
    /// "%", "bytes", "bytes/s", "/s" or nothing.
    unit: &'static str,
    value: f64,
    /// Of a figure that only grows: what it has grown to.
    total: Option<u64>,
}

/// What is to be shown of a reading, `since` the last one with its moment, if there is one.
fn shown(reading: &Reading, last: Option<(&Reading, Duration)>) -> Shown {
    let name = reading.name.clone();
    if reading.kind == CounterKind::Level {
        let unit = if reading.unit == CounterUnit::Bytes { "bytes" } else { "" };
        return Shown { name, unit, value: reading.value as f64, total: None };
    }
    let growth = last.map_or(0.0, |(last, time)| {
        reading.value.saturating_sub(last.value) as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE)
    });
    match reading.unit {
        CounterUnit::Nanoseconds => Shown { name, unit: "%", value: growth / 1e7, total: None },
        CounterUnit::Bytes => Shown { name, unit: "bytes/s", value: growth, total: Some(reading.value) },
        CounterUnit::Items => Shown { name, unit: "/s", value: growth, total: Some(reading.value) },
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
    fn report(&mut self, readings: Vec<Reading>) -> io::Result<()> {
        let now = Moment::now();
        if let Some((then, last)) = &self.last {
            let time = now.saturating_duration_since(*then);
            let last_of = |name: &str| last.iter().find(|reading| reading.name == name).map(|last| (last, time));
            let rows: Vec<Shown> = readings.iter().map(|reading| shown(reading, last_of(&reading.name))).collect();
            let text = if self.json { json(&rows, time) } else { table(&rows) };
            self.write(&text)?;
            self.written += 1;
        }
        self.last = Some((now, readings));
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
        let (value, unit) = scaled(row.value, row.unit);
        let total = row.total.map_or(String::new(), |total| match row.unit {
            "bytes/s" => format!("   ({} {})", scaled(total as f64, "bytes").0, scaled(total as f64, "bytes").1),
            _ => format!("   ({total})"),
        });
        let line = format!("{:<34}{value:>12} {unit:<6}{total}", row.name);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
    text
}

fn scaled(value: f64, unit: &'static str) -> (String, &'static str) {
    const MEBIBYTE: f64 = (1 << 20) as f64;
    match unit {
        "bytes" => (format!("{:.2}", value / MEBIBYTE), "MiB"),
        "bytes/s" => (format!("{:.2}", value / MEBIBYTE), "MiB/s"),
        "" => (format!("{value:.0}"), ""),
        unit => (format!("{value:.1}"), unit),
    }
}

/// One line: the time in seconds since 1970, the interval's length, the figures, and the totals of those that grow.
fn json(rows: &[Shown], time: Duration) -> String {
    let object = |fields: Vec<String>| format!("{{{}}}", fields.join(","));
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    let values = rows.iter().map(|row| format!("\"{}\":{}", row.name, rounded(row.value))).collect();
    let totals = rows.iter().filter_map(|row| row.total.map(|total| format!("\"{}\":{total}", row.name))).collect();
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
    fn what_grows_is_shown_by_the_second_and_times_as_shares() {
        let time = Duration::from_millis(500);
        let check = |unit, before, now, value, shown_unit, total| {
            let (before, now) =
                (reading("n", CounterKind::Total, unit, before), reading("n", CounterKind::Total, unit, now));
            let expected = Shown { name: "n".into(), unit: shown_unit, value, total };
            assert_eq!(shown(&now, Some((&before, time))), expected);
        };
        check(CounterUnit::Items, 3, 5, 4.0, "/s", Some(5));
        check(CounterUnit::Bytes, 0, 1 << 20, f64::from(2 << 20), "bytes/s", Some(1 << 20));
        check(CounterUnit::Nanoseconds, 0, 250_000_000, 50.0, "%", None);
        let level = reading("n", CounterKind::Level, CounterUnit::Bytes, 7);
        assert_eq!(shown(&level, None), Shown { name: "n".into(), unit: "bytes", value: 7.0, total: None });
    }

    #[test]
    fn a_line_of_json_is_an_object() {
        let rows = [
            Shown { name: "cpu-usage".into(), unit: "%", value: 12.3456, total: None },
            Shown { name: "exception-count".into(), unit: "/s", value: 2.0, total: Some(10) },
        ];
        let line = json(&rows, Duration::from_secs(1));
        let (_, rest) = line.split_once(",\"seconds\"").unwrap();
        let expected =
            ":1,\"counters\":{\"cpu-usage\":12.346,\"exception-count\":2},\"totals\":{\"exception-count\":10}}\n";
        assert_eq!(rest, expected);
    }
}
