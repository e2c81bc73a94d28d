//! The reserve of a thread's stack: when it opens, when a safepoint throws, when it closes.
#![cfg(not(loom))]

use saki_os::FaultContext;
use saki_os::signal::{self, Disposition};
use saki_thread::{ManagedThread, POLL_STACK, ThreadKind, current, spawn};
use std::cell::Cell;

thread_local! {
    static OPENED: Cell<u32> = const { Cell::new(0) };
}

fn open(context: &mut FaultContext) -> Disposition {
    match current() {
        Some(thread) if thread.open_stack_reserve(context.fault_address(), false, context.sp()) => {
            OPENED.set(OPENED.get() + 1);
            Disposition::Handled
        }
        _ => Disposition::PassOn,
    }
}

/// Runs `test` on a thread with a stack of a mebibyte and a fault handler that opens the reserve.
fn run(test: fn(&'static ManagedThread)) {
    signal::install(libc::SIGSEGV, open).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = spawn(ThreadKind::Background, None, 1 << 20, move |thread| {
        test(thread);
        sender.send(()).unwrap();
    });
    assert!(thread.unwrap().join(None) && receiver.recv().is_ok());
}

/// Addresses of the thread's reserve.
fn reserve(thread: &ManagedThread) -> std::ops::Range<usize> {
    let stack = saki_os::thread::stack_bounds().unwrap();
    stack.start..thread.stack_bounds().start
}

fn touch(address: usize) {
    // SAFETY: unused stack of this thread, or its reserve, which the fault handler opens.
    unsafe { (address as *mut u8).write_volatile(1) };
}

/// Whether the next safepoint looks at the stack.
fn is_to_look(thread: &ManagedThread) -> bool {
    thread.poll() & POLL_STACK != 0
}

#[test]
fn what_a_thread_asks_for_is_usable_beside_the_reserve() {
    // The C library keeps a little for itself.
    run(|thread| assert!(thread.stack_bounds().len() + (16 << 10) > 1 << 20 && reserve(thread).len() == 384 << 10));
}

#[test]
fn a_touch_opens_the_reserve_and_a_safepoint_above_it_closes_it() {
    run(|thread| {
        let reserve = reserve(thread);
        for round in 1..4 {
            touch(reserve.end + 4096);
            assert!(!is_to_look(thread) && !thread.takes_stack_overflow());
            touch(reserve.end - 8192);
            touch(reserve.end - 12288);
            assert_eq!(OPENED.get(), round);
            assert!(is_to_look(thread) && !thread.takes_stack_overflow());
            assert!(!is_to_look(thread));
        }
    });
}

#[test]
fn the_lowest_part_opens_by_itself_and_not_for_a_large_frame() {
    run(|thread| {
        let reserve = reserve(thread);
        touch(reserve.end - 8192);
        assert_eq!(OPENED.get(), 1);
        let lowest = reserve.start + 8192;
        assert!(
            !thread.open_stack_reserve(lowest, true, lowest)
                && !thread.open_stack_reserve(reserve.end - 8192, false, lowest)
        );
        assert!(!thread.has_stack_to_throw(lowest) && thread.has_stack_to_throw(reserve.end - 8192));
        touch(lowest);
        assert_eq!(OPENED.get(), 2);
        assert!(!thread.open_stack_reserve(lowest, false, lowest) && !thread.takes_stack_overflow());
        // All of it was closed.
        touch(lowest);
        touch(reserve.end - 8192);
        assert_eq!(OPENED.get(), 3);
    });
}

#[test]
fn an_address_elsewhere_is_none_of_the_reserve() {
    run(|thread| {
        let reserve = reserve(thread);
        for address in [0, reserve.start - 1, reserve.end + 4096] {
            assert!(!thread.open_stack_reserve(address, false, address), "{address:#x}");
        }
        assert!(!is_to_look(thread));
    });
}

/// Uses the stack down to `end`; gives the addresses at which a safepoint was to throw.
#[inline(never)]
fn descend(thread: &ManagedThread, end: usize, thrown_at: &mut Vec<usize>) {
    let mut frame = [0_u8; 1000];
    let here = std::hint::black_box(&mut frame).as_ptr() as usize;
    if is_to_look(thread) && thread.takes_stack_overflow() {
        thrown_at.push(here);
    }
    if here > end {
        descend(thread, end, thrown_at);
    }
    std::hint::black_box(&mut frame);
}

#[test]
fn each_throw_leaves_half_of_the_rest_to_the_handlers() {
    run(|thread| {
        let reserve = reserve(thread);
        for _ in 0..2 {
            let mut thrown_at = Vec::new();
            descend(thread, reserve.start + 32768, &mut thrown_at);
            let rest = |address: usize| (address - reserve.start) * 100 / reserve.len();
            assert!((95..=100).contains(&rest(thrown_at[0])), "{:?}", rest(thrown_at[0]));
            assert!((45..=50).contains(&rest(thrown_at[1])), "{:?}", rest(thrown_at[1]));
            assert!(thrown_at[2..].iter().all(|&address| rest(address) <= 25) && thrown_at.len() > 20);
            assert!(!thread.takes_stack_overflow() && !is_to_look(thread));
        }
        assert_eq!(OPENED.get(), 4);
    });
}
