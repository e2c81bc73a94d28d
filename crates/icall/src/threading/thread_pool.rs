//! System.Threading.ThreadPool, over `saki_runtime::vm::thread_pool`.

use saki_runtime::object::exceptions;
use saki_runtime::vm::domains;
use saki_runtime::vm::thread_pool::{self, Counts};
use saki_runtime::{CurrentThread, ExceptionType, InternalCall, Managed, Place};

fn initialize(_t: CurrentThread, enable_worker_tracking: Place<u8>) {
    enable_worker_tracking.set(0);
}

fn request_worker_thread(t: CurrentThread) -> Managed<bool> {
    if thread_pool::request_worker(domains::current()) {
        return Ok(true);
    }
    let message = "The system refuses the thread pool its first thread.";
    Err(exceptions::throw(t, ExceptionType::OutOfMemory, message))
}

/// Whether the worker may take another work item.
fn notify_complete(t: CurrentThread) -> bool {
    thread_pool::note_item_ended(t.managed())
}

fn notify_progress(_t: CurrentThread) {
    thread_pool::note_progress();
}

fn notify_queued(_t: CurrentThread) {
    thread_pool::note_queued();
}

/// Only called when `InitializeVMTp` asks for it.
fn report_status(_t: CurrentThread, _is_working: bool) {}

fn store(counts: Counts, workers: Place<i32>, io: Place<i32>) {
    workers.set(counts.workers);
    io.set(counts.io);
}

fn get_min(_t: CurrentThread, workers: Place<i32>, io: Place<i32>) {
    store(thread_pool::min(), workers, io);
}

fn get_max(_t: CurrentThread, workers: Place<i32>, io: Place<i32>) {
    store(thread_pool::max(), workers, io);
}

fn get_available(_t: CurrentThread, workers: Place<i32>, io: Place<i32>) {
    store(thread_pool::available(), workers, io);
}

fn set_min(_t: CurrentThread, workers: i32, io: i32) -> bool {
    thread_pool::set_min(Counts { workers, io })
}

fn set_max(_t: CurrentThread, workers: i32, io: i32) -> bool {
    thread_pool::set_max(Counts { workers, io })
}

/// The internal calls of `System.Threading.ThreadPool`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.ThreadPool::GetAvailableThreadsNative", &get_available),
    InternalCall::new("System.Threading.ThreadPool::GetMaxThreadsNative", &get_max),
    InternalCall::new("System.Threading.ThreadPool::GetMinThreadsNative", &get_min),
    InternalCall::new("System.Threading.ThreadPool::InitializeVMTp", &initialize),
    InternalCall::new("System.Threading.ThreadPool::NotifyWorkItemComplete", &notify_complete),
    InternalCall::new("System.Threading.ThreadPool::NotifyWorkItemProgressNative", &notify_progress),
    InternalCall::new("System.Threading.ThreadPool::NotifyWorkItemQueued", &notify_queued),
    InternalCall::new("System.Threading.ThreadPool::ReportThreadStatus", &report_status),
    InternalCall::new("System.Threading.ThreadPool::RequestWorkerThread", &request_worker_thread),
    InternalCall::new("System.Threading.ThreadPool::SetMaxThreadsNative", &set_max),
    InternalCall::new("System.Threading.ThreadPool::SetMinThreadsNative", &set_min),
];
