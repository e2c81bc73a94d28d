//! Mono.Runtime's reports: the state of a thread, of all threads or of an exception as JSON in Mono's format (protocol
//! 0.0.5), with hashes by which equal stacks are found.
//!
//! A report's progress can be followed in a folder: a file `crash_stage_N` is made when stage N begins, so that the
//! next run of the program sees how far the last report got. Left out: native frames, hence also the libraries
//! registered for them; sending to Microsoft's error reporting, which Mono does on macOS only; reports of the process's
//! own crash.

use crate::arguments::non_null;
use saki_base::locks::{Mutex, rank};
use saki_reflect::native_memory::text_of;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::vm::stack_trace::{self, NO_IL_OFFSET, TraceFrame};
use saki_runtime::vm::thread_dump;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place, Str};
use saki_thread::ManagedThread;
use std::ffi::c_char;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

/// Files for one hash, as under Mono.
const MAX_FILES_PER_HASH: u32 = 100;

/// `CrashReportLogLevel`.
#[derive(Clone, Copy)]
#[repr(i32)]
enum Stage {
    Setup = 1,
    SuspendHandshake = 2,
    UnmanagedStacks = 3,
    ManagedStacks = 4,
    StateWriter = 5,
    StateWriterDone = 6,
    Cleanup = 9,
    Done = 10,
}

/// The last stage; a folder is searched for it and the stages below it down to `Setup`.
const LAST_STAGE: i32 = Stage::Done as i32;

/// The folder where stages are noted; None: they are not noted.
static STAGE_FOLDER: Mutex<rank::CrashFolder, Option<String>> = Mutex::new(None);

fn stage_file(folder: &str, stage: i32) -> String {
    format!("{folder}/crash_stage_{stage}")
}

/// Notes that a stage begins.
fn note_stage(stage: Stage) {
    // The lock is given back before the thread may wait for a stop of the world.
    let folder = STAGE_FOLDER.lock().clone();
    if let Some(folder) = folder {
        // The report matters more than its log.
        let _ = saki_thread::blocking(|| File::create(stage_file(&folder, stage as i32)));
    }
}

/// FNV-1a hashes of the frames, equal in all runs. 0 stands for no frames.
#[derive(Clone, Copy, Default)]
struct Hashes {
    /// The hash of modules and methods.
    portable: u64,
    /// The hash that also covers the offsets in the methods.
    unportable: u64,
}

fn mix(hash: u64, bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x100_0000_01b3;
    let start = if hash == 0 { BASIS } else { hash };
    bytes.iter().fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)).max(1)
}

impl Hashes {
    fn add(&mut self, mvid: &[u8; 16], token: u32, il_offset: u32) {
        for (hash, place) in [(&mut self.portable, 0), (&mut self.unportable, il_offset)] {
            *hash = mix(mix(mix(*hash, mvid), &token.to_le_bytes()), &place.to_le_bytes());
        }
    }

    fn add_all(&mut self, other: Hashes) {
        self.portable = mix(self.portable, &other.portable.to_le_bytes());
        self.unportable = mix(self.unportable, &other.unportable.to_le_bytes());
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn guid_text(guid: &[u8; 16]) -> String {
    let hex = |order: &[usize]| order.iter().map(|&index| format!("{:02X}", guid[index])).collect::<String>();
    let parts: [&[usize]; 5] = [&[3, 2, 1, 0], &[5, 4], &[7, 6], &[8, 9], &[10, 11, 12, 13, 14, 15]];
    parts.map(hex).join("-")
}

/// The frames as a JSON array, and their hashes.
fn describe_frames(frames: &[TraceFrame]) -> (String, Hashes) {
    /// Table of methods, in a token's first byte.
    const METHOD_DEF: u32 = 0x0600_0000;
    let mut hashes = Hashes::default();
    let described = frames.iter().map(|frame| {
        let image = frame.method.image();
        let mvid = image.meta.mvid();
        // Wrappers and methods made at run time have no row.
        let rid = if frame.is_wrapper { None } else { frame.method.rid() };
        let token = rid.map_or(0, |rid| METHOD_DEF | rid);
        hashes.add(&mvid, token, frame.il_offset);
        let il_offset = if frame.is_wrapper { NO_IL_OFFSET } else { frame.il_offset };
        let file = image.meta.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!(
            "{{\"is_managed\" : \"true\", \"guid\" : \"{}\", \"token\" : \"{token:#07x}\", \"native_offset\" : \"{:#x}\", \
             \"filename\" : {}, \"il_offset\" : \"{il_offset:#07x}\"}}",
            guid_text(&mvid),
            frame.native_offset,
            quoted(&file)
        )
    });
    let array = format!("[\n      {}\n    ]", described.collect::<Vec<_>>().join(",\n      "));
    (array, hashes)
}

/// A thread of a report. `rest`: members that depend on the kind of report, each after a comma.
fn describe_thread(hashes: Hashes, is_reporter: bool, thread: Option<&ManagedThread>, rest: &str) -> String {
    let mut out = format!(
        "{{\n    \"is_managed\" : {},\n    \"offset_free_hash\" : \"{:#x}\",\n    \"offset_rich_hash\" : \"{:#x}\",\n    \
         \"crashed\" : {is_reporter},\n    \"native_thread_id\" : \"{:#x}\"",
        thread.is_some(),
        hashes.portable,
        hashes.unportable,
        thread.map_or(0, ManagedThread::native_id)
    );
    if let Some(name) = thread.and_then(ManagedThread::name) {
        let _ = write!(out, ",\n    \"thread_name\" : {}", quoted(&name));
    }
    out.push_str(rest);
    out.push_str("\n  }");
    out
}

fn report(threads: &[String]) -> String {
    format!(
        "{{\n  \"protocol_version\" : \"0.0.5\",\n  \"configuration\" : {{\n    \"version\" : {},\n    \
         \"architecture\" : {}\n  }},\n  \"memory\" : {{\n    \"minor_gc_count\" : \"{}\",\n    \
         \"major_gc_count\" : \"{}\"\n  }},\n  \"threads\" : [\n  {}\n  ]\n}}",
        quoted(&super::runtime::display_name()),
        quoted(super::runtime::ARCHITECTURE),
        // Generation 0 counts full collections, too.
        saki_gc::collection_count(0) - saki_gc::collection_count(1),
        saki_gc::collection_count(1),
        threads.join(",\n  ")
    )
}

fn managed_frames(frames: &str) -> String {
    format!(",\n    \"managed_frames\" : {frames}")
}

fn give<'t>(
    t: CurrentThread<'t>,
    text: &str,
    hashes: Hashes,
    portable: Place<u64>,
    unportable: Place<u64>,
) -> Managed<Str<'t>> {
    portable.set(hashes.portable);
    unportable.set(hashes.unportable);
    Str::new(t, text)
}

fn exception_to_state<'t>(
    t: CurrentThread<'t>,
    exception: Option<Obj>,
    portable: Place<u64>,
    unportable: Place<u64>,
) -> Managed<Str<'t>> {
    for stage in [Stage::Setup, Stage::SuspendHandshake, Stage::UnmanagedStacks, Stage::ManagedStacks] {
        note_stage(stage);
    }
    let (hashes, rest) = match exception {
        None => (Hashes::default(), String::new()),
        Some(exception) => {
            let (frames, hashes) = describe_frames(&stack_trace::frames_of(exception));
            let name = quoted(&exception.ty().full_name());
            let rest = format!(",\n    \"exceptions\" : [{{\"type\" : {name}, \"managed_frames\" : {frames}}}]");
            (hashes, rest)
        }
    };
    note_stage(Stage::StateWriter);
    let text = report(&[describe_thread(hashes, true, None, &rest)]);
    note_stage(Stage::StateWriterDone);
    give(t, &text, hashes, portable, unportable)
}

fn dump_state_single<'t>(t: CurrentThread<'t>, portable: Place<u64>, unportable: Place<u64>) -> Managed<Str<'t>> {
    let (frames, hashes) = describe_frames(&stack_trace::walk(t));
    let text = report(&[describe_thread(hashes, true, Some(t.managed()), &managed_frames(&frames))]);
    give(t, &text, hashes, portable, unportable)
}

fn dump_state_total<'t>(t: CurrentThread<'t>, portable: Place<u64>, unportable: Place<u64>) -> Managed<Str<'t>> {
    note_stage(Stage::Setup);
    note_stage(Stage::SuspendHandshake);
    let (threads, hashes) = thread_dump::with_stacks(|stacks| {
        note_stage(Stage::UnmanagedStacks);
        note_stage(Stage::ManagedStacks);
        let mut all = Hashes::default();
        let describe = |stack: &thread_dump::Stack| {
            let (frames, hashes) = describe_frames(&stack.frames);
            all.add_all(hashes);
            let thread = stack.thread.as_static();
            let is_reporter = std::ptr::eq(thread, t.managed());
            describe_thread(hashes, is_reporter, Some(thread), &managed_frames(&frames))
        };
        let threads: Vec<String> = stacks.iter().map(describe).collect();
        (threads, all)
    });
    note_stage(Stage::StateWriter);
    let text = report(&threads);
    for stage in [Stage::StateWriterDone, Stage::Cleanup, Stage::Done] {
        note_stage(stage);
    }
    give(t, &text, hashes, portable, unportable)
}

/// Writes a report to `mono_crash.HASH.N.json` in the current folder, unless the options of the start forbid it.
fn write_state_to_file(_t: CurrentThread, report: *const c_char, portable: u64, _unportable: u64) {
    // SAFETY: null or a C string that Mono.Runtime frees after the call.
    let Some(report) = (unsafe { text_of(report) }) else { return };
    if !saki_runtime::vm::options().crash_files {
        return;
    }
    saki_thread::blocking(|| {
        for number in 0..MAX_FILES_PER_HASH {
            let name = format!("mono_crash.{portable:x}.{number}.json");
            if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).open(name) {
                // As under Mono, the caller does not learn of a full disk.
                let _ = file.write_all(report.as_bytes());
                return;
            }
        }
    });
}

/// Null ends the noting of stages.
fn enable_stage_log(_t: CurrentThread, folder: *const c_char) {
    // SAFETY: null or a C string that Mono.Runtime frees after the call.
    *STAGE_FOLDER.lock() = unsafe { text_of(folder) };
}

/// The last stage that a report noted in the folder; 0 = none.
fn check_stage_log(_t: CurrentThread, folder: *const c_char, clear: bool) -> i32 {
    // SAFETY: null or a C string that Mono.Runtime frees after the call.
    let Some(folder) = (unsafe { text_of(folder) }) else { return 0 };
    saki_thread::blocking(|| {
        let mut last = 0;
        for stage in 1..=LAST_STAGE {
            let file = stage_file(&folder, stage);
            if fs::exists(&file).unwrap_or(false) {
                last = stage;
                if clear {
                    // A file that cannot be removed is found again next time, as under Mono.
                    let _ = fs::remove_file(&file);
                }
            }
        }
        last
    })
}

/// Does nothing: reports have no native frames, which would need names of libraries.
fn register_all_libraries(_t: CurrentThread) {}

fn register_library(_t: CurrentThread, _path_suffix: *const c_char, _name: *const c_char) {}

/// Native frames of exceptions are not recorded; Mono says the same of an exception without any.
fn native_stack_trace<'t>(t: CurrentThread<'t>, exception: Option<Obj>) -> Managed<Str<'t>> {
    non_null(t, exception, "exception")?;
    Str::new(t, "")
}

/// Annotating, enabling, disabling and sending telemetry are not supported; before some of these calls managed code
/// throws by itself.
fn telemetry(t: CurrentThread) -> Managed<()> {
    let message = "Merp support is currently only supported on OSX.";
    Err(exceptions::throw(t, ExceptionType::PlatformNotSupported, message))
}

fn annotate_telemetry(t: CurrentThread, _key: *const u8, _value: *const u8) -> Managed<()> {
    telemetry(t)
}

fn enable_telemetry(
    t: CurrentThread,
    _bundle_id: *const u8,
    _signature: *const u8,
    _version: *const u8,
    _program: *const u8,
    _event_type: *const u8,
    _configuration: *const u8,
) -> Managed<()> {
    telemetry(t)
}

fn send_telemetry(t: CurrentThread, _payload: *const u8, _portable_hash: u64, _unportable_hash: u64) -> Managed<()> {
    telemetry(t)
}

/// The internal calls of `Mono.Runtime`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8,6.12 Mono.Runtime::AnnotateMicrosoftTelemetry_internal", &annotate_telemetry),
    InternalCall::new("@6.8,6.12 Mono.Runtime::CheckCrashReportLog_internal", &check_stage_log),
    InternalCall::new("Mono.Runtime::DisableMicrosoftTelemetry", &telemetry),
    InternalCall::new("Mono.Runtime::DumpStateSingle_internal", &dump_state_single),
    InternalCall::new("Mono.Runtime::DumpStateTotal_internal", &dump_state_total),
    InternalCall::new("@6.8,6.12 Mono.Runtime::EnableCrashReportLog_internal", &enable_stage_log),
    InternalCall::new("@6.8,6.12 Mono.Runtime::EnableMicrosoftTelemetry_internal", &enable_telemetry),
    InternalCall::new("Mono.Runtime::ExceptionToState_internal", &exception_to_state),
    InternalCall::new("Mono.Runtime::GetNativeStackTrace", &native_stack_trace),
    InternalCall::new("@6.8,6.12 Mono.Runtime::RegisterReportingForAllNativeLibs_internal", &register_all_libraries),
    InternalCall::new("@6.8,6.12 Mono.Runtime::RegisterReportingForNativeLib_internal", &register_library),
    InternalCall::new("@6.8,6.12 Mono.Runtime::SendMicrosoftTelemetry_internal", &send_telemetry),
    InternalCall::new("@6.8,6.12 Mono.Runtime::WriteStateToFile_internal", &write_state_to_file),
];
