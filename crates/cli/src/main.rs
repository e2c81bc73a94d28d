//! The `saki` command: options, loading a program, running it, exit codes. Called `mono`, it takes Mono's command line.
//!
//! From the bottom up; a file names only files of its own line and of lines above:
//!
//! | area | modules |
//! |---|---|
//! | the process | `process_start`, `exit`, `main_stack`, `bundle`, `start_up_memory` |
//! | words | `suggestion`, `program_words`, `output_format`, `profile::kind`, `profile::file` |
//! | what is asked for of profiles | `profile::heap_request`, `profile::request`, `mono::log_profiler` |
//! | making and showing profiles | `control_socket`, `profile::heap_command`, `profile::command`, `profile::control`, `profile::option` |
//! | options of runs | `info`, `cached_files`, `net_program`, `options`, `executable` |
//! | other commands | `dotnet_command`, `toolchain`, `doctor`, `run_source`, `cache_command`, `stats`, `check_mutants` |
//! | Mono's command line | `mono` |
//! | the command line | `action`, `profile::heap_words`, `profile::words`, `complete`, `command_line`, `manual`, `generate` |
//! | what is done | this file |
//!
//! Exit codes: what the program gives; 1 after an unhandled exception; 2 when the program cannot be run at all, or a
//! command's answer not be written.

// The unit tests' harness has its own `main`.
#![cfg_attr(not(test), no_main)]

mod action;
mod bundle;
mod cache_command;
mod cached_files;
mod check_mutants;
mod command_line;
mod complete;
mod component_root;
mod control_socket;
mod counters;
mod doctor;
mod dotnet_command;
mod executable;
mod exit;
mod generate;
mod info;
mod main_stack;
mod manual;
mod mono;
mod net_program;
mod options;
mod output_format;
mod process_start;
mod profile;
mod program_words;
mod run_source;
mod start_up_memory;
mod stats;
mod suggestion;
mod toolchain;

use action::Action;
use exit::{end_with, fail};
use info::Libraries;
use options::Options;
use run_source::RunCommand;
use saki_base::messages;
use saki_hosting::net::{self, NetStart};
use saki_hosting::properties::RuntimeProperties;
use saki_hosting::{environment, quantities, settings};
use saki_os::ExitStage;
use saki_os::clock::Moment;
use saki_runtime::exec::compile_only::compile_to_text;
use saki_runtime::vm::{StartError, VmOptions};
use saki_runtime::{HostEvents, Vm};
use saki_types::Assembly;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[global_allocator]
static ALLOCATOR: start_up_memory::StartUpAllocator = start_up_memory::StartUpAllocator;

/// See `process_start` for why it is a C function. The standard library finds the arguments by itself.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn main() -> libc::c_int {
    saki_os::thread::run_below_gap(run_process)
}

extern "C" fn run_process() -> ! {
    process_start::prepare();
    forget_environment();
    start_up_memory::economise();
    std::process::exit(main_stack::run(|| exit::after_answers(command())));
}

fn command() -> i32 {
    let mut words = std::env::args_os();
    let is_mono = words.next().is_some_and(|command| mono::is_name(&command));
    let parsed = if is_mono {
        mono::parse(words.collect()).map(|options| ("mono", Action::Run(Box::new(options))))
    } else {
        command_line::parse(words.collect())
    };
    let (name, action) = match parsed {
        Ok(parsed) => parsed,
        Err(stop) => return stop.print(),
    };
    exit::set_name(name);
    match action {
        Action::Info { files } => info::print(&files),
        Action::Doctor { framework_root } => doctor::run(&framework_root),
        Action::Run(options) if is_mono => match mono::check_program(Path::new(options.program())) {
            Ok(()) => start(&options, Path::new(options.program()), Libraries::Mono),
            Err(stop) => stop.print(),
        },
        Action::Run(options) => with_environment(name, *options),
        Action::Dotnet { words } => dotnet_command::run(&words),
        Action::RunSource(command) => run_source(name, &command),
        Action::AttachProfile { process, request } => end_with(profile::control::attach(process, &request)),
        Action::ShowLeakedThreads { process } => end_with(profile::leaked_threads::attach(process)),
        Action::AttachCounters { process, request } => end_with(counters::attach(process, &request)),
        Action::ViewProfile { file, why } => end_with(view_profile(&file, &why)),
        Action::CompareProfiles { before, after, output } => {
            end_with(compare_profiles(&before, &after, output.as_deref()))
        }
        Action::Cache { action, framework_root } => end_with(cache_command::run(action, &framework_root)),
        Action::Complete { words } => {
            messages::answer(format_args!("{}", complete::answer(command_line::definition(), &words)));
            0
        }
        Action::Generate { folder } => end_with(generate::write(&folder)),
    }
}

/// `saki profile view`.
fn view_profile(file: &Path, why: &[String]) -> Result<(), String> {
    let contents = profile::file::read(file)?;
    if profile::file::is_snapshot(&contents) {
        return profile::heap_command::view(file, &contents, why);
    }
    if !why.is_empty() {
        return Err(format!("{}: this is no heap snapshot, which --why is for", file.display()));
    }
    profile::command::view(file, &contents)
}

/// `saki profile diff`.
fn compare_profiles(before: &Path, after: &Path, output: Option<&Path>) -> Result<(), String> {
    let contents = (profile::file::read(before)?, profile::file::read(after)?);
    let (before, after) = ((before, &*contents.0), (after, &*contents.1));
    if profile::file::is_snapshot(before.1) && profile::file::is_snapshot(after.1) {
        return profile::heap_command::compare(before, after, output);
    }
    profile::command::compare(before, after, output)
}

/// A set-user-id process must not follow its starter's environment: removes Saki's variables, and those of Mono's that
/// Saki heeds, before anything reads them. (The C library does so with its own.)
fn forget_environment() {
    if saki_os::privilege::is_elevated() {
        // SAFETY: the process has just begun, and has no other thread yet.
        unsafe { environment::forget() };
    }
}

/// Runs the program as Mono's environment variables ask.
fn with_environment(name: &str, options: Options) -> i32 {
    match mono::apply_environment(options) {
        Ok(options) => run(name, &options),
        Err(stop) => stop.print(),
    }
}

/// A program that is compiled first.
fn run_source(name: &str, command: &RunCommand) -> i32 {
    static TEMPORARY: OnceLock<PathBuf> = OnceLock::new();
    fn remove() {
        if let Some(folder) = TEMPORARY.get() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
    match run_source::prepare(command) {
        Ok(prepared) => {
            if let Some(source) = command.sources.first() {
                program_words::show_as(source);
            }
            if let Some(folder) = prepared.temporary
                && TEMPORARY.set(folder).is_ok()
            {
                saki_os::at_exit(ExitStage::TemporaryFiles, remove);
            }
            with_environment(name, prepared.options)
        }
        Err(code) => code,
    }
}

/// Runs the program, if it is one.
fn run(name: &str, options: &Options) -> i32 {
    let path = Path::new(options.program());
    if !options.compile_only.is_empty() || options.check_mutants {
        return start(options, path, Libraries::Mono);
    }
    if options.libraries() != Some(Libraries::Mono) {
        match net_program::open(path) {
            Ok(Some(program)) => {
                let options = Options { shown: program.shown, executable: Some(program.executable), ..options.clone() };
                return start(&options, &program.assembly, Libraries::Net);
            }
            Ok(None) => {}
            Err(message) => return fail(&message),
        }
    }
    let asked = options.libraries().or_else(|| is_net_framework(&options.framework_root()).then_some(Libraries::Net));
    let message = match info::check_program(path, asked) {
        Ok(libraries) => return start(options, path, libraries),
        Err(message) => message,
    };
    let program = options.program();
    if !path.exists() {
        if command_line::is_command_name(program) {
            return fail(&format!("{message} (a command comes before all options: saki {program} ...)"));
        }
        let about = command_line::about_missing(name, program).map(|about| format!("{program}: {about}"));
        return fail(&about.unwrap_or(message));
    }
    if options.host.is_none() && run_source::is_script(path) {
        return match RunCommand::new(options.clone(), Vec::new()) {
            Ok(command) => run_source(name, &command),
            Err(text) => fail(&text),
        };
    }
    fail(&run_source::about_project(program).unwrap_or(message))
}

/// Starts the machine and runs the program, a file that has been checked.
fn start(options: &Options, path: &Path, libraries: Libraries) -> i32 {
    let started = Moment::now();
    let (log, coverage) =
        match options.profile.as_ref().map(|option| option.settings(&options.framework_root())).transpose() {
            Ok(settings) => settings.unwrap_or_default(),
            Err(stop) => return stop.print(),
        };
    start_up_memory::prepare();
    let tools = match options.perf_tools() {
        Ok(tools) => tools,
        Err(message) => return fail(&message),
    };
    let options_of_machine = VmOptions {
        threads: options.threads,
        hot_stacks: options.hot_stacks,
        small_stacks: options.small_stacks,
        io: options.io,
        framework_root: options.framework_root(),
        mono_path: options.mono_path(),
        assembly_caches: environment::assembly_caches(),
        configuration: options.configuration(),
        messages: environment::messages(),
        pool_threads_per_cpu: environment::pool_threads_per_cpu(),
        crash_files: !environment::is_set("MONO_CRASH_NOFILE"),
        heap: options.heap(),
        dump: options.dump(),
        verify: options.verify,
        code_cache: options.code_cache().then(environment::cache_places),
        keep_allocations: options.profile.as_ref().is_some_and(|option| option.wants_each_allocation()),
        vectors: !options.no_simd,
        tiers: options.tiers,
        hot_after: options.hot_after,
        hot_seed: options.hot_seed,
        tools,
        statistics: options.stats,
        check_walks_hz: options.check_walks,
        replace_bodies_hz: options.replace_bodies,
        thread_dumps: true,
        serves_clients: true,
        log,
        coverage,
        trace: options.trace.clone(),
        ..VmOptions::default()
    };
    let host = HostEvents {
        before_exit: profile::command::before_exit,
        serve_request: profile::control::serve_request,
        ..HostEvents::default()
    };
    // As C programs do, and `mono`, but not .NET: for the program's native libraries. No other thread runs yet.
    // As .NET does, but not `mono`: servers of many connections rely on it.
    match libraries {
        Libraries::Mono => saki_os::locale::take_up(),
        Libraries::Net => saki_os::limits::raise_descriptor_limit(),
    }
    let started_machine = match libraries {
        Libraries::Mono => Vm::builder(saki_icall::upper_layers()).options(options_of_machine).host(host).start(),
        Libraries::Net => start_net(options, path, options_of_machine, host),
    };
    let machine = match started_machine {
        Ok(machine) => machine,
        Err(error) => return fail(&error.to_string()),
    };
    program_words::remember(&options.command);
    let assembly = match machine.load_program(path) {
        Ok(assembly) => assembly,
        Err(error) => return fail(&error.to_string()),
    };
    if !options.compile_only.is_empty() {
        return compile_only(assembly, options);
    }
    if options.check_mutants {
        return check_mutants::run(machine.main_thread(), assembly);
    }
    stats::at_exit(started.elapsed(), options);
    if let Some(option) = &options.profile
        && let Err(error) = option.begin()
    {
        return fail(&format!("no profile: {error}"));
    }
    machine.run(assembly, options.arguments())
}

/// The property that is `AppContext.BaseDirectory`.
const BASE_FOLDER: &str = "APP_CONTEXT_BASE_DIRECTORY";

/// Starts a machine on the class libraries of an installed .NET, whose own resolver says which.
fn start_net(
    options: &Options,
    path: &Path,
    mut machine_options: VmOptions,
    events: HostEvents,
) -> Result<Vm, StartError> {
    let file = options.shown.as_ref().map_or(path, |shown| &shown.executable);
    let named = |error: &dyn std::fmt::Display| StartError(format!("{}: {error}", file.display()));
    let mut base_folder = options.shown.as_ref().and_then(|shown| shown.base_folder.clone());
    let framework = options.framework_root();
    let (mut properties, executable) = match net_of_framework(&framework, path) {
        Some(properties) => (properties, executable::of_framework(options, &framework)),
        None => {
            let described = match options.host {
                Some(_) => None,
                None => net_program::on_installed_runtime(path).map_err(|error| named(&error))?,
            };
            let (described, folder) = described.unzip();
            base_folder = base_folder.or(folder);
            let host = options.host.as_ref().or(described.as_ref());
            let resolved = saki_dotnet::resolve(&environment::dotnet_places(), host, path, options.arguments())
                .map_err(|error| named(&error))?;
            let executable = match described {
                Some(_) => executable::beside(options, path),
                None => executable::of_root(options, &resolved.root.path),
            };
            (resolved.properties, executable)
        }
    };
    for (name, value) in &mut properties {
        if let Some(folder) = base_folder.as_ref().filter(|_| name == BASE_FOLDER) {
            *value = folder.join("").display().to_string();
        }
    }
    let properties = RuntimeProperties::new(properties);
    settings::apply_properties(&mut machine_options, &properties, |name| options.given.contains(&name))
        .map_err(|error| named(&error))?;
    // SIGQUIT is the program's own: it ends it, or is handled.
    machine_options.thread_dumps = false;
    let program = options.shown.as_ref().map(|shown| shown.executable.display().to_string());
    net::start(NetStart { properties, program, executable, contract: None, options: machine_options, events })
}

/// `--compile-only`: prints the methods' code.
fn compile_only(assembly: &'static Assembly, options: &Options) -> i32 {
    for name in &options.compile_only {
        match compile_to_text(assembly, name, options.form()) {
            Ok(text) => messages::answer(format_args!("{text}")),
            Err(error) => return fail(&error.to_string()),
        }
    }
    0
}

/// Whether a folder holds the class libraries of a .NET.
fn is_net_framework(folder: &Path) -> bool {
    folder.join("System.Private.CoreLib.dll").is_file()
}

/// The properties of a program on the class libraries of .NET in one folder (`--framework`), where it holds them; the
/// program's own libraries lie beside it.
fn net_of_framework(framework: &Path, program: &Path) -> Option<Vec<(String, String)>> {
    is_net_framework(framework).then(|| {
        let folder = program.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let libraries = |folder: &Path| -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let files =
                entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ext| ext == "dll"));
            files.map(|path| path.display().to_string()).collect()
        };
        let files = [libraries(folder), libraries(framework)].concat();
        let base = std::fs::canonicalize(folder).unwrap_or_default();
        vec![
            ("TRUSTED_PLATFORM_ASSEMBLIES".to_owned(), files.join(":")),
            ("NATIVE_DLL_SEARCH_DIRECTORIES".to_owned(), format!("{}:{}", base.display(), framework.display())),
            (BASE_FOLDER.to_owned(), format!("{}/", base.display())),
            ("RUNTIME_IDENTIFIER".to_owned(), format!("linux-{}", saki_dotnet::places::ARCHITECTURE)),
        ]
    })
}
