//! `--profile=coverage[:OPTION,…]`: Mono's coverage profiler, with its options.
//!
//! As under Mono, options that are not understood are named on standard error and skipped.

use super::log_profiler;
use saki_runtime::vm::coverage::CoverageSettings;
use std::path::PathBuf;

/// Mono's default of `output`.
const DEFAULT_OUTPUT: &str = "coverage.xml";

/// The meaning of the option.
#[derive(Debug)]
pub enum CoverageOption {
    Record(Box<CoverageSettings>),
    Help(String),
}

/// Whether the option's value is for this profiler.
pub fn is_coverage(text: &str) -> bool {
    text == "coverage" || text.starts_with("coverage:")
}

/// Reads the text after `--profile=` for coverage; returns its meaning and messages about it.
pub fn parse(text: &str) -> (CoverageOption, Vec<String>) {
    let list = text.split_once(':').map_or("", |(_, list)| list);
    let (mut output, mut filters, mut messages) = (DEFAULT_OUTPUT.to_owned(), Vec::new(), Vec::new());
    for argument in log_profiler::split(list) {
        match argument.split_once('=') {
            None if argument == "help" => return (CoverageOption::Help(HELP.to_owned()), Vec::new()),
            Some(("output", file)) => file.clone_into(&mut output),
            Some(("covfilter-file", file)) => match std::fs::read_to_string(file) {
                Ok(text) => filters.extend(text.lines().map(|line| line.trim().to_owned())),
                Err(error) => messages.push(format!("Could not open coverage filter file '{file}': {error}")),
            },
            _ => messages.push(format!("Could not parse argument: {argument}")),
        }
    }
    let output = log_profiler::output_of(Some(&output), false);
    let settings = CoverageSettings { output, filters, framework_root: PathBuf::new() };
    (CoverageOption::Record(Box::new(settings)), messages)
}

const HELP: &str = "Saki's coverage profiler, in the format of Mono's (0.3)
Usage: mono --profile=coverage[:OPTION1[,OPTION2...]] program.exe

Options:
\thelp                 show this
\tcovfilter-file=FILE  a line of FILE is a text behind + or -: a class counts if its [assembly]Namespace.Name
\t                     contains one behind + (if there are any) and none behind -; without a + that names them,
\t                     assemblies of the class library do not count
\toutput=FILENAME      write to this file (coverage.xml)
\toutput=+FILENAME     write to FILENAME.pid
\toutput=|PROGRAM      write to the standard input of PROGRAM
\toutput=#FD           write to a file descriptor
";

#[cfg(test)]
mod tests {
    use super::*;
    use saki_profile::mlpd::output::Output;

    fn read(text: &str) -> (CoverageSettings, Vec<String>) {
        match parse(text) {
            (CoverageOption::Record(settings), messages) => (*settings, messages),
            other @ (CoverageOption::Help(_), _) => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn options_are_monos() {
        assert!(is_coverage("coverage") && is_coverage("coverage:help") && !is_coverage("coverages"));
        assert_eq!(read("coverage").0.output, Output::File("coverage.xml".into()));
        assert_eq!(read("coverage:output=a.xml").0.output, Output::File("a.xml".into()));
        assert_eq!(read("coverage:output=|cat").0.output, Output::Command("cat".into()));
        let (settings, messages) = read("coverage:zip,covfilter-file=/no/such/file");
        assert!(settings.filters.is_empty());
        assert_eq!(messages[0], "Could not parse argument: zip");
        assert!(messages[1].starts_with("Could not open coverage filter file '/no/such/file': "), "{messages:?}");
        assert!(matches!(parse("coverage:help"), (CoverageOption::Help(text), _) if text.contains("covfilter-file")));
    }
}
