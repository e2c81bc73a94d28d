//! Values of fewer than 32 bits pass correctly between compiled code and the Rust functions of internal calls.

use saki_runtime::CurrentThread;
use saki_runtime::exec::crossings::Callable;

fn negated(_t: CurrentThread, flag: bool) -> bool {
    !flag
}

fn low_byte(_t: CurrentThread, value: i32) -> i8 {
    value as i8
}

fn low_half(_t: CurrentThread, value: i32) -> u16 {
    value as u16
}

fn byte_argument(_t: CurrentThread, value: u8) -> i32 {
    i32::from(value)
}

/// The whole register that compiled code gets as result, for an argument that fills a whole register.
fn call<Parts, F: Callable<Parts>>(_function: &F, argument: i32) -> i32 {
    // SAFETY: the entry of a function of one such parameter and result.
    let entry: extern "C" fn(CurrentThread, i32) -> i32 = unsafe { std::mem::transmute(F::ENTRY) };
    // SAFETY: the functions above do not look at their thread.
    entry(unsafe { CurrentThread::from_abi(std::ptr::null_mut()) }, argument)
}

#[test]
fn results_are_extended() {
    assert_eq!(call(&low_byte, 0x1ff), -1);
    assert_eq!(call(&low_byte, 0x17f), 0x7f);
    assert_eq!(call(&low_half, 0x1_8000), 0x8000);
    assert_eq!(call(&negated, 0), 1);
    assert_eq!(call(&negated, 1), 0);
}

#[test]
fn any_byte_but_zero_is_true() {
    assert_eq!(call(&negated, 2), 0);
    assert_eq!(call(&negated, 0xff), 0);
    // Only the lowest byte counts.
    assert_eq!(call(&negated, 0x100), 1);
    assert_eq!(call(&byte_argument, 0x107), 7);
}
