//! Unhandled exceptions: the text is written to stderr, and the process ends with `UNHANDLED_EXIT_CODE` or
//! `OTHER_EXIT_CODE`.

use crate::domain_copy;
use crate::domains::{self, Domain};
use crate::exception_types::ExceptionType;
use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::invoke::{self, Slot};
use crate::references::{Obj, Str};
use crate::thread::{CurrentThread, Managed};
use crate::upper_layers::upper_layers;
use crate::vm::{net, options};
use saki_types::{LibraryType, universe};

/// Exit code of a process that an unhandled exception ended, as Mono's.
pub const UNHANDLED_EXIT_CODE: i32 = 1;

/// The exit code after an unhandled exception of a work item of the thread pool or of a finalizer, and after an abort
/// of the main thread.
pub const OTHER_EXIT_CODE: i32 = 255;

static UNHANDLED: ManagedField = ManagedField::new(LibraryType::AppDomain, "UnhandledException");

/// The text of an exception: `ToString()`, or its type name when that fails.
pub fn describe(t: CurrentThread, exception: Obj) -> String {
    text_of(t, exception).unwrap_or_else(|| exception.ty().full_name())
}

/// `ToString()` of an exception; None when that fails.
pub fn text_of(t: CurrentThread, exception: Obj) -> Option<String> {
    let to_string = universe().object().find_method("ToString", 0).ok().flatten()?;
    match invoke::invoke_virtual(t, to_string, exception, &[]) {
        // SAFETY: `ToString` gives a string or null.
        Ok(slot) => unsafe { slot.as_obj() }.and_then(Obj::as_str).map(Str::to_rust),
        Err(_) => {
            t.take_pending();
            None
        }
    }
}

/// Writes Mono's text for an unhandled exception that was not passed to a handler of the program.
pub fn report(t: CurrentThread, exception: Obj) {
    write_report(&describe(t, exception), false);
}

fn write_report(text: &str, was_handled: bool) {
    let unhandled = if was_handled { String::new() } else { format!("\nUnhandled Exception:\n{text}\n") };
    saki_base::messages::tell(format_args!("{unhandled}[ERROR] FATAL UNHANDLED EXCEPTION: {text}\n"));
}

/// Takes the pending exception, reports it and ends the process.
pub fn report_and_exit(t: CurrentThread) -> ! {
    report_and_exit_with(t, UNHANDLED_EXIT_CODE)
}

/// Takes the pending exception, reports it and ends the process with this exit code. A thread that was stopped because
/// another one ends the process reports nothing: it waits for the end. An abort is not a failure of the program: only
/// its last line is written, and the exit code is `Environment.ExitCode` where Main gives none.
pub fn report_and_exit_with(t: CurrentThread, exit_code: i32) -> ! {
    if crate::exit::is_over_for(t) {
        crate::exit::wait_for_end();
    }
    let exception = t.take_exception();
    // Managed code that runs from here on must not be aborted.
    crate::thread_aborts::forget_abort(t);
    if options().net.is_some() {
        net::report_unhandled(t, exception);
        saki_thread::abort_process();
    }
    let is_abort = ExceptionType::ThreadAbort.is(exception.ty());
    let (was_handled, exit_code) = match is_abort {
        true if crate::exit_code::main_returns_value() => (true, OTHER_EXIT_CODE),
        true => (true, crate::exit_code::exit_code()),
        false => (raise_event(t, exception), exit_code),
    };
    let is_reported = !is_abort
        && (options().host.reports_unhandled(t, || describe(t, exception))
            || (upper_layers().host.report_unhandled)(t, exception));
    if !is_reported {
        write_report(&describe(t, exception), was_handled);
    }
    saki_thread::end_process(exit_code)
}

/// Calls the `AppDomain.UnhandledException` delegates of the default domain, then those of the current one; whether
/// there are any.
pub fn raise_event(t: CurrentThread, exception: Obj) -> bool {
    let (home, root) = (domains::current(), domains::root_domain());
    let mut was_handled = false;
    if !std::ptr::eq(home, root) && handler_in(t, root).is_some() {
        t.set_pending(exception);
        let _ = domain_copy::copy_pending(t, root.universe);
        let copied = t.take_exception();
        was_handled = domains::run_in(t, root, || raise_event_in(t, root, copied));
    }
    was_handled | raise_event_in(t, home, exception)
}

/// The delegate of a domain's handlers.
fn handler_in<'t>(t: CurrentThread<'t>, domain: &Domain) -> Option<Obj<'t>> {
    UNHANDLED.obj(domain.object(t)?)
}

fn raise_event_in(t: CurrentThread, domain: &Domain, exception: Obj) -> bool {
    let Some(handler) = handler_in(t, domain) else { return false };
    let raised: Managed<()> = (|| {
        let args_ty = universe().library_type(LibraryType::UnhandledExceptionEventArgs).to_managed(t)?;
        let args = Obj::new(t, args_ty)?;
        if let Some(ctor) = args_ty.find_method(".ctor", 2).to_managed(t)? {
            invoke::invoke(t, ctor, &[Slot::from_ref(args), Slot::from_ref(exception), Slot::from_bool(true)])?;
        }
        let invoke = saki_il::synth::delegate::invoke_method(handler.ty()).to_managed(t)?;
        invoke::invoke(t, invoke, &[Slot::from_ref(handler), Slot::from_ref(domain.object(t)), Slot::from_ref(args)])?;
        Ok(())
    })();
    if raised.is_err() {
        t.take_pending();
    }
    true
}
