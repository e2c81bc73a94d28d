//! The man pages: what the definitions say of a command, and the sections that they have no place for.
//!
//! Invariant: every option that is shown has a text, and every page that is named is among those that are written, or
//! another program's. The sections' texts are here, by command. Left out: pages of hidden commands.

use crate::profile::kind::{ABOUT_HEAP, HEAP, ProfileKind};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};
use std::io::{self, Write};

/// Rows of a section: a term and what it means.
type Rows = &'static [(&'static str, &'static str)];

/// What a page has besides the definitions.
struct Sections {
    description: &'static [&'static str],
    exit_status: Rows,
    environment: Rows,
    files: Rows,
    /// What it does, and the command line.
    examples: Rows,
    see_also: &'static [&'static str],
}

const NOTHING: Sections =
    Sections { description: &[], exit_status: &[], environment: &[], files: &[], examples: &[], see_also: &[] };

const EXIT_OF_PROGRAMS: Rows = &[
    ("the program's", "Main's return value, or what Environment.Exit was called with."),
    ("1", "An exception was not handled."),
    ("2", "The command line or the program's file cannot be used; one line on standard error says why."),
];

const EXIT_OF_COMMANDS: Rows =
    &[("0", "All went well."), ("2", "A file, the command line or standard output cannot be used; one line says why.")];

const VARIABLES: Rows = &[
    ("MONO_PATH", "Folders that are searched for assemblies first, with colons between them."),
    (
        "SAKI_THREADS, SAKI_IO, SAKI_HOT_STACKS, SAKI_SMALL_STACKS",
        "Stand for the options --threads, --io, --hot-stacks and --small-stacks.",
    ),
    (
        "SAKI_NO_CACHE, SAKI_NO_SIMD, SAKI_TIERS, SAKI_GC_STRESS",
        "Stand for the options --no-cache, --no-simd, --tiers and --gc-stress.",
    ),
    ("SAKI_NO_NET", "1 stands for the option --no-net; --net counts more."),
    ("SAKI_MAX_HEAP, SAKI_NURSERY, SAKI_GC_THREADS", "Stand for the options --max-heap, --nursery and --gc-threads."),
    ("SAKI_PERF, SAKI_PROFILE", "Stand for the options --perf and --profile."),
    (
        "MONO_GC_PARAMS, MONO_LOG_LEVEL, MONO_LOG_MASK, MONO_CFG_DIR, ...",
        "Count as under Mono; mono-options.md lists all of them.",
    ),
    ("DOTNET_ROOT, PATH", "Where an installed .NET is looked for, if a program is for modern .NET."),
    ("XDG_CACHE_HOME", "The folder of the code cache's folder, in place of ~/.cache."),
];

const FILES_OF_PROGRAMS: Rows = &[
    ("/usr/lib/mono/4.5", "The class libraries, unless --framework names other ones."),
    ("~/.cache/saki", "The code cache: compiled code, and what saki run has compiled of sources."),
    ("../lib/saki", "Beside the folder of the command: compiled code that all users share, if it is installed."),
    ("/etc/mono/config, ~/.mono/config", "The native libraries that names in programs stand for."),
    ("/usr/share/doc/saki", "Where packages put the documents that these pages name."),
];

/// The sections of a page, by its name.
fn sections(name: &str) -> Sections {
    match name {
        "saki" => Sections {
            description: &[
                "Saki runs programs for .NET and Mono, in the Common Intermediate Language, on Mono's class libraries. All words behind the program are the program's.",
                "A first word that names a command is that command; a file of the same name runs by its path (saki ./info). A C# source in place of a program is compiled and run.",
                "Called by the name mono, mono-sgen or cli, Saki takes Mono's command line.",
            ],
            exit_status: EXIT_OF_PROGRAMS,
            environment: VARIABLES,
            files: FILES_OF_PROGRAMS,
            examples: &[
                ("Run a program with two arguments:", "saki app.exe one two"),
                (
                    "Run many threads on few of the system's, with at most a gigabyte of heap:",
                    "saki --threads=mn --max-heap 1g server.exe",
                ),
                ("Run a C# source:", "saki hello.cs"),
                ("See where a program spends its time:", "saki profile app.exe"),
                ("See the stacks of a running program's threads:", "kill -QUIT PID"),
            ],
            see_also: &["mcs(1)", "csharp(1)", "mono(1)"],
        },
        "saki-run" => Sections {
            description: &[
                "Sources are compiled by Mono's C# compiler, which Saki runs; the result is kept in the code cache, under a hash of all that went into it, and compiled again when something of that has changed.",
                "Options with one dash come before the sources and are the compiler's, those with two dashes are Saki's. Words behind the sources are the program's; -- ends the sources, so that the program's first argument may be a source, too.",
                "A source may begin with a line #!, whatever its name is; then it is the only one, and all words behind it are the program's. The source - is read from standard input.",
                "Project files are not read: xbuild or msbuild make a program of them.",
            ],
            exit_status: &[
                ("the program's", "As of saki(1)."),
                ("the compiler's", "Where a source cannot be compiled, mostly 1; the messages are on standard error."),
                ("2", "The command line or a file cannot be used."),
            ],
            environment: VARIABLES,
            files: FILES_OF_PROGRAMS,
            examples: &[
                (
                    "Compile two sources with a library, and run the result:",
                    "saki run -r:lib/L.dll main.cs more.cs -- argument",
                ),
                ("The first line of a source that is to run as a command:", "#!/usr/bin/env -S saki run"),
                (
                    "Run a line of C#:",
                    "echo 'class P { static void Main () { System.Console.WriteLine (6 * 7); } }' | saki run -",
                ),
            ],
            see_also: &["mcs(1)", "xbuild(1)"],
        },
        "saki-exec" => Sections {
            description: &[
                "Does what dotnet exec does: the installed .NET's own host reads the options, the program's configuration and its list of assemblies. Programs that start others by 'PROCESS exec OPTIONS PROGRAM', where PROCESS is what runs themselves (the dotnet command's own program starts compilers so), run them on Saki.",
                "Under the name mono there are no commands: mono exec runs a file called exec, as Mono does; saki ./exec does, too.",
            ],
            exit_status: EXIT_OF_PROGRAMS,
            environment: VARIABLES,
            files: &[
                (
                    "PROGRAM.runtimeconfig.json",
                    "Names the framework that the program needs, unless --runtimeconfig names another file.",
                ),
                ("PROGRAM.deps.json", "Lists its assemblies, unless --depsfile names another file; need not be there."),
            ],
            examples: &[(
                "Run a program with the configuration of another:",
                "saki exec --runtimeconfig other.runtimeconfig.json app.dll one two",
            )],
            see_also: &["dotnet(1)"],
        },
        "saki-repl" => Sections {
            description: &[
                "Starts Mono's interactive C# shell, csharp.exe, with these words. It reads ~/.config/csharp/*.cs when it starts, and keeps what was typed for the next time.",
            ],
            exit_status: EXIT_OF_PROGRAMS,
            environment: VARIABLES,
            files: &[("/usr/lib/mono/4.5/csharp.exe", "The shell, of Debian's package mono-csharp-shell.")],
            examples: &[("Print the value of an expression:", "saki repl -e 'System.Math.Sqrt (2)'")],
            see_also: &["csharp(1)"],
        },
        "saki-dotnet" => Sections {
            description: &[
                "Starts the dotnet on the PATH, or else of the .NET that apphosts would find, with these words. Two variables lead its host to Saki's libcoreclr.so in place of CoreCLR; neither .NET nor the program is changed, and programs that it starts inherit the variables.",
                "Options of Saki's are variables, or properties in the program's runtimeconfig.json: Saki.Threads for SAKI_THREADS.",
            ],
            exit_status: &[
                ("dotnet's", "As of dotnet."),
                ("2", "There is no dotnet or no libcoreclr.so; one line says why."),
            ],
            environment: &[
                ("DOTNET_ROOT, PATH", "Where .NET is looked for."),
                (
                    "DOTNET_ADDITIONAL_DEPS, DOTNET_SHARED_STORE",
                    "Saki's file and folder are put in front of their lists.",
                ),
            ],
            files: &[
                ("~/.cache/saki/dotnet", "The files that the two variables name."),
                ("../lib/saki-dotnet/libcoreclr.so", "Beside the folder of the command: the library."),
            ],
            examples: &[("Run a program with M:N threads:", "SAKI_THREADS=mn saki dotnet app.dll")],
            see_also: &["dotnet(1)"],
        },
        "saki-info" => Sections {
            exit_status: EXIT_OF_COMMANDS,
            examples: &[("See what an assembly was built for:", "saki info app.exe")],
            see_also: &["monodis(1)"],
            ..NOTHING
        },
        "saki-doctor" => Sections {
            description: &[
                "Each line begins with ok, note or BAD. A note is about something that programs run without, such as the C# compiler.",
            ],
            exit_status: &[
                ("0", "Programs can run."),
                ("1", "A line begins with BAD: programs could not run."),
                ("2", "The command line or standard output cannot be used."),
            ],
            environment: &[("XDG_CACHE_HOME", "The folder of the code cache's folder, in place of ~/.cache.")],
            files: FILES_OF_PROGRAMS,
            ..NOTHING
        },
        "saki-profile" => Sections {
            description: &[
                "KINDS is a list with commas, and comes first; without it cpu is meant. At the end a table goes to standard error and the profile to a file, which browsers show unless --format says otherwise.",
                "With --pid a process of Saki's that runs already is profiled, and goes on afterwards. It writes the file.",
                "threads --leaked runs a full collection, at the end of the program, after --duration, or in a running process at once, and shows the stacks of the threads that no other thread can wake: what they wait for is reached by such threads alone, or one of them holds the lock. Thread.Interrupt, which could end each wait, is left out of account. A thread that another one can wake is never shown; a word of a stack that looks like a reference can hide one that nobody can wake.",
            ],
            exit_status: &[
                ("the program's", "A profile that cannot be written is a message."),
                (
                    "0, 2",
                    "With --pid: whether all was written. Of several that profile a process at a time one does, and the others are refused.",
                ),
            ],
            environment: &[(
                "SAKI_PROFILE",
                "Asks for the same of any saki: KINDS[,hz=N][,duration=SECONDS][,format=NAME][,output=FILE].",
            )],
            files: &[
                ("PROGRAM-PID.KIND.FORMAT", "The profile, unless --output names another file."),
                (
                    "/run/user/UID/saki",
                    "Sockets, while --pid looks for its process; without it a folder of the user among the temporary files.",
                ),
            ],
            examples: &[
                ("Processor time and allocations in one page:", "saki profile cpu,alloc -o app.html app.exe"),
                ("Workers of a server that wait for ever:", "saki profile threads --leaked --pid 1234"),
                ("What a running server does in the next ten seconds:", "saki profile wall --pid 1234 --duration 10"),
                (
                    "Stacks for another tool, by standard output:",
                    "saki profile --format folded -o - --pid 1234 --duration 5 | flamegraph.pl > app.svg",
                ),
            ],
            see_also: &["perf(1)"],
        },
        "saki-counters" => Sections {
            description: &[
                "Figures that only grow are shown by the second, times as shares. The first report comes after one interval.",
            ],
            exit_status: &[
                ("the program's", "Of a program."),
                ("0, 2", "With --pid: whether the process could be asked. Its end is none of a report."),
            ],
            examples: &[
                ("A minute of a server:", "saki counters --interval 5 --count 12 --pid 1234"),
                ("A line of JSON each second:", "saki counters --json -o figures.jsonl app.dll"),
            ],
            see_also: &["top(1)"],
            ..NOTHING
        },
        "saki-profile-heap" => Sections {
            description: &[
                "The snapshot is taken when the program ends; with --duration earlier, and of a running process at once or after that time.",
            ],
            exit_status: &[
                ("the program's", "A snapshot that cannot be taken is a message."),
                ("0, 2", "With --pid: whether it was written."),
            ],
            files: &[("PROGRAM-PID.heap", "The snapshot, unless --output names another file.")],
            examples: &[
                ("What keeps the sessions of a server alive:", "saki profile heap --pid 1234 --why Session"),
                ("What grew between two moments:", "saki profile diff before.heap after.heap"),
            ],
            ..NOTHING
        },
        "saki-profile-view" | "saki-profile-diff" => Sections { exit_status: EXIT_OF_COMMANDS, ..NOTHING },
        "saki-cache" | "saki-cache-stat" | "saki-cache-clear" | "saki-cache-seed" => Sections {
            exit_status: EXIT_OF_COMMANDS,
            environment: &[("XDG_CACHE_HOME", "The folder of the code cache's folder, in place of ~/.cache.")],
            files: &[
                ("~/.cache/saki", "The code cache. It keeps to 256 MiB by removing what was not used for longest."),
                (
                    "../lib/saki",
                    "Beside the folder of the command: compiled code that all users share, if it is installed.",
                ),
            ],
            ..NOTHING
        },
        _ => NOTHING,
    }
}

/// "saki-cache-stat".
pub fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The commands below one that have pages.
pub fn shown_below(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

/// The text of a page. `family`: the names of all pages, for SEE ALSO. The definition must be built.
pub fn page(command: &Command, family: &[String]) -> Vec<u8> {
    let mut text = Vec::new();
    write(command, family, &mut text).expect("writing to memory does not fail");
    text
}

fn write(command: &Command, family: &[String], out: &mut dyn Write) -> io::Result<()> {
    let name = page_name(command);
    // Help hides some in its short form; a page is the long one.
    let shown = command.clone().mut_args(|argument| argument.hide_short_help(false).hide_env_values(true));
    // No date: pages of the same sources are the same.
    let man = Man::new(shown)
        .title(name.to_uppercase())
        .source(format!("Saki {}", env!("CARGO_PKG_VERSION")))
        .manual("User Commands")
        .date("");
    let sections = sections(name);
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    paragraphs(sections.description).to_writer(out)?;
    if name == "saki-profile" {
        let kinds = ProfileKind::ALL.iter().map(|kind| (kind.name(), kind.about())).chain([(HEAP, ABOUT_HEAP)]);
        let kinds = kinds.map(|(kind, about)| (kind.to_owned(), about.to_owned()));
        terms("KINDS", &kinds.collect::<Vec<_>>()).to_writer(out)?;
    }
    man.render_options_section(out)?;
    let below = shown_below(command).map(|below| (format!("{}(1)", page_name(below)), about(below)));
    terms("COMMANDS", &below.collect::<Vec<_>>()).to_writer(out)?;
    rows("EXIT STATUS", sections.exit_status).to_writer(out)?;
    rows("ENVIRONMENT", sections.environment).to_writer(out)?;
    rows("FILES", sections.files).to_writer(out)?;
    examples(sections.examples).to_writer(out)?;
    let own = format!("{name}(1)");
    let others = family.iter().map(|page| format!("{page}(1)")).filter(|page| *page != own);
    see_also(others.chain(sections.see_also.iter().map(|&page| page.to_owned()))).to_writer(out)
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn paragraphs(texts: &[&str]) -> Roff {
    let mut roff = Roff::new();
    for text in texts {
        roff.control("PP", []).text([roman(*text)]);
    }
    roff
}

fn rows(heading: &str, rows: Rows) -> Roff {
    terms(heading, &rows.iter().map(|&(term, text)| (term.to_owned(), text.to_owned())).collect::<Vec<_>>())
}

fn terms(heading: &str, rows: &[(String, String)]) -> Roff {
    let mut roff = Roff::new();
    if !rows.is_empty() {
        roff.control("SH", [heading]);
    }
    for (term, text) in rows {
        roff.control("TP", []).text([bold(term)]).text([roman(text)]);
    }
    roff
}

fn examples(rows: Rows) -> Roff {
    let mut roff = Roff::new();
    if !rows.is_empty() {
        roff.control("SH", ["EXAMPLES"]);
    }
    for (what, line) in rows {
        roff.control("PP", []).text([roman(*what)]);
        roff.control("PP", []).control("RS", ["4"]).control("nf", []).text([bold(*line)]);
        roff.control("fi", []).control("RE", []);
    }
    roff
}

fn see_also(pages: impl Iterator<Item = String>) -> Roff {
    let mut roff = Roff::new();
    let mut words = Vec::new();
    for page in pages {
        let (name, section) = page.split_once('(').unwrap_or((&page, ""));
        if !words.is_empty() {
            words.push(roman(", "));
        }
        words.push(bold(name));
        words.push(roman(format!("({section}")));
    }
    roff.control("SH", ["SEE ALSO"]).text(words);
    roff.control("PP", []);
    roff.text([
        roman("usage.md, profiling.md and mono-options.md, in "),
        italic("/usr/share/doc/saki"),
        roman(" or the sources' docs."),
    ]);
    roff
}
