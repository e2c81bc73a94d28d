//! `saki __complete WORD...`: what the shells' completions offer for the last word. The scripts in `completion/` only
//! ask and show.
//!
//! The first line says which files are offered, too:
//!
//! | line | files |
//! |---|---|
//! | `:words` | none |
//! | `:folders N` | folders, behind the first N bytes of the word |
//! | `:files N [EXTENSION]...` | folders, and files with one of these extensions or, without any, all |
//!
//! Then follow candidates for the whole word, a tab and a description each. Everything comes from the definitions that
//! parse the command line and from the types that read the values, so that nothing is offered that is refused.
//! Invariant: behind the program there are files only, since all words there are the program's.

use crate::control_socket;
use crate::profile::kind::{ABOUT_HEAP, HEAP, ProfileKind, is_kinds};
use clap::{Arg, ArgAction, Command, ValueHint};
use saki_profile::Format;
use saki_reactor::IoModel;

/// The word that asks; no command is called so.
pub const WORD: &str = "__complete";

/// What a command runs.
const PROGRAMS: [&str; 3] = ["exe", "dll", "cs"];
const NET_PROGRAMS: [&str; 2] = ["dll", "exe"];
const ASSEMBLIES: [&str; 4] = ["exe", "dll", "netmodule", "winmd"];
const SCRIPTS: [&str; 2] = ["cs", "csx"];

/// Options of the C# compiler that `saki run` passes on, and what their values are.
const COMPILER_OPTIONS: [(&str, &str, Files); 9] = [
    ("-r:", "reference an assembly", Files::With(&["dll", "exe"])),
    ("-lib:", "search this folder for assemblies", Files::Folders),
    ("-pkg:", "reference a package of pkg-config", Files::None),
    ("-define:", "define symbols", Files::None),
    ("-unsafe", "allow unsafe code", Files::None),
    ("-checked", "check arithmetic for overflow", Files::None),
    ("-langversion:", "the version of C#", Files::None),
    ("-resource:", "embed a file", Files::With(&[])),
    ("-nowarn:", "suppress warnings", Files::None),
];

/// The files that are offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Files {
    None,
    Folders,
    /// With these extensions; without any, all.
    With(&'static [&'static str]),
}

/// A candidate and what it is.
type Candidate = (String, String);

struct Offer {
    files: Files,
    /// Bytes of the word before the file's name.
    prefix_len: usize,
    candidates: Vec<Candidate>,
}

impl Offer {
    fn files(files: Files) -> Offer {
        Offer { files, prefix_len: 0, candidates: Vec::new() }
    }
}

/// Answers the shell. `words`: those behind the command's name, up to the cursor.
pub fn answer(definition: Command, words: &[String]) -> String {
    let (last, before) = match words {
        [before @ .., last] => (last.as_str(), before),
        [] => ("", words),
    };
    let Offer { files, prefix_len, candidates } = offer(definition, before, last);
    let mut text = match files {
        Files::None => ":words\n".to_owned(),
        Files::Folders => format!(":folders {prefix_len}\n"),
        Files::With(extensions) => {
            let extensions: String = extensions.iter().map(|extension| format!(" {extension}")).collect();
            format!(":files {prefix_len}{extensions}\n")
        }
    };
    for (value, about) in candidates.iter().filter(|(value, _)| value.starts_with(last)) {
        text += &format!("{value}\t{about}\n");
    }
    text
}

/// Where the cursor is.
struct Place {
    command: Command,
    /// "run", "profile heap".
    path: Vec<String>,
    /// The option whose value the next word is.
    waits_for: Option<Arg>,
    /// No more options and commands.
    is_behind_options: bool,
    used: Vec<String>,
    positionals: Vec<String>,
}

fn offer(mut definition: Command, before: &[String], last: &str) -> Offer {
    // Adds --help, and `help` to the commands.
    definition.build();
    let mut place = Place {
        command: definition,
        path: Vec::new(),
        waits_for: None,
        is_behind_options: false,
        used: Vec::new(),
        positionals: Vec::new(),
    };
    before.iter().for_each(|word| place.pass(word));
    place.offer(last)
}

impl Place {
    fn option(&self, word: &str) -> Option<&Arg> {
        let (name, is_long) = match word.strip_prefix("--") {
            Some(name) => (name.split('=').next().unwrap_or(name), true),
            None => (word.strip_prefix('-')?, false),
        };
        self.command.get_arguments().find(|argument| match is_long {
            true => argument.get_long() == Some(name),
            false => argument.get_short().is_some_and(|short| name.strip_prefix(short) == Some("")),
        })
    }

    /// Goes past a word before the cursor.
    fn pass(&mut self, word: &str) {
        if self.waits_for.take().is_some() {
            return;
        }
        if self.is_behind_options || !word.starts_with('-') || word == "-" {
            return self.pass_positional(word);
        }
        if word == "--" {
            self.is_behind_options = true;
            return;
        }
        self.used.push(word.split('=').next().unwrap_or(word).to_owned());
        let option = self.option(word).filter(|option| takes_value(option) && !word.contains('='));
        self.waits_for = option.cloned();
    }

    fn pass_positional(&mut self, word: &str) {
        let is_first = self.positionals.is_empty() && self.used.is_empty() && !self.is_behind_options;
        let below = self.command.find_subcommand(word).filter(|_| is_first || self.is_help()).cloned();
        if let Some(below) = below {
            self.path.push(below.get_name().to_owned());
            self.command = below;
            return;
        }
        self.positionals.push(word.to_owned());
        // The program's words follow, but for the kinds of profiles, for files to be shown, and for more sources.
        let is_kinds = self.is_profile() && self.positionals.len() == 1 && self.used.is_empty() && is_kinds(word);
        if is_kinds {
            self.positionals.clear();
            self.used.push(word.to_owned());
        } else if self.runs_program() {
            self.is_behind_options = true;
        }
    }

    fn is(&self, path: &[&str]) -> bool {
        self.path.iter().map(String::as_str).eq(path.iter().copied())
    }

    fn is_profile(&self) -> bool {
        self.is(&["profile"])
    }

    /// Below `saki help` every word names a command.
    fn is_help(&self) -> bool {
        self.path.iter().any(|name| name == "help")
    }

    /// Whether words behind the first belong to it.
    fn runs_program(&self) -> bool {
        ["", "run", "exec", "repl", "profile", "profile heap", "counters"].contains(&&*self.path.join(" "))
    }

    fn offer(&self, last: &str) -> Offer {
        if let Some(option) = &self.waits_for {
            return self.values(option, "", last);
        }
        if last.starts_with('-') && !self.is_behind_options {
            return match last.split_once('=') {
                Some((name, _)) => match self.option(name).filter(|option| takes_value(option)) {
                    Some(option) => self.values(option, &format!("{name}="), last),
                    None => Offer::files(Files::None),
                },
                None if self.is(&["run"]) && !last.starts_with("--") => compiler_options(last, self.options()),
                None => Offer { candidates: self.options(), ..Offer::files(Files::None) },
            };
        }
        self.positional(last)
    }

    /// The options that are shown and were not given yet.
    fn options(&self) -> Vec<Candidate> {
        let shown = self.command.get_arguments().filter(|argument| {
            let is_given = argument.get_long().is_some_and(|long| self.used.contains(&format!("--{long}")));
            !argument.is_hide_set() && (!is_given || matches!(argument.get_action(), ArgAction::Append))
        });
        let named = shown.filter_map(|argument| Some((format!("--{}", argument.get_long()?), about_option(argument))));
        named.collect()
    }

    fn commands(&self) -> Vec<Candidate> {
        let shown = self.command.get_subcommands().filter(|command| !command.is_hide_set());
        let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
        shown.map(|command| (command.get_name().to_owned(), brief(&about(command)))).collect()
    }

    fn positional(&self, last: &str) -> Offer {
        let is_first = self.positionals.is_empty() && self.used.is_empty() && !self.is_behind_options;
        let mut candidates = if is_first { self.commands() } else { Vec::new() };
        if is_first && self.is_profile() {
            candidates.extend(kinds(last));
        }
        let files = match &*self.path.join(" ") {
            // More sources, or the program's own.
            _ if self.is_behind_options && !self.positionals.is_empty() => Files::With(&[]),
            "" | "run" | "profile" | "profile heap" | "counters" => Files::With(&PROGRAMS),
            "exec" => Files::With(&NET_PROGRAMS),
            "repl" => Files::With(&SCRIPTS),
            "info" => Files::With(&ASSEMBLIES),
            "profile view" if self.positionals.is_empty() => Files::With(&[]),
            "profile diff" if self.positionals.len() < 2 => Files::With(&[]),
            "generate" => Files::Folders,
            _ => Files::None,
        };
        Offer { candidates, ..Offer::files(files) }
    }

    /// Values of an option; `prefix` is what the word has before them.
    fn values(&self, option: &Arg, prefix: &str, last: &str) -> Offer {
        let given = last.strip_prefix(prefix).unwrap_or_default();
        let is_heap = self.is(&["profile", "heap"]);
        let fixed = |values: Vec<(&str, &str)>| -> Vec<Candidate> {
            values.into_iter().map(|(value, about)| (value.to_owned(), about.to_owned())).collect()
        };
        let candidates = match option.get_id().as_str() {
            "threads" => {
                let mut modes = fixed(vec![
                    ("native", "threads of the system"),
                    ("green", "in turns on one thread of the system"),
                    ("mn", "in turns on as many threads of the system as there are processors"),
                ]);
                modes.push((format!("mn:{}", saki_os::cpu::count()), "so many threads of the system".to_owned()));
                modes
            }
            "io" => IoModel::ALL.iter().map(|model| (model.to_string(), String::new())).collect(),
            "perf" => list(
                given,
                &fixed(vec![
                    ("map", "perf-PID.map, by which perf finds names"),
                    ("jitdump", "for perf inject --jit"),
                    ("both", "map and jitdump"),
                    ("gdb", "names for gdb"),
                ]),
            ),
            "format" if !is_heap => {
                let names = Format::ALL.iter().map(|format| (format.name(), "")).chain([("jitdump", "")]);
                list(given, &fixed(names.collect()))
            }
            "pid" => control_socket::processes(),
            _ => {
                let values = option.get_possible_values().into_iter().map(|value| {
                    let about = value.get_help().map(|help| brief(&help.to_string())).unwrap_or_default();
                    (value.get_name().to_owned(), about)
                });
                list(given, &values.collect::<Vec<_>>())
            }
        };
        let files = match option.get_value_hint() {
            ValueHint::DirPath => Files::Folders,
            ValueHint::FilePath => Files::With(&[]),
            _ => Files::None,
        };
        let candidates = candidates.into_iter().map(|(value, about)| (format!("{prefix}{value}"), about)).collect();
        Offer { files, prefix_len: prefix.len(), candidates }
    }
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// `-r:a.dll,b` and the like, and the options with two dashes for a single one.
fn compiler_options(last: &str, mut others: Vec<Candidate>) -> Offer {
    if let Some((name, _)) = last.split_once(':') {
        let option = COMPILER_OPTIONS.iter().find(|(option, ..)| option.strip_suffix(':') == Some(name));
        let prefix_len = last.rfind([':', ',', ';', '=']).map_or(0, |at| at + 1);
        return Offer { prefix_len, ..Offer::files(option.map_or(Files::None, |(.., files)| *files)) };
    }
    let mut candidates: Vec<Candidate> =
        COMPILER_OPTIONS.iter().map(|(option, about, _)| ((*option).to_owned(), (*about).to_owned())).collect();
    candidates.append(&mut others);
    Offer { candidates, ..Offer::files(Files::None) }
}

/// The kinds of profiles that are not in the word yet.
fn kinds(last: &str) -> Vec<Candidate> {
    let kinds = ProfileKind::ALL.iter().map(|kind| (kind.name().to_owned(), kind.about().to_owned()));
    let is_list = last.contains(',');
    // Alone it is a command, which is offered already.
    let heap = is_list.then(|| (HEAP.to_owned(), ABOUT_HEAP.to_owned()));
    list(last, &kinds.chain(heap).collect::<Vec<_>>())
}

/// Words of a list with commas, behind those that `given` has.
fn list(given: &str, values: &[Candidate]) -> Vec<Candidate> {
    let (head, _) = given.rsplit_once(',').map_or(("", given), |(head, last)| (head, last));
    let has: Vec<&str> = head.split(',').collect();
    let start = if head.is_empty() { String::new() } else { format!("{head},") };
    let others = values.iter().filter(|(value, _)| !has.contains(&&**value));
    others.map(|(value, about)| (format!("{start}{value}"), about.clone())).collect()
}

fn about_option(option: &Arg) -> String {
    brief(&option.get_help().map(ToString::to_string).unwrap_or_default())
}

/// The first clause: completions have a line for each.
fn brief(text: &str) -> String {
    let end = [": ", "; ", " [", " (", ", as ", ". "].iter().filter_map(|mark| text.find(mark)).min();
    text[..end.unwrap_or(text.len())].replace(['\t', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::definition;

    /// The directive and the candidates for the last word of `line`.
    fn complete(line: &str) -> (String, Vec<String>) {
        let words: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
        let text = answer(definition(), &words);
        let mut lines = text.lines();
        let directive = lines.next().expect("a directive").to_owned();
        (directive, lines.map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect())
    }

    fn check(line: &str, directive: &str, candidates: &[&str]) {
        let (found, words) = complete(line);
        assert_eq!(
            (&*found, words.iter().map(String::as_str).collect::<Vec<_>>()),
            (directive, candidates.to_vec()),
            "{line}"
        );
    }

    const PROGRAM_FILES: &str = ":files 0 exe dll cs";

    #[test]
    fn commands_come_first_and_only_there() {
        let all = ["run", "exec", "repl", "info", "doctor", "profile", "counters", "dotnet", "cache", "help"];
        check("saki ", PROGRAM_FILES, &all);
        check("saki do", PROGRAM_FILES, &["doctor", "dotnet"]);
        check("saki --stats ", PROGRAM_FILES, &[]);
        check("saki run ", PROGRAM_FILES, &[]);
        check("saki run he", PROGRAM_FILES, &[]);
        check("saki exec ", ":files 0 dll exe", &[]);
        check("saki info ", ":files 0 exe dll netmodule winmd", &[]);
        check("saki cache ", ":words", &["stat", "clear", "seed", "help"]);
        check("saki help ca", ":words", &["cache"]);
        check("saki doctor ", ":words", &[]);
    }

    #[test]
    fn options_are_offered_where_they_are_taken() {
        check("saki --max", ":words", &["--max-heap"]);
        check("saki cache -", ":words", &["--help"]);
        check("saki cache seed --f", ":words", &["--framework"]);
        check("saki --stats --sta", ":words", &[]);
        check("saki exec --dep", ":words", &["--depsfile"]);
        check("saki exec --additionalprobingpath ", ":folders 0", &[]);
        check("saki profile heap --wh", ":words", &["--why"]);
        check("saki profile heap --why X --wh", ":words", &["--why"]);
        let (_, hidden) = complete("saki --");
        assert!(!hidden.iter().any(|option| option == "--compile-only") && hidden.iter().any(|o| o == "--version"));
        check("saki doctor --vers", ":words", &[]);
    }

    #[test]
    fn behind_the_program_nothing_is_sakis() {
        for line in [
            "saki app.exe ",
            "saki app.exe --",
            "saki run --stats app.exe --th",
            "saki exec --depsfile d app.dll --dep",
            "saki profile cpu app.exe he",
        ] {
            check(line, ":files 0", &[]);
        }
        check("saki run a.cs ", ":files 0", &[]);
        check("saki --threads mn app.exe run", ":files 0", &[]);
    }

    #[test]
    fn values_of_options() {
        check("saki --threads gr", ":words", &["green"]);
        check("saki --threads=n", ":words", &["--threads=native"]);
        check("saki --io ", ":words", &["blocking", "poll", "epoll", "uring"]);
        check("saki --perf map,j", ":words", &["map,jitdump"]);
        check("saki profile --format html,sv", ":words", &["html,svg"]);
        check("saki profile --format=html,sp", ":words", &["--format=html,speedscope"]);
        check("saki profile heap --format ", ":words", &["heap", "html"]);
        check("saki --framework ", ":folders 0", &[]);
        check("saki --framework=/u", ":folders 12", &[]);
        check("saki profile cpu -o ", ":files 0", &[]);
        check("saki --max-heap ", ":words", &[]);
        check("saki --max-heap 1g ", PROGRAM_FILES, &[]);
        check("saki run -r:a.dll,b", ":files 9 dll exe", &[]);
        check("saki run -l", ":words", &["-lib:", "-langversion:"]);
    }

    #[test]
    fn kinds_of_profiles() {
        let (directive, words) = complete("saki profile ");
        assert_eq!(directive, PROGRAM_FILES);
        for expected in ["cpu", "wall", "heap", "view", "diff", "handles"] {
            assert_eq!(words.iter().filter(|word| *word == expected).count(), 1, "{expected}: {words:?}");
        }
        check("saki profile c", PROGRAM_FILES, &["cpu", "code"]);
        check("saki profile cpu,he", PROGRAM_FILES, &["cpu,heap"]);
        check("saki profile cpu,cp", PROGRAM_FILES, &[]);
        check("saki profile cpu ", PROGRAM_FILES, &[]);
        check("saki profile view ", ":files 0", &[]);
        check("saki profile view a ", ":words", &[]);
        check("saki profile diff a ", ":files 0", &[]);
    }
}
