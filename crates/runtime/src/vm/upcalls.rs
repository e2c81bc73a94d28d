//! The answers of the upper layers to the lower ones (`object::upcalls`): each method names the module that answers.

use crate::events::{LockWait, LogEvents, is_logged};
use crate::exec::dynamic_casts;
use crate::host_events::{ClausePart, HostEvent, HostEventKind, is_wanted, tell_if_wanted};
use crate::references::Obj;
use crate::slot::Slot;
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::Upcalls;
use crate::vm::{stack_overflow, thread_pool};
use crate::{
    call_trace, coverage, dynamic_methods, helpers, host_probes, host_profiler, invoke, profile_events, profile_log,
    proxy_calls, upper_layers,
};
use saki_abi::vtable::VTable;
use saki_abi::{HelperId, ObjRef};
use saki_code::CodeInfo;
use saki_il::ir::Function;
use saki_jit::CompiledBy;
use saki_sync::handle_table::Handle;
use saki_types::{Method, Ty};

/// See the module header.
pub(crate) struct RuntimeUpcalls;

impl Upcalls for RuntimeUpcalls {
    fn invoke(&self, t: CurrentThread, method: &'static Method, args: &[Slot]) -> Managed<Slot> {
        invoke::invoke(t, method, args)
    }

    fn can_cast_dynamically(&self, t: CurrentThread, object: Obj, to: Ty, throws: bool) -> Managed<Option<bool>> {
        dynamic_casts::is_implemented(t, object, to, throws)
    }

    fn dynamic_method(&self, t: CurrentThread, on: Obj, method: &'static Method) -> Managed<Option<&'static Method>> {
        dynamic_casts::implementation(t, on, method)
    }

    fn end_by_stack_overflow(&self, t: CurrentThread) -> ! {
        stack_overflow::end_process(t)
    }

    fn can_cast_proxy(&self, t: CurrentThread, proxy: Obj, ty: Ty) -> Managed<bool> {
        proxy_calls::can_cast(t, proxy, ty)
    }

    fn helper_function(&self, id: HelperId) -> usize {
        helpers::function_address(id)
    }

    fn keep_dynamic_method(&self, method: &'static Method) {
        dynamic_methods::keep(method);
    }

    fn discard_body(&self, body: &'static CodeInfo) {
        dynamic_methods::discard(body);
    }

    fn thrown_asynchronously(&self) {
        thread_pool::note_uncounted();
    }

    fn are_calls_probed(&self) -> bool {
        let is_probed_for_host = is_wanted(HostEventKind::Probes) || is_wanted(HostEventKind::ClausesLeft);
        profile_log::calls::are_probed() || call_trace::is_wanted() || coverage::is_wanted() || is_probed_for_host
    }

    fn add_probes(&self, method: &'static Method, function: &mut Function) {
        profile_log::calls::add_probes(method, function);
        call_trace::add_probes(method, function);
        host_probes::add_probes(method, function);
    }

    unsafe fn probed(&self, t: CurrentThread, tagged: usize, is_end: bool) {
        // SAFETY: `tagged` is what a probe was compiled with, which both functions demand.
        unsafe { profile_log::calls::probed(t, tagged, is_end) };
    }

    unsafe fn traced(&self, t: CurrentThread, tagged: usize, words: usize, is_end: bool) {
        if host_probes::is_of_host(tagged) {
            // SAFETY: `tagged` is what a probe was compiled with, and `words` are those that it passes.
            return unsafe { host_probes::reached(tagged, words, is_end) };
        }
        // SAFETY: `tagged` is what a probe was compiled with, and `words` are those that it passes, which both
        // functions demand.
        unsafe { call_trace::traced(t, tagged, words, is_end) };
    }

    fn statements(&self, method: &'static Method) -> Vec<u32> {
        coverage::offsets_of(method)
    }

    fn statement_covered(&self, method: &'static Method, offset: u32) {
        coverage::cover(method, offset);
    }

    fn are_clauses_told(&self) -> bool {
        is_wanted(HostEventKind::ClausesLeft)
    }

    fn finally_entered(&self, method: &'static Method, clause: u32) {
        tell_if_wanted(HostEvent::ClauseEntered(method, clause, ClausePart::Finally, None));
    }

    fn type_loaded(&self, ty: Ty, vtable: &VTable) {
        profile_events::type_loaded(ty, vtable);
    }

    fn handle_created(&self, t: CurrentThread, handle: Handle, target: ObjRef) {
        if profile_events::is_listening_to_handles() {
            profile_events::handle_created(t, handle, target);
        }
        if is_logged(LogEvents::HANDLE) {
            profile_log::events::handle_created(t, handle, target);
        }
    }

    fn handle_to_be_freed(&self, t: CurrentThread, handle: Handle) {
        if is_logged(LogEvents::HANDLE) {
            profile_log::events::handle_to_be_freed(t, handle);
        }
    }

    fn handle_freed(&self, t: CurrentThread, handle: Handle) {
        if profile_events::is_listening_to_handles() {
            profile_events::handle_freed(t, handle);
        }
    }

    fn lock_wait_ended(&self, t: CurrentThread, object: Obj, wait: LockWait) {
        profile_events::lock_wait_ends(t, object, wait);
    }

    fn lock_contended(&self, t: CurrentThread, object: Obj, what: u8) {
        profile_log::events::monitor(t, object, what);
    }

    fn compiled(&self, t: CurrentThread, method: &'static Method, code: usize, by: CompiledBy, began_ns: u64) {
        profile_events::compiled(t, method, code, by, began_ns);
    }

    fn code_published(&self, method: &'static Method, code: usize) {
        profile_log::events::compiled(method, code);
    }

    fn tell_host(&self, event: HostEvent<'_>) {
        upper_layers::tell_host(event);
    }

    fn tell_host_of_type(&self, kind: HostEventKind, ty: Ty) {
        host_profiler::tell_of_type(kind, ty);
    }

    fn tell_host_deferred(&self, t: CurrentThread) {
        host_profiler::tell_deferred(t);
    }
}
