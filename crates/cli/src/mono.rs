//! Mono's command line, which Saki takes when it is called by the name `mono`.
//!
//! Launchers and scripts say `mono --debug app.exe` and set MONO_GC_PARAMS. An option of mono(1) that has a meaning for
//! Saki has its documented effect; an option without one is accepted and ignored; an option that asks for something
//! that Saki cannot do is refused with the reason, and one that Mono does not know is refused by name. Errors have
//! Mono's texts and exit codes. `table` lists the options, `variables` the environment variables, and
//! `docs/mono-options.md` is made from both. The variables take effect under either name of the command, except
//! MONO_ENV_OPTIONS, which holds options of this command line.

mod arguments;
mod collector;
pub mod coverage_profiler;
mod help;
pub mod log_profiler;
mod table;
mod variables;

use crate::environment;
use crate::exit::{EXIT_UNUSABLE, Stop};
use crate::info;
use crate::options::Options;
use crate::profile::option::ProfileOption;
use saki_base::tell;
use saki_metadata::{Image, OpenError};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use table::{EXIT_REFUSED, Meaning};

/// Names under which Saki takes Mono's command line; Debian's launchers use the first, binfmt_misc the last.
const NAMES: [&str; 3] = ["mono", "mono-sgen", "cli"];

/// Whether a command called so takes Mono's command line.
pub fn is_name(command: &OsStr) -> bool {
    Path::new(command).file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known))
}

/// Applies Mono's environment variables to options that Saki's own options leave open, under either name of the
/// command.
///
/// # Errors
/// A value that Mono refuses, too.
pub fn apply_environment(options: Options) -> Result<Options, Stop> {
    CommandLine { options, ..CommandLine::default() }.with_environment()
}

/// The parsed options of Mono's command line.
#[derive(Debug, Default)]
struct CommandLine {
    options: Options,
    /// `--gc-params=`, which the environment variable follows.
    collector: String,
    /// `--gc-debug=`.
    collector_debug: String,
    /// Profilers and debuggers to which code is described, under the names of `saki --perf`.
    tools: Vec<&'static str>,
}

impl CommandLine {
    /// The options, completed by the variables where they leave something open.
    fn with_environment(mut self) -> Result<Options, Stop> {
        let read = |name: &str| environment::text(name).unwrap_or_default();
        let options = &mut self.options;
        collector::apply(options, &self.collector, &read("MONO_GC_PARAMS"));
        collector::apply_debug(options, &self.collector_debug);
        collector::apply_debug(options, &read("MONO_GC_DEBUG"));
        variables::set_debug_options(&read("MONO_DEBUG"), &mut self.tools)?;
        if environment::is_set("MONO_XDEBUG") {
            self.tools.push("gdb");
        }
        if environment::is_set("MONO_NO_SMP") {
            variables::stay_on_one_processor();
        }
        if !self.tools.is_empty() && options.perf.is_none() {
            options.perf = self.tools.join(",").parse().ok();
        }
        Ok(self.options)
    }
}

/// Reads the words behind the command's name.
///
/// # Errors
/// Mono's message and exit code.
pub fn parse(words: Vec<OsString>) -> Result<Options, Stop> {
    let from_environment = environment::text("MONO_ENV_OPTIONS").unwrap_or_default();
    let from_environment = arguments::split(&from_environment).map_err(|text| Stop::error(EXIT_REFUSED, text))?;
    let words = from_environment.into_iter().map(OsString::from).chain(words).collect();
    let mut line = CommandLine::default();
    let mut command = options_of(words, &mut line)?;
    if command.is_empty() {
        return Err(Stop { text: help::usage(), goes_to_standard_output: true, exit_code: EXIT_REFUSED });
    }
    let program = command.remove(0);
    line.options.command.push(program.into_string().map_err(|program| {
        Stop::error(EXIT_UNUSABLE, format!("Cannot open assembly '{}': not UTF-8.\n", program.display()))
    })?);
    line.options.command.extend(arguments::to_text(command)?);
    line.with_environment()
}

/// Takes the options from the front of `words`; the rest.
fn options_of(mut words: Vec<OsString>, line: &mut CommandLine) -> Result<Vec<OsString>, Stop> {
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let word = word.to_string_lossy().into_owned();
        if !word.starts_with('-') {
            break;
        }
        index += 1;
        let Some((option, value)) = table::find(&word) else {
            if let Some(debug) = word.strip_prefix("--")
                && variables::is_debug_option(debug)
            {
                variables::set_debug_option(debug, &mut line.tools);
                continue;
            }
            return Err(Stop::error(EXIT_REFUSED, format!("Unknown command line option: '{word}'\n")));
        };
        // "--config FILE": the words behind it are its own.
        let count = option.spelling.split(' ').count() - 1;
        let behind: Vec<OsString> = words.iter().skip(index).take(count).cloned().collect();
        if behind.len() < count {
            return Err(Stop::error(EXIT_REFUSED, format!("error: {word} requires {count} argument(s)\n")));
        }
        index += count;
        if option.meaning == Meaning::Response {
            words.extend(arguments::of_response_file(value)?.into_iter().map(OsString::from));
            continue;
        }
        act(option.meaning, value, behind, line)?;
    }
    Ok(words.split_off(index))
}

fn act(meaning: Meaning, value: &str, behind: Vec<OsString>, line: &mut CommandLine) -> Result<(), Stop> {
    let refuse = |text: String| Err(Stop::error(EXIT_REFUSED, text));
    match meaning {
        Meaning::Accepted | Meaning::Response => {}
        Meaning::Refused(text) => return refuse(format!("{text}\n")),
        Meaning::Version => return Err(Stop::answer(help::version())),
        Meaning::VersionNumber => return Err(Stop::answer(format!("{}\n", help::mono_version()))),
        Meaning::Usage => return Err(Stop::answer(help::usage())),
        Meaning::Text(text) => return Err(Stop::answer(text)),
        Meaning::ListOptimizations => return Err(Stop::answer(help::optimizations())),
        Meaning::Optimize => {
            if let Some(unknown) = value.split(',').find(|name| !table::is_optimization(name)) {
                return refuse(format!("Invalid optimization name `{unknown}'\n"));
            }
        }
        Meaning::Debug => {
            for option in value.split(',').filter(|_| !value.is_empty()) {
                match option {
                    "casts" | "mdb-optimizations" => {}
                    "gdb" => line.tools.push("gdb"),
                    _ => {
                        return refuse(format!("Invalid debug option `{option}', use --help-debug for details\n"));
                    }
                }
            }
        }
        Meaning::Security => match value {
            "" | "validil" | "verifiable" => {}
            "cas" => tell!("warning: --security=cas not supported."),
            "core-clr" | "core-clr-test" => {
                return refuse(format!("error: --security={value} is not supported by Saki\n"));
            }
            _ => {
                return refuse(
                    "error: --security= option has invalid argument (cas, core-clr, verifiable or validil)\n"
                        .to_owned(),
                );
            }
        },
        Meaning::AssemblyLoader => {
            if !matches!(value, "strict" | "legacy") {
                tell!("Warning: unknown argument to --assembly-loader. Should be \"strict\" or \"legacy\"");
            }
        }
        Meaning::Runtime => {
            if !value.starts_with("v4.") {
                tell!("WARNING: The requested runtime version \"{value}\" is unavailable.");
                tell!("Using default runtime: v4.0.30319");
            }
        }
        Meaning::CollectorParameters => line.collector = value.to_owned(),
        Meaning::CollectorDebug => line.collector_debug = value.to_owned(),
        Meaning::Config => line.options.config = behind.into_iter().next().map(PathBuf::from),
        Meaning::Verbose => line.options.trace_compile = true,
        Meaning::Statistics => line.options.stats = true,
        Meaning::PerfMap => line.tools.push("map"),
        Meaning::Trace => match value.parse() {
            Ok(spec) => line.options.trace = Some(spec),
            Err(text) => return refuse(format!("{text}\n")),
        },
        Meaning::Profile => {
            let value = if value.is_empty() { "log" } else { value };
            if !log_profiler::is_log(value) && !coverage_profiler::is_coverage(value) {
                return refuse(log_profiler::no_such_profiler(value));
            }
            match value.parse() {
                Ok(ProfileOption::Help(text)) => return Err(Stop::answer(text)),
                Ok(option) => line.options.profile = Some(option),
                Err(text) => return refuse(text + "\n"),
            }
        }
    }
    Ok(())
}

/// Checks that the file can be a program at all; errors have Mono's text and exit code.
pub fn check_program(path: &Path) -> Result<(), Stop> {
    let cannot_open = |why: &str| {
        let text = format!("Cannot open assembly '{}': {why}.\n", path.display());
        Stop::error(EXIT_UNUSABLE, text)
    };
    let image = match Image::open(path) {
        Ok(image) => image,
        Err(OpenError::NotFound { .. }) => return Err(cannot_open("No such file or directory")),
        Err(OpenError::Io { error, .. }) => return Err(cannot_open(&error.to_string())),
        Err(_) => return Err(cannot_open("File does not contain a valid CIL image")),
    };
    if image.assembly().is_some() && image.entry_point_token().is_nil() {
        let text = format!("Assembly '{}' doesn't have an entry point.\n", path.display());
        return Err(Stop::error(EXIT_REFUSED, text));
    }
    info::check_image(&image, path).map_err(|text| Stop::error(EXIT_UNUSABLE, format!("mono: {text}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<(CommandLine, Vec<OsString>), Stop> {
        let mut line = CommandLine::default();
        let rest = options_of(text.split_whitespace().map(OsString::from).collect(), &mut line)?;
        Ok((line, rest))
    }

    fn refusal(text: &str) -> String {
        let stop = line(text).expect_err(text);
        assert_eq!(stop.exit_code, EXIT_REFUSED, "{text}");
        assert!(!stop.goes_to_standard_output, "{text}");
        stop.text.trim_end().to_owned()
    }

    #[test]
    fn options_without_a_meaning_are_accepted() {
        let all = "--debug --server --desktop -O=all,-inline --optimize=loop --gc=sgen --runtime=v4.0.30319 --llvm --nollvm \
                   --attach=disable --interp=x --break-at-bb A 3 --assembly-loader=strict --no-gdb-backtrace app.exe --debug";
        assert_eq!(line(all).unwrap().1, ["app.exe", "--debug"]);
    }

    #[test]
    fn options_with_a_meaning_do_it() {
        let (line, rest) =
            line("-v --stats --jitmap --debug=gdb,casts --config x.conf --gc-params=nursery-size=64m a.exe").unwrap();
        assert!(line.options.trace_compile && line.options.stats);
        assert_eq!(line.tools, ["map", "gdb"]);
        assert_eq!(line.options.config.as_deref(), Some(Path::new("x.conf")));
        assert_eq!(line.collector, "nursery-size=64m");
        assert_eq!(rest, ["a.exe"]);
        let (line, _) = super::tests::line("--trace=program,-T:A --profile=coverage:output=c.xml a.exe").unwrap();
        assert_eq!(line.options.trace, Some("program,-T:A".parse().unwrap()));
        assert!(matches!(line.options.profile, Some(ProfileOption::Coverage(..))));
    }

    #[test]
    fn unknown_options_are_refused_by_name() {
        assert_eq!(refusal("--no-such-option a.exe"), "Unknown command line option: '--no-such-option'");
        assert_eq!(refusal("--gc=other a.exe"), "Unknown command line option: '--gc=other'");
        assert_eq!(refusal("-O=fast a.exe"), "Invalid optimization name `fast'");
        assert_eq!(refusal("--debug=x a.exe"), "Invalid debug option `x', use --help-debug for details");
        assert_eq!(refusal("--profile=aot a.exe"), "The 'aot' profiler is not there; 'log' and 'coverage' are.");
        assert_eq!(refusal("--trace=Q:x a.exe"), "Syntax error at or around 'Q:x'");
        assert_eq!(refusal("--config"), "error: --config requires 1 argument(s)");
    }

    #[test]
    fn what_saki_cannot_do_is_refused_with_the_reason() {
        for option in ["--aot", "--debugger-agent=transport=dt_socket", "--compile-all"] {
            let text = refusal(&format!("{option} a.exe"));
            let name = option.split('=').next().unwrap_or_default();
            assert!(text.contains(name) && text.contains("Saki"), "{option}: {text}");
        }
    }

    #[test]
    fn only_monos_names_take_monos_command_line() {
        for (name, expected) in [("mono", true), ("/usr/bin/cli", true), ("./mono-sgen", true), ("saki", false)] {
            assert_eq!(is_name(OsStr::new(name)), expected, "{name}");
        }
    }
}
