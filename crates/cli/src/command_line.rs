//! The command line: subcommands and what they ask for.
//!
//! `saki app.exe …` is the default command: everything behind the program is the program's. A first word that names a
//! subcommand is that subcommand, even if a file of that name exists (`saki ./info` runs the file). All help texts, man
//! pages and shell completions come from these definitions and those of the options (`generate`, `complete`). Left out:
//! Mono's command line (`mono`).

use crate::action::Action;
use crate::bundle::default_framework_root;
use crate::cache_command::CacheAction;
use crate::complete;
use crate::counters::words::CounterWords;
use crate::executable;
use crate::exit::Stop;
use crate::options::{Options, SHELL, VERSION};
use crate::profile::heap_words::HeapWords;
use crate::profile::kind::{ABOUT_HEAP, HEAP, KindWord, ProfileKind, parse_kinds};
use crate::profile::words::ProfileWords;
use crate::run_source::{self, RunCommand, is_source};
use crate::suggestion;
use clap::error::ContextKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use saki_dotnet::HostOptions;
use saki_hosting::environment;
use saki_hosting::settings::SETTINGS;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Runs .NET programs (CIL assemblies) on Mono's class libraries.
#[derive(Parser, Debug)]
#[command(name = "saki", version = VERSION, about, long_about = None, arg_required_else_help = true)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(override_usage = "saki [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki COMMAND [...]")]
#[command(
    after_help = "Everything behind PROGRAM is the program's. A file with the name of a command is run as ./NAME.\n\
'saki help COMMAND' tells more. Called by the name 'mono', Saki takes Mono's command line.\n\
Environment: MONO_PATH adds directories to search for assemblies; docs/mono-options.md lists Mono's other variables."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Commands>,
    #[command(flatten)]
    program: ProgramCommand,
}

/// The default command.
#[derive(Parser, Debug)]
#[command(name = "saki", version = VERSION, arg_required_else_help = true)]
struct ProgramCommand {
    /// The program, a CIL executable or C# source, and its arguments
    #[arg(trailing_var_arg = true, required = true, num_args = 1.., value_names = ["PROGRAM", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    #[command(flatten)]
    options: Options,
}

/// The subcommands, in the order of the help.
#[derive(Subcommand, Debug)]
enum Commands {
    /// Run a program, or compile C# sources and run the result
    #[command(
        override_usage = "saki run [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki run [OPTIONS] [-COMPILER_OPTION]... SOURCE.cs... [--] [ARGUMENTS]...",
        after_help = "Sources are compiled with mcs.exe, run by Saki itself, or with --net by an installed .NET SDK; what comes out is kept in the cache. Options with one dash\n\
are the compiler's (-r:lib.dll, -unsafe, -define:X), those with two dashes Saki's. '--' ends the sources.\n\
A source '-' is read from standard input. One that begins with '#!/usr/bin/env -S saki run' needs no '.cs' and runs by its name."
    )]
    Run(RunWords),
    /// Run a program for .NET as 'dotnet exec' does, with options of .NET's host
    #[command(
        override_usage = "saki exec [OPTIONS] PROGRAM [ARGUMENTS]...",
        after_help = "The program runs on an installed .NET, whatever it refers to. A file called 'exec' is run as ./exec."
    )]
    Exec(ExecWords),
    /// Start an interactive C# shell (Debian's mono-csharp-shell)
    Repl(ReplWords),
    /// Show an assembly's identity, references and entry point
    Info {
        /// Assemblies or modules
        #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// Show what Saki finds on this machine, and what it does about it
    #[command(after_help = "The exit code is 1 when a program could not run.")]
    Doctor {
        #[command(flatten)]
        framework: FrameworkRoot,
    },
    /// Run a program and show where it spends its time, or show a profile that was written
    #[command(arg_required_else_help = true)]
    Profile(Box<ProfileCommand>),
    /// Show figures of a program while it runs: processor time, memory, collections, locks, the thread pool
    #[command(
        arg_required_else_help = true,
        override_usage = "saki counters [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki counters [OPTIONS] --pid PID"
    )]
    Counters(Box<CounterWords>),
    /// Run 'dotnet' with these words, on Saki in place of CoreCLR
    #[command(
        disable_help_flag = true,
        override_usage = "saki dotnet [WORDS]...",
        after_help = "All words are dotnet's, but for a single --environment, which shows two variables. They lead its host to Saki's libcoreclr.so; neither .NET nor the program is changed.\n\
A single --components shows a variable for programs in other languages that load .NET by its host's functions (pythonnet, node-api-dotnet).\n\
Saki's options are variables (SAKI_THREADS=mn) or properties of the program's runtimeconfig.json (\"Saki.Threads\": \"mn\")."
    )]
    Dotnet {
        /// The words
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
        words: Vec<OsString>,
    },
    /// Show, empty or fill the code cache
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Cache {
        #[command(subcommand)]
        action: CacheCommands,
    },
    /// Write man pages and shell completions below DIR, where a system looks for them below its prefix
    #[command(hide = true)]
    Generate {
        /// The prefix
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

/// Words that are subcommands when they come first (a test compares them with the definitions).
const COMMAND_NAMES: [&str; 11] =
    ["run", "exec", "repl", "info", "doctor", "profile", "counters", "dotnet", "cache", "generate", "help"];

/// `saki run`.
#[derive(Args, Debug)]
struct RunWords {
    /// The program or the C# sources, and the program's arguments
    #[arg(trailing_var_arg = true, required = true, num_args = 1.., value_names = ["PROGRAM|SOURCE.cs", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    #[command(flatten)]
    options: Options,
}

/// `saki exec`, in place of `dotnet exec`: programs that start others say it, with the process that runs them as the
/// command.
#[derive(Args, Debug)]
struct ExecWords {
    /// The program (a .dll or .exe) and its arguments
    #[arg(trailing_var_arg = true, required = true, num_args = 1.., value_names = ["PROGRAM", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    #[command(flatten)]
    options: Options,

    // Last, since its heading is for all that follows.
    #[command(flatten)]
    host: HostWords,
}

/// The options of .NET's host. It reads the values, and takes the last of those that it wants once; a folder of class
/// libraries (`--framework`) leaves nothing for it to decide.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of .NET's host")]
struct HostWords {
    /// Read the program's configuration from FILE [default: PROGRAM.runtimeconfig.json]
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, conflicts_with = "framework")]
    #[arg(value_hint = ValueHint::FilePath)]
    runtimeconfig: Vec<String>,

    /// Read the program's assemblies from FILE [default: PROGRAM.deps.json]
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, conflicts_with = "framework")]
    #[arg(value_hint = ValueHint::FilePath)]
    depsfile: Vec<String>,

    /// Read more assemblies from FILE
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, conflicts_with = "framework")]
    #[arg(value_hint = ValueHint::FilePath)]
    additional_deps: Vec<String>,

    /// Look for the packages of assemblies in DIR, too
    #[arg(long, value_name = "DIR", allow_hyphen_values = true, conflicts_with = "framework")]
    #[arg(value_hint = ValueHint::DirPath)]
    additionalprobingpath: Vec<String>,

    /// Run on this version of the framework
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true, conflicts_with = "framework")]
    fx_version: Vec<String>,

    /// Which newer version of the framework will do: LatestPatch, Minor, LatestMinor, Major, LatestMajor, Disable
    #[arg(long, value_name = "POLICY", allow_hyphen_values = true, conflicts_with = "framework")]
    roll_forward: Vec<String>,

    /// The older form of --roll-forward: 0, 1 or 2
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "framework", hide = true)]
    roll_forward_on_no_candidate_fx: Vec<String>,
}

impl HostWords {
    fn into_options(self) -> HostOptions {
        let mut options = HostOptions::default();
        for (name, values) in [
            ("--runtimeconfig", self.runtimeconfig),
            ("--depsfile", self.depsfile),
            ("--additional-deps", self.additional_deps),
            ("--additionalprobingpath", self.additionalprobingpath),
            ("--fx-version", self.fx_version),
            ("--roll-forward", self.roll_forward),
            ("--roll-forward-on-no-candidate-fx", self.roll_forward_on_no_candidate_fx),
        ] {
            values.iter().for_each(|value| options.add(name, value));
        }
        options
    }
}

/// `saki repl`.
#[derive(Args, Debug)]
struct ReplWords {
    /// The shell's options and scripts: -r:LIBRARY, -e EXPRESSION, FILE.cs
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS", value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    #[command(flatten)]
    options: Options,
}

/// `saki profile`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    override_usage = "saki profile [KINDS] [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki profile [KINDS] [OPTIONS] --pid PID\n       saki profile COMMAND [...]",
    after_help = kinds_help()
)]
struct ProfileCommand {
    #[command(subcommand)]
    action: Option<ProfileCommands>,

    #[command(flatten)]
    words: ProfileWords,
}

fn kinds_help() -> String {
    let kinds = ProfileKind::ALL.iter().map(|kind| (kind.name(), kind.about()));
    let rows = kinds.chain([(HEAP, ABOUT_HEAP)]).map(|(name, about)| format!("\n  {name:<12}{about}"));
    format!("KINDS, several with commas [default: cpu]:{}", rows.collect::<String>())
}

/// Subcommands that show stored profiles, and heap snapshots.
#[derive(Subcommand, Debug)]
enum ProfileCommands {
    /// Show what is alive when a program ends, and what keeps it alive
    #[command(
        override_usage = "saki profile heap [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki profile heap [OPTIONS] --pid PID"
    )]
    Heap(Box<HeapWords>),
    /// Show a profile (pprof, speedscope, firefox, mlpd, html or folded) as a table and a call tree, or a heap snapshot
    View {
        /// The profile or snapshot
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Of a heap snapshot: say why the objects of this type are alive
        #[arg(long, value_name = "TYPE")]
        why: Vec<String>,
    },
    /// Show whose shares differ between two profiles (pprof, speedscope, firefox, mlpd, html or folded), or which types
    /// grew between two heap snapshots
    Diff {
        /// The earlier one
        #[arg(value_name = "BEFORE", value_hint = ValueHint::FilePath)]
        before: PathBuf,
        /// The later one
        #[arg(value_name = "AFTER", value_hint = ValueHint::FilePath)]
        after: PathBuf,
        /// Write a page (FILE.html) of both, or a flame graph (svg, or - for standard output) of AFTER: red where more
        /// was spent than in BEFORE, blue where less; of two snapshots a page
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
}

/// `saki cache`.
#[derive(Subcommand, Debug)]
enum CacheCommands {
    /// List the files of compiled code, and those that an installation shares
    Stat,
    /// Remove the files of compiled code
    Clear,
    /// Compile what most programs use of the class library, and the C# compiler
    Seed {
        #[command(flatten)]
        framework: FrameworkRoot,
        /// Of the newest .NET's class libraries (compiled by its SDK's compiler, or by mcs)
        #[arg(long)]
        net: bool,
    },
}

/// `--framework` where it is the only option.
#[derive(Args, Debug)]
struct FrameworkRoot {
    /// Directory of the class libraries [default: /usr/lib/mono; in a bundle, those that came with saki]
    #[arg(long, value_name = "DIR", default_value_os_t = default_framework_root(), hide_default_value = true, value_hint = ValueHint::DirPath)]
    framework: PathBuf,
}

/// Reads a command line, without the command's own name.
///
/// # Errors
/// The words make no sense, or ask for help.
pub fn parse(words: Vec<OsString>) -> Result<(&'static str, Action), Stop> {
    if words.first().is_some_and(|word| word == complete::WORD) {
        let words = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        return Ok(("saki", Action::Complete { words }));
    }
    if let Some(options) = plain_program(&words) {
        return Ok(("saki", Action::Run(Box::new(options))));
    }
    let name = words.first().and_then(|word| COMMAND_NAMES.iter().find(|name| word == **name)).copied();
    let (words, compiler_options) = match name {
        Some("run") => separate_run_options(words),
        Some("profile") => (name_kinds(words)?, Vec::new()),
        Some("dotnet") => (words, Vec::new()),
        Some(_) => (explain_help(words), Vec::new()),
        None => (words, Vec::new()),
    };
    let before = |program: &[String]| executable::options_before(&words, program.len());
    let matches = Cli::command()
        .try_get_matches_from(std::iter::once(OsString::from("saki")).chain(words.iter().cloned()))
        .map_err(|mut e| stop(&mut e, name))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|mut e| stop(&mut e, name))?;
    let given = given_options(&matches);
    if is_on_command_line(&matches, "net") && is_on_command_line(&matches, "no_net") {
        return Err(Stop::refuse(&called(name), "the argument '--net' cannot be used with '--no-net'"));
    }
    let (name, action) = match cli.command {
        None => {
            let before = before(&cli.program.words);
            let options = Options { command: cli.program.words, words: before, ..cli.program.options };
            ("saki", Action::Run(Box::new(options)))
        }
        Some(Commands::Run(run)) => {
            let options = Options { command: run.words, given: given.clone(), ..run.options };
            if !is_source(options.program()) && !run_source::is_script(Path::new(options.program())) {
                if let Some(option) = compiler_options.first() {
                    let (option, program) = (option.display(), options.program());
                    let why = run_source::about_project(options.program()).unwrap_or_else(|| {
                        format!("{option} is an option of the C# compiler, but {program} is no C# source (name.cs)")
                    });
                    return Err(Stop::refuse("saki run", &why));
                }
                return Ok(("saki run", Action::Run(Box::new(options))));
            }
            let command = RunCommand::new(options, compiler_options).map_err(|text| Stop::refuse("saki run", &text))?;
            ("saki run", Action::RunSource(Box::new(command)))
        }
        Some(Commands::Exec(exec)) => {
            if is_on_command_line(&matches, "no_net") {
                return Err(Stop::refuse("saki exec", "--no-net: 'exec' runs programs on an installed .NET"));
            }
            let host = Some(exec.host.into_options());
            let words = before(&exec.words);
            let options = Options { command: exec.words, words, given, net: true, host, ..exec.options };
            // A source is no program to .NET's host, either.
            return Ok(("saki exec", Action::Run(Box::new(options))));
        }
        Some(Commands::Repl(repl)) => {
            let shell = repl.options.framework.join(SHELL);
            if !shell.is_file() {
                let text = format!("{}: no such file (Debian's package mono-csharp-shell has it)", shell.display());
                return Err(Stop::refuse("saki repl", &text));
            }
            let command = std::iter::once(shell.display().to_string()).chain(repl.words).collect();
            ("saki repl", Action::Run(Box::new(Options { command, ..repl.options })))
        }
        Some(Commands::Info { files }) => ("saki info", Action::Info { files }),
        Some(Commands::Doctor { framework }) => ("saki doctor", Action::Doctor { framework_root: framework.framework }),
        Some(Commands::Profile(profile)) => match profile.action {
            None => ("saki profile", profile.words.into_action()?),
            Some(ProfileCommands::Heap(words)) => ("saki profile heap", words.into_action()?),
            Some(ProfileCommands::View { file, why }) => ("saki profile view", Action::ViewProfile { file, why }),
            Some(ProfileCommands::Diff { before, after, output }) => {
                ("saki profile diff", Action::CompareProfiles { before, after, output })
            }
        },
        Some(Commands::Counters(words)) => ("saki counters", words.into_action()),
        Some(Commands::Dotnet { words }) => ("saki dotnet", Action::Dotnet { words }),
        Some(Commands::Cache { action }) => {
            let (name, action, framework_root) = match action {
                CacheCommands::Stat => ("saki cache stat", CacheAction::Stat, default_framework_root()),
                CacheCommands::Clear => ("saki cache clear", CacheAction::Clear, default_framework_root()),
                CacheCommands::Seed { framework, net } => {
                    let action = if net { CacheAction::SeedNet } else { CacheAction::Seed };
                    ("saki cache seed", action, framework.framework)
                }
            };
            (name, Action::Cache { action, framework_root })
        }
        Some(Commands::Generate { folder }) => ("saki generate", Action::Generate { folder }),
    };
    // A source in place of a program, by whatever command.
    let action = match action {
        Action::Run(options) => Action::Run(Box::new(Options { given, ..*options })),
        action => action,
    };
    match action {
        Action::Run(options) if is_source(options.program()) && options.compile_only.is_empty() => {
            let command = RunCommand::new(*options, Vec::new()).map_err(|text| Stop::refuse(name, &text))?;
            Ok((name, Action::RunSource(Box::new(command))))
        }
        action => Ok((name, action)),
    }
}

/// "saki exec".
fn called(command: Option<&str>) -> String {
    ["saki"].into_iter().chain(command).collect::<Vec<_>>().join(" ")
}

/// Whether the words, and not the environment, set an option, in whatever subcommand.
fn is_on_command_line(matches: &ArgMatches, id: &str) -> bool {
    let below = std::iter::successors(Some(matches), |matches| matches.subcommand().map(|(_, below)| below));
    let is_defined = |matches: &&ArgMatches| matches.try_contains_id(id).is_ok();
    below.filter(is_defined).any(|matches| matches.value_source(id) == Some(ValueSource::CommandLine))
}

/// The names of the machine's options that the command line or the environment set, in whatever subcommand.
fn given_options(mut matches: &ArgMatches) -> Vec<&'static str> {
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    let is_given = |id: &&clap::Id| {
        matches!(matches.value_source(id.as_str()), Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    let names: Vec<String> = matches.ids().filter(is_given).map(|id| id.as_str().replace('_', "-")).collect();
    SETTINGS.iter().map(|setting| setting.name).filter(|name| names.iter().any(|given| given == name)).collect()
}

/// The whole command, for man pages and completions.
pub fn definition() -> clap::Command {
    Cli::command()
}

/// Whether `word` would be a subcommand if it came first.
pub fn is_command_name(word: &str) -> bool {
    COMMAND_NAMES.contains(&word)
}

/// What to say of a program that is not there and has a name like a command's or a kind's; `name` is the command that
/// was to run it.
pub fn about_missing(name: &str, word: &str) -> Option<String> {
    if word.contains(['.', '/']) {
        return None;
    }
    match name {
        "saki" if word == "version" => {
            Some("no such file, and no command; 'saki --version' shows the version".to_owned())
        }
        "saki" => {
            let shown = COMMAND_NAMES.into_iter().filter(|name| *name != "generate");
            let hint = suggestion::nearest(word, shown).map_or_else(
                || " ('saki help' lists the commands)".to_owned(),
                |command| format!("; did you mean '{command}'?"),
            );
            Some(format!("no such file, and no command{hint}"))
        }
        "saki profile" => {
            let kinds = ProfileKind::ALL.iter().map(|kind| kind.name()).chain([HEAP, "view", "diff"]);
            Some(format!("no such file, and no kind of profile{}", suggestion::clause(word, kinds)))
        }
        _ => None,
    }
}

/// A fast path for `saki app.exe …` without options, by which start-up is measured: building the definitions of all
/// subcommands and options costs more than everything else before the machine starts.
fn plain_program(words: &[OsString]) -> Option<Options> {
    let first = words.first()?.to_str()?;
    let of_options = environment::VARIABLES.iter().map(|(name, _)| *name).filter(|name| name.starts_with("SAKI_"));
    let has_option_variables = of_options.into_iter().any(environment::is_set);
    if first.starts_with('-') || is_command_name(first) || is_source(first) || has_option_variables {
        return None;
    }
    let command = words.iter().map(|word| word.to_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
    Some(Options { command, ..Options::default() })
}

/// `saki profile`: the kinds, which come first, as an option. The heap alone is a command of its own.
fn name_kinds(mut words: Vec<OsString>) -> Result<Vec<OsString>, Stop> {
    let list = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    if list != HEAP && list.split(',').next().is_some_and(|name| name.parse::<KindWord>().is_ok()) {
        parse_kinds(list).map_err(|error| {
            let wrong = list.split(',').find(|name| name.parse::<KindWord>().is_err()).unwrap_or_default();
            let kinds = ProfileKind::ALL.iter().map(|kind| kind.name()).chain([HEAP]);
            Stop::refuse("saki profile", &format!("{error}{}", suggestion::clause(wrong, kinds)))
        })?;
        words[1] = format!("--kinds={list}").into();
    }
    Ok(explain_help(words))
}

/// `saki help --help` asks for what `saki help help` shows, and so with the `help` of commands that have some below.
fn explain_help(mut words: Vec<OsString>) -> Vec<OsString> {
    let has_below = words.first().is_some_and(|word| word == "cache" || word == "profile");
    let at = usize::from(has_below);
    if words.get(at).is_some_and(|word| word == "help")
        && let Some(option) = words.get_mut(at + 1).filter(|word| *word == "--help" || *word == "-h")
    {
        *option = "help".into();
    }
    words
}

/// `saki run` takes the compiler's options between its own: the words with those taken out up to the first file, and
/// those.
fn separate_run_options(words: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    let mut own = Vec::new();
    let mut compiler_options = Vec::new();
    let mut words = words.into_iter().peekable();
    own.extend(words.next());
    let definitions = Options::augment_args(clap::Command::new("run"));
    let takes_value = |word: &OsString| {
        let name = word.to_str().and_then(|word| word.strip_prefix("--"));
        let option = definitions.get_arguments().find(|argument| argument.get_long() == name);
        name.is_some() && option.is_some_and(|option| option.get_action().takes_values())
    };
    while let Some(word) = words.next_if(|word| word.as_bytes().starts_with(b"-") && word != "--" && word != "-") {
        if word.as_bytes().starts_with(b"--") || word == "-h" {
            let wants_value = takes_value(&word);
            own.push(word);
            own.extend(if wants_value { words.next() } else { None });
        } else {
            compiler_options.push(word);
        }
    }
    // The next word is the option's value, whatever it begins with.
    if words.peek().is_some_and(|word| word != "--") {
        own.push("--".into());
    }
    own.extend(words);
    (own, compiler_options)
}

/// clap's message, with the name of the subcommand in place of clap's "error".
fn stop(error: &mut clap::Error, subcommand: Option<&str>) -> Stop {
    // "To pass '--frob' as a value, use '-- --frob'": an unknown option is none of the program's words.
    error.remove(ContextKind::Suggested);
    let text = error.render().to_string();
    let text = match text.strip_prefix("error: ") {
        Some(message) => {
            // The usage, where there is one, names the command: "Usage: saki cache seed [OPTIONS]".
            let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            let usage = message.lines().find_map(|line| line.strip_prefix("Usage: "));
            let named = usage.map(|usage| usage.split(' ').take_while(is_name).collect::<Vec<_>>().join(" "));
            let name = named.unwrap_or_else(|| called(subcommand));
            format!("{name}: {message}")
        }
        None => text,
    };
    Stop { text, goes_to_standard_output: !error.use_stderr(), exit_code: error.exit_code() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::option::ProfileOption;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn refusal(text: &str) -> String {
        match parse(words(text)) {
            Ok(_) => panic!("{text} is taken"),
            Err(stop) => stop.text.lines().next().unwrap_or_default().to_owned(),
        }
    }

    fn run(text: &str) -> (&'static str, Options) {
        match parse(words(text)) {
            Ok((name, Action::Run(options))) => (name, *options),
            Ok(_) => panic!("{text} runs no program"),
            Err(stop) => panic!("{text}: {}", stop.text),
        }
    }

    #[test]
    fn definitions_are_consistent() {
        definition().debug_assert();
        let mut names: Vec<String> = definition().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        names.push("help".to_owned());
        assert_eq!(names, COMMAND_NAMES);
    }

    #[test]
    fn a_plain_program_gets_what_the_definitions_give_it() {
        let quick = plain_program(&words("app.exe --stats -x")).unwrap();
        let whole = Cli::try_parse_from(["saki", "app.exe", "--stats", "-x"]).unwrap().program;
        let whole = Options { command: whole.words, ..whole.options };
        assert_eq!(format!("{quick:?}"), format!("{whole:?}"));
    }

    #[test]
    fn profiles_are_of_the_kinds_that_come_first() {
        let kinds = |text: &str| match run(text).1.profile {
            Some(ProfileOption::Own(request)) => request.kind_names(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(kinds("profile cpu,gc,cpu --hz 10 app.exe x"), "cpu,gc");
        assert_eq!(kinds("profile app.exe wall"), "cpu");
        assert_eq!(kinds("profile --format folded ./gc"), "cpu");
        assert!(refusal("profile cpu,what app.exe").starts_with("saki profile: 'what' is not one of cpu, wall, alloc"));
        assert_eq!(refusal("profile gc"), "saki profile: the following required arguments were not provided:");
        assert!(matches!(parse(words("profile lock,gc --pid 1")), Ok(("saki profile", Action::AttachProfile { .. }))));
        assert_eq!(kinds("profile heap,gc,cpu --why X app.exe"), "gc,cpu,heap");
        assert_eq!(kinds("profile cpu,heap app.exe"), "cpu,heap");
        assert_eq!(kinds("profile heap app.exe"), "heap");
        assert!(matches!(
            parse(words("profile threads --leaked --pid 1")),
            Ok(("saki profile", Action::ShowLeakedThreads { process: 1 }))
        ));
        assert_eq!(
            refusal("profile gc --leaked app.exe"),
            "saki profile: --leaked is for the kind 'threads' alone: saki profile threads --leaked"
        );
        assert!(matches!(
            parse(words("profile heap --pid 1")),
            Ok(("saki profile heap", Action::AttachProfile { .. }))
        ));
        assert_eq!(
            refusal("profile cpu --why X app.exe"),
            "saki profile: --why is for snapshots of the heap: 'heap' is not among the kinds"
        );
        assert!(matches!(parse(words("profile view x.folded")), Ok(("saki profile view", Action::ViewProfile { .. }))));
    }

    #[test]
    fn words_behind_the_program_are_the_programs() {
        assert_eq!(run("app.exe --help -V info").1.command, ["app.exe", "--help", "-V", "info"]);
        let (name, options) = run("--stats --max-heap 1m app.exe --stats");
        assert_eq!((name, options.max_heap), ("saki", Some(1 << 20)));
        assert_eq!(options.command, ["app.exe", "--stats"]);
        assert_eq!(run("run --max-heap 1m ./info --help").1.command, ["./info", "--help"]);
    }

    #[test]
    fn a_first_word_that_names_a_command_is_one() {
        assert!(matches!(parse(words("info a.dll")), Ok(("saki info", Action::Info { .. }))));
        assert_eq!(run("./info a.dll").1.command, ["./info", "a.dll"]);
        assert_eq!(run("--stats info a.dll").1.command, ["info", "a.dll"]);
    }

    #[test]
    fn errors_name_the_subcommand() {
        assert_eq!(refusal("info"), "saki info: the following required arguments were not provided:");
        assert_eq!(refusal("info --x a"), "saki info: unexpected argument '--x' found");
        assert_eq!(refusal("cache sed"), "saki cache: unrecognized subcommand 'sed'");
        assert_eq!(refusal("cache seed x"), "saki cache seed: unexpected argument 'x' found");
        assert_eq!(refusal("run --nursery x a.cs").split(" for ").next(), Some("saki run: invalid value 'x'"));
        assert_eq!(refusal("doctor x"), "saki doctor: unexpected argument 'x' found");
        assert!(refusal("run -unsafe x.exe").starts_with("saki run: -unsafe is an option of the C# compiler"));
        assert_eq!(refusal("--no-such x.exe"), "saki: unexpected argument '--no-such' found");
    }

    #[test]
    fn words_of_run_go_where_they_belong() {
        let Ok((_, Action::RunSource(command))) =
            parse(words("run --stats -unsafe --max-heap 64m -r:a.dll x.cs y.cs one -two z.cs"))
        else {
            panic!("not taken")
        };
        assert!(command.options.stats);
        assert_eq!(command.options.max_heap, Some(64 << 20));
        assert_eq!(command.compiler_options, ["-unsafe", "-r:a.dll"]);
        assert_eq!(command.sources, [Path::new("x.cs"), Path::new("y.cs")]);
        assert_eq!(command.arguments, ["one", "-two", "z.cs"]);
    }

    #[test]
    fn variables_of_options_have_their_rows() {
        assert!(environment::VARIABLES.is_sorted(), "in alphabetical order");
        let command = definition();
        let mut commands = vec![&command];
        let mut seen = 0;
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            for argument in command.get_arguments() {
                let Some(variable) = argument.get_env().and_then(|name| name.to_str()) else { continue };
                let option = format!("--{}", argument.get_long().unwrap_or_default());
                assert!(environment::VARIABLES.contains(&(variable, &option)), "{variable} {option}");
                seen += 1;
            }
        }
        assert!(seen >= 7, "{seen}");
    }

    #[test]
    fn options_that_were_given_are_known_by_name() {
        assert_eq!(run("--max-heap 1m app.exe --io x").1.given, ["max-heap"]);
        assert_eq!(run("run --hot-stacks 3 ./app.exe").1.given, ["hot-stacks"]);
    }
}
