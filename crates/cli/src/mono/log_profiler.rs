//! `--profile=log[:OPTION,…]`: Mono's log profiler, as a profile of Saki's in Mono's format.
//!
//! One thing is recorded at a time: samples if they are asked for, else allocations, else exceptions. What else is asked for is named on standard error, and the
//! program runs. Options that Mono does not know end it, as there. Left out: the command server, heap shots, calls, the counters.

use crate::profile_command::{Kind, ProfileRequest};
use saki_profile::Format;
use std::path::PathBuf;

/// Mono's default of `sample`.
const DEFAULT_HZ: u32 = 100;

/// Events that Mono's profiler records and this one does not; they have forms with "no" in front.
const NOT_RECORDED: [&str; 10] =
    ["monitor", "gc", "gcmove", "gcroot", "gchandle", "finalization", "jit", "legacy", "counter", "counters"];

/// Options without an effect on what is written here, up to the equals sign.
const WITHOUT_EFFECT: [&str; 8] =
    ["maxframes", "maxsamples", "calldepth", "port", "debug", "zip", "nodefaults", "noexception"];

/// Reads what follows `--profile=`.
///
/// # Errors
/// What Mono says of an option that it does not know, or there is no such profiler.
pub fn parse(text: &str) -> Result<ProfileRequest, String> {
    let (module, list) = text.split_once(':').unwrap_or((text, ""));
    if module != "log" {
        return Err(format!("The '{module}' profiler is not there; 'log' is.\n"));
    }
    let mut kind = None;
    let (mut output, mut not_recorded) = (String::from("output.mlpd"), Vec::new());
    let mut request = ProfileRequest { formats: vec![Format::Mlpd], ..ProfileRequest::new(&[Kind::Exceptions]) };
    for option in list.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        match name {
            "sample" | "sample-real" => {
                kind = Some(if name == "sample" { Kind::Cpu } else { Kind::Wall });
                // The older form has a kind of event in front: cycles/HZ.
                let hz = value.map(|value| value.rsplit('/').next().unwrap_or(value));
                request.hz = Some(match hz {
                    None => DEFAULT_HZ,
                    Some(hz) => crate::profile_command::parse_hz(hz).map_err(|error| format!("{option}: {error}\n"))?,
                });
            }
            "alloc" | "gcalloc" => {
                kind = kind.or(Some(Kind::Alloc));
                // Each one.
                request.alloc_bytes = 1;
            }
            "exception" => {}
            "output" => output = value.unwrap_or_default().to_owned(),
            "calls" | "callspec" => not_recorded.push("calls"),
            "heapshot" | "heapshot-on-shutdown" => not_recorded.push("heapshot"),
            "report" => not_recorded.push("report"),
            _ if WITHOUT_EFFECT.contains(&name) => {}
            _ => match NOT_RECORDED.iter().find(|known| **known == name) {
                Some(known) => not_recorded.push(known),
                None if name.strip_prefix("no").is_some_and(is_event) => {}
                None => return Err(format!("Could not parse: {option}\n")),
            },
        }
    }
    request.kinds = vec![kind.unwrap_or(Kind::Exceptions)];
    if output.starts_with(['|', '#']) {
        return Err(format!("output={output}: only files are written\n"));
    }
    request.output = Some(path_of(&output));
    request.not_recorded = not_recorded;
    Ok(request)
}

fn is_event(name: &str) -> bool {
    NOT_RECORDED.contains(&name) || matches!(name, "alloc" | "gcalloc" | "exception")
}

/// The file that Mono would write to: `%p` and `%t` stand for the process and the time, and a plus in front appends the process.
fn path_of(output: &str) -> PathBuf {
    let process = std::process::id().to_string();
    let (output, is_numbered) = output.strip_prefix('+').map_or((output, false), |rest| (rest, true));
    let seconds = saki_os::clock::realtime_ns() / 1_000_000_000;
    let mut path = output.replace("%p", &process).replace("%t", &seconds.to_string());
    if is_numbered {
        path.push('.');
        path.push_str(&process);
    }
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Kind, Option<u32>, String, Vec<&'static str>) {
        let request = parse(text).unwrap();
        let output = request.output.unwrap().display().to_string();
        (request.kinds[0], request.hz, output, request.not_recorded)
    }

    #[test]
    fn monos_options_are_read() {
        assert_eq!(read("log:sample"), (Kind::Cpu, Some(100), "output.mlpd".into(), vec![]));
        assert_eq!(read("log:sample=cycles/250,output=a"), (Kind::Cpu, Some(250), "a".into(), vec![]));
        assert_eq!(read("log:sample-real=50,nocounter,maxframes=8").0, Kind::Wall);
        assert_eq!(read("log").0, Kind::Exceptions);
        assert_eq!(
            read("log:nodefaults,alloc,calls,gc"),
            (Kind::Alloc, None, "output.mlpd".into(), vec!["calls", "gc"])
        );
        let process = std::process::id();
        assert_eq!(read("log:sample,output=+x%p").2, format!("x{process}.{process}"));
        assert_eq!(parse("log:sample,what").err().as_deref(), Some("Could not parse: what\n"));
        assert!(parse("coverage").is_err() && parse("log:sample=0").is_err() && parse("log:output=|cat").is_err());
    }
}
