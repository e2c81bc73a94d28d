//! `--profile=log[:OPTION,…]`: Mono's log profiler, with its options.
//!
//! As under Mono, options that are not understood are named on standard error and skipped; without `nodefaults` in
//! front, exceptions and counters are written and older rules hold. Unlike Mono's, the command server runs only if
//! `port` asks for it.

use saki_profile::mlpd::output::Output;
use saki_runtime::vm::profile_log::callspec::CallSpec;
use saki_runtime::vm::profile_log::settings::{HeapShots, LogEvents, LogSettings, MAX_FRAMES, SampleClock};
use std::path::PathBuf;

/// Mono's default of `sample`.
const DEFAULT_HZ: u32 = 100;
/// Mono's default of `calldepth`.
const MAX_CALL_DEPTH: u32 = 100;

const MOVES: LogEvents = LogEvents::MOVE;
const ALLOC: LogEvents = LogEvents::GC.with(LogEvents::ALLOCATION).with(MOVES);
const LEGACY: LogEvents = LogEvents::EXCEPTION
    .with(LogEvents::MONITOR)
    .with(LogEvents::GC)
    .with(MOVES)
    .with(LogEvents::ROOT)
    .with(LogEvents::HANDLE)
    .with(LogEvents::FINALIZATION)
    .with(LogEvents::COUNTER);
const HEAP_SHOT: LogEvents = LogEvents::GC.with(LogEvents::ROOT);

/// Names of events, each with a form with "no" in front.
const EVENTS: [(&str, LogEvents); 13] = [
    ("exception", LogEvents::EXCEPTION),
    ("monitor", LogEvents::MONITOR),
    ("gc", LogEvents::GC),
    ("gcalloc", LogEvents::ALLOCATION),
    ("gcmove", LogEvents::MOVE),
    ("gcroot", LogEvents::ROOT),
    ("gchandle", LogEvents::HANDLE),
    ("finalization", LogEvents::FINALIZATION),
    ("counter", LogEvents::COUNTER),
    ("jit", LogEvents::JIT),
    ("counters", LogEvents::COUNTER),
    ("alloc", ALLOC),
    ("legacy", LEGACY),
];

/// The meaning of the option.
#[derive(Debug)]
pub enum LogOption {
    Write(Box<LogSettings>),
    Help(String),
}

/// Whether the option's value is for this profiler.
pub fn is_log(text: &str) -> bool {
    text == "log" || text.starts_with("log:")
}

/// The message about any other profiler.
pub fn no_such_profiler(text: &str) -> String {
    let module = text.split(':').next().unwrap_or_default();
    format!("The '{module}' profiler is not there; 'log' and 'coverage' are.\n")
}

/// Reads the text after `--profile=` for a log; returns its meaning and messages about it.
pub fn parse(text: &str) -> (LogOption, Vec<String>) {
    let list = text.split_once(':').map_or("", |(_, list)| list);
    let mut reader = Reader {
        enabled: LogEvents::NONE,
        disabled: LogEvents::NONE,
        has_old_rules: false,
        hz: DEFAULT_HZ,
        clock: None,
        output: None,
        is_report: false,
        messages: Vec::new(),
        settings: LogSettings {
            arguments: text.to_owned(),
            events: LogEvents::NONE,
            samples: None,
            calls: false,
            callspec: CallSpec::default(),
            max_call_depth: MAX_CALL_DEPTH,
            max_frames: MAX_FRAMES,
            heap_shots: HeapShots::Never,
            shot_at_end: false,
            port: None,
            output: Output::Report,
            is_zipped: false,
        },
    };
    for (index, argument) in split(list).iter().enumerate() {
        if argument == "help" {
            return (LogOption::Help(help()), Vec::new());
        }
        reader.argument(argument, index == 0);
    }
    let Reader { enabled, disabled, hz, clock, output, is_report, messages, mut settings, .. } = reader;
    settings.events = enabled.without(disabled);
    settings.samples = clock.map(|clock| (clock, hz));
    settings.output = output_of(output.as_deref(), is_report);
    (LogOption::Write(Box::new(settings)), messages)
}

/// Commas separate arguments; quotes and backslashes protect a comma that belongs to an argument.
pub(super) fn split(list: &str) -> Vec<String> {
    let (mut arguments, mut argument, mut quote) = (Vec::new(), String::new(), None);
    let mut rest = list.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, quote) {
            ('\\', _) => argument.extend(rest.next()),
            (',', None) => arguments.push(std::mem::take(&mut argument)),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => argument.push(c),
        }
    }
    arguments.push(argument);
    arguments.retain(|argument| !argument.is_empty());
    arguments
}

struct Reader {
    enabled: LogEvents,
    disabled: LogEvents,
    has_old_rules: bool,
    hz: u32,
    clock: Option<SampleClock>,
    output: Option<String>,
    is_report: bool,
    messages: Vec<String>,
    settings: LogSettings,
}

impl Reader {
    fn say(&mut self, message: impl Into<String>) {
        self.messages.push(message.into());
    }

    fn argument(&mut self, argument: &str, is_first: bool) {
        if is_first {
            if argument == "nodefaults" {
                return;
            }
            self.enabled = LogEvents::EXCEPTION | LogEvents::COUNTER;
            self.has_old_rules = true;
        }
        let (name, value) = argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value)));
        let number = || value.unwrap_or_default().parse::<u32>().unwrap_or(0);
        match (name, value) {
            ("nodefaults", None) => self.say("The nodefaults option can only be used as the first argument."),
            ("report", None) => self.is_report = true,
            // An option that Mono's own tests use; it is ignored.
            ("debug", None) => {}
            ("heapshot", _) => self.heap_shots(value),
            ("heapshot-on-shutdown", None) => {
                self.settings.shot_at_end = true;
                self.enabled = self.enabled | HEAP_SHOT;
            }
            ("sample", _) => self.sample(SampleClock::Processor, value),
            ("sample-real", _) => self.sample(SampleClock::Wall, value),
            ("sampling-real", _) if self.has_old_rules => self.sample(SampleClock::Wall, value),
            ("calls", None) => self.settings.calls = true,
            ("nocalls", None) if self.has_old_rules => {}
            ("coverage", None) => self.say("The log profiler no longer supports code coverage."),
            ("zip", None) => self.settings.is_zipped = true,
            ("output", _) => self.output = Some(value.unwrap_or_default().to_owned()),
            ("port", _) => match value.unwrap_or_default().parse() {
                Ok(port) => self.settings.port = Some(port),
                Err(_) => self.say(format!("Could not parse port '{}'", value.unwrap_or_default())),
            },
            ("maxframes", _) => self.settings.max_frames = (number() as usize).min(MAX_FRAMES),
            // All samples are kept until they are written.
            ("maxsamples", _) => {}
            ("calldepth", _) => self.settings.max_call_depth = number(),
            ("callspec", _) => match CallSpec::parse(value.unwrap_or_default().trim_matches('"')) {
                Ok(spec) => self.settings.callspec = spec,
                Err(error) => {
                    self.say(format!("Could not parse callspec '{}': {error}", value.unwrap_or_default()));
                }
            },
            _ => self.event(argument),
        }
    }

    fn event(&mut self, argument: &str) {
        let find = |name: &str| EVENTS.iter().find(|(known, _)| *known == name);
        let old_rules = self.has_old_rules;
        let events_of = |(name, events): &(&str, LogEvents)| {
            if old_rules && *name == "alloc" { *events | LogEvents::ROOT } else { *events }
        };
        if let Some(found) = find(argument) {
            self.enabled = self.enabled | events_of(found);
        } else if let Some(found) = argument.strip_prefix("no").and_then(find) {
            self.disabled = self.disabled | events_of(found);
        } else {
            self.say(format!("Could not parse argument '{argument}'"));
        }
    }

    fn heap_shots(&mut self, mode: Option<&str>) {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        self.settings.heap_shots = match mode {
            None => HeapShots::Full,
            Some("ondemand") => HeapShots::OnDemand,
            Some(mode) => match (mode[..digits(mode)].parse(), &mode[digits(mode)..]) {
                (Ok(count), "ms") => HeapShots::EveryMilliseconds(count),
                (Ok(count), "gc") => HeapShots::EveryCollections(count),
                _ => return self.say("Could not parse heapshot mode"),
            },
        };
        self.enabled = self.enabled | HEAP_SHOT;
        if self.has_old_rules {
            self.enabled = self.enabled | MOVES;
        }
    }

    /// The older form has a kind of event in front: "cycles/HZ".
    fn sample(&mut self, clock: SampleClock, value: Option<&str>) {
        self.clock = Some(clock);
        let Some(value) = value else { return };
        let number = value.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let number = if number.len() < value.len() { number.strip_prefix('/') } else { Some(number) };
        // A kind alone leaves the number as it is.
        let Some(number) = number else { return };
        match crate::quantities::parse_hz(number) {
            Ok(hz) => self.hz = hz,
            Err(_) => self.say("Could not parse sample frequency"),
        }
    }
}

/// Where Mono would write to: `%p` and `%t` stand for the process and the time, and a plus in front appends the
/// process.
pub(super) fn output_of(output: Option<&str>, is_report: bool) -> Output {
    if is_report {
        return Output::Report;
    }
    let process = std::process::id().to_string();
    let output = output.unwrap_or("output.mlpd");
    let (output, is_numbered) = output.strip_prefix('+').map_or((output, false), |rest| (rest, true));
    let seconds = saki_os::clock::realtime_ns() / 1_000_000_000;
    let mut output = output.replace("%p", &process).replace("%t", &time_text(seconds));
    if is_numbered {
        output.push('.');
        output.push_str(&process);
    }
    if let Some(command) = output.strip_prefix('|') {
        return Output::Command(command.to_owned());
    }
    match output.strip_prefix('#') {
        Some(descriptor) => Output::File(PathBuf::from(format!("/dev/fd/{descriptor}"))),
        None => Output::File(output.into()),
    }
}

/// The time as Mono's `%t` has it: "20261123104500".
fn time_text(unix_seconds: u64) -> String {
    let seconds = unix_seconds as libc::time_t;
    // SAFETY: all-zero bytes are a valid tm.
    let mut tm: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid.
    unsafe { libc::gmtime_r(&raw const seconds, &raw mut tm) };
    let (year, month) = (tm.tm_year + 1900, tm.tm_mon + 1);
    format!("{year}{month:02}{:02}{:02}{:02}{:02}", tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec)
}

fn help() -> String {
    let events: String = EVENTS.iter().map(|(name, _)| format!("\t                         {name}\n")).collect();
    format!(
        "Saki's log profiler, in the format of Mono's (3.0, data 17)
Usage: mono --profile=log[:OPTION1[,OPTION2...]] program.exe

Options:
\thelp                 show this
\t[no]'EVENT'          write an event, or do not
\t                     EVENT is one of:
{events}\tnodefaults           (first) write nothing that is not asked for; otherwise exceptions and counters
\tsample[-real][=FREQ] take samples of all threads, FREQ a second (100)
\t                     of processor time; -real: by wall-clock time
\theapshot[=MODE]      write all objects at full collections
\t                     MODE: every XXms milliseconds, every YYgc full collections, ondemand
\theapshot-on-shutdown write all objects at the end
\tcalls                write each call of a method (slow)
\tcallspec=SPEC        only of these: all, program, none, N:Namespace, T:Type, M:Type:Method, an assembly; - leaves out
\tcalldepth=NUM        leave calls out that are nested deeper (100)
\tmaxframes=NUM        methods of a stack (32 at most)
\toutput=FILENAME      write to this file (output.mlpd)
\toutput=+FILENAME     write to FILENAME.pid
\toutput=|PROGRAM      write to the standard input of PROGRAM
\toutput=#FD           write to a file descriptor
\t                     %t is replaced by date and time, %p by the process's number
\tport=PORTNUM         take commands at this port of the machine itself: a line \"heapshot\" writes all objects
\treport               print a report (mprof-report) in place of a file
\tzip                  compress the file
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (LogSettings, Vec<String>) {
        match parse(text) {
            (LogOption::Write(settings), messages) => (*settings, messages),
            other @ (LogOption::Help(_), _) => panic!("{text}: {other:?}"),
        }
    }

    fn settings(text: &str) -> LogSettings {
        let (settings, messages) = read(text);
        assert!(messages.is_empty(), "{text}: {messages:?}");
        settings
    }

    fn file(name: impl Into<PathBuf>) -> Output {
        Output::File(name.into())
    }

    #[test]
    fn defaults_are_monos() {
        let defaults = settings("log");
        assert_eq!((defaults.events, defaults.samples, defaults.calls), (LogEvents::NONE, None, false));
        assert_eq!((defaults.max_frames, defaults.max_call_depth), (32, 100));
        assert_eq!(defaults.output, file("output.mlpd"));
        // The first argument decides whether older rules hold.
        assert_eq!(settings("log:zip").events, LogEvents::EXCEPTION | LogEvents::COUNTER);
        assert_eq!(settings("log:nodefaults,zip").events, LogEvents::NONE);
        assert_eq!(settings("log:nodefaults,alloc").events, ALLOC);
        assert_eq!(
            settings("log:alloc,nogcmove,nocounter").events,
            LogEvents::EXCEPTION | LogEvents::GC | LogEvents::ALLOCATION | LogEvents::ROOT
        );
    }

    #[test]
    fn samples_have_both_forms() {
        assert_eq!(settings("log:sample").samples, Some((SampleClock::Processor, 100)));
        assert_eq!(settings("log:sample=cycles/250").samples, Some((SampleClock::Processor, 250)));
        assert_eq!(settings("log:sample-real=50,nocounter").samples, Some((SampleClock::Wall, 50)));
        assert_eq!(settings("log:sampling-real").samples, Some((SampleClock::Wall, 100)));
        assert_eq!(read("log:sample=0").1, ["Could not parse sample frequency"]);
    }

    #[test]
    fn outputs_are_files_programs_and_descriptors() {
        let process = std::process::id();
        assert_eq!(settings("log:output=+x%p").output, file(format!("x{process}.{process}")));
        assert_eq!(settings("log:output=|cat >\\,x").output, Output::Command("cat >,x".into()));
        assert_eq!(settings("log:output=#7").output, file("/dev/fd/7"));
        assert_eq!(settings("log:output='a,b'").output, file("a,b"));
        assert_eq!(settings("log:report,output=x").output, Output::Report);
        let Output::File(path) = settings("log:output=%t").output else { panic!() };
        assert_eq!(path.to_str().map(str::len), Some(14), "{path:?}");
    }

    #[test]
    fn heap_shots_have_modes() {
        assert_eq!(settings("log:heapshot").heap_shots, HeapShots::Full);
        assert_eq!(settings("log:heapshot=250ms").heap_shots, HeapShots::EveryMilliseconds(250));
        assert_eq!(settings("log:heapshot=3gc").heap_shots, HeapShots::EveryCollections(3));
        assert_eq!(settings("log:heapshot=ondemand").heap_shots, HeapShots::OnDemand);
        assert!(settings("log:nodefaults,heapshot-on-shutdown").shot_at_end);
        assert_eq!(read("log:heapshot=3").1, ["Could not parse heapshot mode"]);
        assert_eq!((settings("log:port=0").port, settings("log:port=4711").port), (Some(0), Some(4711)));
        assert_eq!(read("log:port=x").1, ["Could not parse port 'x'"]);
    }

    #[test]
    fn what_is_not_understood_is_said_and_passed_over() {
        let (settings, messages) = read("log:what,calls,nodefaults,calldepth=7,callspec=M:x");
        assert_eq!((settings.calls, settings.max_call_depth), (true, 7));
        assert_eq!(messages.len(), 3);
        assert_eq!(messages[0], "Could not parse argument 'what'");
        assert!(!is_log("coverage") && is_log("log:") && !is_log("logs"));
        assert!(matches!(parse("log:help"), (LogOption::Help(text), _) if text.contains("\tcalls ")));
    }
}
