//! The header of a test program: `// key: value` lines at the top of the source file.
//!
//! | key | meaning |
//! |---|---|
//! | `exit: N` or `exit: nonzero` | expected exit code (default 0); 134 is also SIGABRT |
//! | `args: A B` | command-line arguments, split at white space |
//! | `stdin: TEXT` | standard input; `\n`, `\t` and `\\` are escapes |
//! | `env: NAME=VALUE` | an environment variable; may be repeated |
//! | `stderr-contains: TEXT` | a text that standard error must contain; may be repeated |
//! | `mcs: OPTIONS` | further compiler options, e.g. `-unsafe` |
//! | `csc: OPTIONS` | options of the C# 12 compiler, e.g. `-pdb`; `-resource:FILE,NAME` is relative to the source |
//! | `host: hostfxr` | for .NET: Saki asks .NET's host, as for users, since the program asks it, too |
//! | `timeout: SECONDS` | wall-clock limit of one run (default: DEFAULT_TIMEOUT_SECONDS) |
//! | `stress: skip REASON` | not run under GC stress, and why |
//! | `first-tier: skip REASON` | not run as the baseline compiler compiles it (`--tiers 1`), and why |
//! | `green: skip REASON` | not run on green and M:N threads, and why |
//! | `net: skip REASON` | not compared with .NET (`--net`), and why: undefined there, or a part of Mono |
//! | `libraries: 6.8,6.12` | run on the class libraries of these versions of Mono alone: it calls what others lack |
//! | `io: each` | run once for each I/O model (`SAKI_IO`), except under GC stress, which takes the one that goes with the threads |
//! | `pending: REASON` | needs what Saki does not have yet; the suite fails when the program passes all the same |
//!
//! Other comment lines at the top are prose. The header ends at the first line that is not a comment.

use saki_contract::Versions;

/// The limit is there for programs that hang, not for slow ones. Few programs take more than 4 s on a machine that does
/// nothing else; with eight at once beside three busy processes, on two processors, some took 18 s.
const DEFAULT_TIMEOUT_SECONDS: u64 = 60;

/// Expected end of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpectedExit {
    Code(i32),
    /// Any code but 0, or a signal: how a VM dies is its own affair.
    NonZero,
}

/// What a program's header says of how it is run and what is expected.
#[derive(PartialEq, Eq, Debug)]
pub struct Header {
    pub exit: ExpectedExit,
    pub arguments: Vec<String>,
    pub stdin: String,
    pub environment: Vec<(String, String)>,
    pub stderr_contains: Vec<String>,
    pub compiler_options: Vec<String>,
    /// Further options of the C# 12 compiler, for modern .NET.
    pub csc_options: Vec<String>,
    pub timeout_seconds: u64,
    /// Saki finds .NET through .NET's own host, which the program asks at run time.
    pub is_hosted: bool,
    /// The reason why GC stress leaves this program out.
    pub stress_skip: Option<String>,
    /// The reason why runs of the baseline compiler's code leave this program out.
    pub first_tier_skip: Option<String>,
    /// The reason why runs on green and M:N threads leave this program out.
    pub green_skip: Option<String>,
    /// The reason why `--net` leaves this program out.
    pub net_skip: Option<String>,
    /// The versions of the class libraries that it runs on.
    pub libraries: Versions,
    /// Run with each I/O model.
    pub each_io_model: bool,
    /// What Saki lacks for this program.
    pub pending: Option<String>,
}

impl Default for Header {
    fn default() -> Self {
        Header {
            exit: ExpectedExit::Code(0),
            arguments: Vec::new(),
            stdin: String::new(),
            environment: Vec::new(),
            stderr_contains: Vec::new(),
            compiler_options: Vec::new(),
            csc_options: Vec::new(),
            timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
            is_hosted: false,
            stress_skip: None,
            first_tier_skip: None,
            green_skip: None,
            net_skip: None,
            libraries: Versions::MONO,
            each_io_model: false,
            pending: None,
        }
    }
}

/// Reads the header of `source`. Errors: a known key with a value of the wrong form.
pub fn parse(source: &str) -> Result<Header, String> {
    let mut header = Header::default();
    for line in source.lines() {
        let Some(comment) = line.trim_start_matches('\u{feff}').strip_prefix("//") else { break };
        let Some((key, value)) = comment.split_once(':') else { continue };
        let value = value.trim();
        let words = || value.split_whitespace().map(str::to_owned);
        match key.trim() {
            "exit" if value == "nonzero" => header.exit = ExpectedExit::NonZero,
            "exit" => header.exit = ExpectedExit::Code(number(value, "exit")?),
            "args" => header.arguments.extend(words()),
            "stdin" => header.stdin.push_str(&unescape(value)),
            "env" => {
                let (name, value) = value.split_once('=').ok_or("env: wants NAME=VALUE")?;
                header.environment.push((name.to_owned(), value.to_owned()));
            }
            "stderr-contains" => header.stderr_contains.push(value.to_owned()),
            "mcs" => header.compiler_options.extend(words()),
            "csc" => header.csc_options.extend(words()),
            "host" if value == "hostfxr" => header.is_hosted = true,
            "host" => return Err("host: wants `hostfxr`".to_owned()),
            "timeout" => header.timeout_seconds = number(value, "timeout")?,
            "green" => {
                let reason = value.strip_prefix("skip ").ok_or("green: wants `skip REASON`")?;
                header.green_skip = Some(reason.to_owned());
            }
            "first-tier" => {
                let reason = value.strip_prefix("skip ").ok_or("first-tier: wants `skip REASON`")?;
                header.first_tier_skip = Some(reason.to_owned());
            }
            "stress" => {
                let reason = value.strip_prefix("skip ").ok_or("stress: wants `skip REASON`")?;
                header.stress_skip = Some(reason.to_owned());
            }
            "net" => {
                let reason = value.strip_prefix("skip ").ok_or("net: wants `skip REASON`")?;
                header.net_skip = Some(reason.to_owned());
            }
            "libraries" => header.libraries = Versions::parse(value).ok_or("libraries: wants versions of Mono")?,
            "io" if value == "each" => header.each_io_model = true,
            "io" => return Err("io: wants `each`".to_owned()),
            "pending" if value.is_empty() => return Err("pending: wants a reason".to_owned()),
            "pending" => header.pending = Some(value.to_owned()),
            _ => {}
        }
    }
    Ok(header)
}

fn number<T: std::str::FromStr>(value: &str, key: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key}: {value} is not a number in range"))
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let header = parse(
            "// Says hello: prose with a colon is no key.\n// exit: 3\n// args: a b\n// stdin: x\\ty\\n\n\
             // env: A=b=c\n// stderr-contains: Unhandled\n// mcs: -unsafe -r:X.dll\n// csc: -pdb\n// host: hostfxr\n// timeout: 5\n\
             // stress: skip too many collections\n// green: skip not yet\n// first-tier: skip slots\n// net: skip of Mono\n// libraries: 6.8\n// io: each\n\
             // pending: no sockets\nclass P {}\n// exit: 9\n",
        );
        let expected = Header {
            exit: ExpectedExit::Code(3),
            arguments: vec!["a".into(), "b".into()],
            stdin: "x\ty\n".into(),
            environment: vec![("A".into(), "b=c".into())],
            stderr_contains: vec!["Unhandled".into()],
            compiler_options: vec!["-unsafe".into(), "-r:X.dll".into()],
            csc_options: vec!["-pdb".into()],
            timeout_seconds: 5,
            is_hosted: true,
            stress_skip: Some("too many collections".into()),
            first_tier_skip: Some("slots".into()),
            green_skip: Some("not yet".into()),
            net_skip: Some("of Mono".into()),
            libraries: Versions::parse("6.8").expect("a version"),
            each_io_model: true,
            pending: Some("no sockets".into()),
        };
        assert_eq!(header, Ok(expected));
    }

    #[test]
    fn a_bad_value_is_an_error() {
        assert!(parse("// exit: maybe\n").is_err());
        assert!(parse("// env: NAME\n").is_err());
        assert!(parse("// pending:\n").is_err());
        assert!(parse("// io: poll\n").is_err());
        assert!(parse("// net: no\n").is_err());
        assert!(parse("// libraries: 6.8,7\n").is_err());
        assert_eq!(parse("// exit: nonzero\n").map(|h| h.exit), Ok(ExpectedExit::NonZero));
    }
}
