//! Entries, stubs and the code map, exercised with hand-assembled bodies.

#![cfg(target_arch = "x86_64")]

use saki_abi::{AddressUse, ObjRef, Object, Reloc, RelocKind, StubId, ThreadAbi, VTable};
use saki_code::{
    CodeInfo, CodeKind, Landing, MethodEntry, NewBody, PlacedTarget, StubHooks, UnwindHooks, enter, grow,
    install_hooks, lookup, place, retire, stub_address,
};
use std::arch::naked_asm;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

/// `push rbp; mov rbp, rsp; lea rax, [rdi + rsi]; add rax, rdx; pop rbp; ret`
const ADD: &[u8] = &[0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x04, 0x37, 0x48, 0x01, 0xd0, 0x5d, 0xc3];
/// `mov rax, rdi; ret`
const FIRST_ARGUMENT: &[u8] = &[0x48, 0x89, 0xf8, 0xc3];

fn new_thread() -> Box<ThreadAbi> {
    // SAFETY: all fields are integers, atomics or nullable pointers.
    unsafe { Box::new(std::mem::zeroed()) }
}

fn place_plain(bytes: &[u8], name: &str) -> &'static CodeInfo {
    place(bytes.to_vec(), 32, &[], NewBody::new(CodeKind::Method, std::ptr::null(), name.to_owned())).expect("place")
}

fn call(target: usize, arguments: [u64; 3]) -> u64 {
    let mut thread = new_thread();
    let mut result = 0;
    // SAFETY: the tests' bodies take up to three integers.
    let status = unsafe { enter(&mut *thread, target, arguments, &mut result) };
    assert_eq!(status, 0);
    assert_eq!(thread.exit_frame, 0, "enter restores the exit frame");
    result
}

/// The result of compiling an entry; its address is the entry's argument.
struct LazyMethod {
    body: &'static [u8],
    entry: OnceLock<MethodEntry>,
    compiled: AtomicUsize,
}

fn new_lazy(body: &'static [u8]) -> &'static LazyMethod {
    let method = Box::leak(Box::new(LazyMethod { body, entry: OnceLock::new(), compiled: AtomicUsize::new(0) }));
    let entry = MethodEntry::new(&raw const *method as *const ()).expect("entry");
    method.entry.set(entry).unwrap();
    method
}

/// # Safety
/// `thread` is the current thread, `argument` a `LazyMethod` of `new_lazy`.
unsafe extern "C" fn compile(thread: *mut ThreadAbi, argument: *const ()) -> usize {
    // SAFETY: the test's current thread.
    assert_ne!(unsafe { (*thread).exit_frame }, 0);
    // SAFETY: `new_lazy` made the argument.
    let method = unsafe { &*(argument as *const LazyMethod) };
    // Relaxed: a counter of this test.
    method.compiled.fetch_add(1, Ordering::Relaxed);
    let info = place_plain(method.body, "lazy");
    method.entry.get().unwrap().lead_to(|| Some(info.start));
    trash_registers();
    info.start
}

static RESOLVED: AtomicUsize = AtomicUsize::new(0);

/// # Safety
/// None needed; unsafe only by the type of the hook.
unsafe extern "C" fn resolve(_: *mut ThreadAbi, receiver: ObjRef, method: *const ()) -> usize {
    assert!(!receiver.is_null());
    // Relaxed: a counter of this test.
    RESOLVED.fetch_add(1, Ordering::Relaxed);
    trash_registers();
    method as usize // the test's methods are code addresses
}

/// # Safety
/// `thread` is the current thread.
unsafe extern "C" fn trash(thread: *mut ThreadAbi) {
    // SAFETY: the test's current thread.
    unsafe { (*thread).stub_result = (*thread).stub_arg[0] + 1 };
    trash_registers();
}

/// Moves the stub's frame and its caller's to the memory from `stub_arg[1]` to `stub_arg[2]`, if there is some.
///
/// # Safety
/// `thread` is the current thread; the memory is unused.
unsafe extern "C" fn trash_or_grow(thread: *mut ThreadAbi, rbx: usize, r12: usize, r13: usize, r14: usize) -> usize {
    // SAFETY: the test's current thread.
    let [_, start, end] = unsafe { (*thread).stub_arg };
    let place = match start {
        0 => 0,
        // SAFETY: called by the stub (contract), and the memory is the test's.
        _ => unsafe { grow(thread, [rbx, r12, r13, r14], start as usize..end as usize) },
    };
    // SAFETY: the test's current thread.
    unsafe { trash(thread) };
    place
}

extern "C" fn never_thrown(_: *mut ThreadAbi, _: usize, _: *mut Landing) {
    unreachable!("no test throws")
}

extern "C" fn never_resumed(_: *mut ThreadAbi, _: usize, _: *mut Landing, _: ObjRef, _: u64) {
    unreachable!("no test throws")
}

extern "C" fn never_faulted(_: *mut ThreadAbi, _: usize, _: *mut Landing, _: u64) {
    unreachable!("no test faults")
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        install_hooks(StubHooks {
            compile,
            resolve_interface: resolve,
            poll: trash,
            poll_entry: trash_or_grow,
            class_init: trash,
            alloc_slow: trash,
            barrier_slow: trash,
            hot: trash,
            native_entered: trash,
            native_returned: trash,
            unwind: UnwindHooks { throw_pending: never_thrown, resume: never_resumed, fault: never_faulted },
        });
    });
}

/// Overwrites the registers that a hook may overwrite.
#[unsafe(naked)]
extern "C" fn trash_registers() {
    naked_asm!(
        ".irp r, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11",
        "mov \\r, -1",
        ".endr",
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "pcmpeqd xmm\\i, xmm\\i",
        ".endr",
        "ret",
    )
}

#[test]
fn entry_compiles_once_and_keeps_arguments() {
    install();
    let method = new_lazy(ADD);
    let entry = *method.entry.get().unwrap();
    assert_eq!(entry.target(), None);
    assert_eq!(MethodEntry::of_stub(entry.stub_address()).unwrap().cell_address(), entry.cell_address());
    assert_eq!(call(entry.stub_address(), [20, 2, 300]), 322);
    assert_eq!(call(entry.stub_address(), [1, 2, 3]), 6);
    // Relaxed: a counter of this test.
    assert_eq!(method.compiled.load(Ordering::Relaxed), 1);
    let code = entry.target().unwrap();
    assert_eq!(lookup(code).unwrap().start, code);
    assert!(lookup(entry.stub_address()).is_none());
    entry.lead_to(|| None);
    assert_eq!(call(entry.stub_address(), [1, 2, 4]), 7);
    // Relaxed: a counter of this test.
    assert_eq!(method.compiled.load(Ordering::Relaxed), 2);
}

#[test]
fn unbox_stub_skips_the_header_and_compiles() {
    install();
    let method = new_lazy(FIRST_ARGUMENT);
    let unbox = method.entry.get().unwrap().unbox_stub().unwrap();
    assert_eq!(call(unbox, [1000, 0, 0]), 1016);
    assert_eq!(call(unbox, [2000, 0, 0]), 2016);
    // Relaxed: a counter of this test.
    assert_eq!(method.compiled.load(Ordering::Relaxed), 1);
}

#[test]
fn interface_calls_are_resolved_once_per_pair() {
    install();
    let target = place_plain(ADD, "interface target").start;
    // `mov rax, [rsp]`-free: calls the stub with `imt_method` set by the caller of `enter`.
    let mut vtable_words = [0_u64; 32];
    let mut object = Object { vtable: vtable_words.as_mut_ptr() as *const VTable, sync: AtomicUsize::new(0) };
    let mut thread = new_thread();
    thread.imt_method = target as *const ();
    // Relaxed: a counter of this test.
    let before = RESOLVED.load(Ordering::Relaxed);
    for round in 0..3 {
        let mut result = 0;
        let receiver = &raw mut object as u64;
        // SAFETY: `ImtResolve` takes a receiver, ADD three integers.
        let status =
            unsafe { enter(&mut *thread, stub_address(StubId::ImtResolve), [receiver, round, 5], &mut result) };
        assert_eq!((status, result), (0, receiver + round + 5));
    }
    // Relaxed: a counter of this test.
    assert_eq!(RESOLVED.load(Ordering::Relaxed) - before, 1);
}

/// Registers before and after a call.
#[repr(C)]
struct Registers {
    xmm: [u128; 16],
    /// rax rcx rdx rsi r8 r9 r10 r11 rbx r12 r13 r14 rdi
    general: [u64; 13],
    padding: [u64; 3],
}

/// Loads `registers[0]` (rdi), calls the address in rsi, stores into `registers[1]`.
///
/// # Safety
/// rdi points to two `Registers`, and rsi is code that may be called with the values of the first.
#[unsafe(naked)]
unsafe extern "C" fn call_with_registers() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rdi",
        "push rsi",
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "movups xmm\\i, [rdi + \\i * 16]",
        ".endr",
        "mov rax, [rdi + 256]",
        "mov rcx, [rdi + 264]",
        "mov rdx, [rdi + 272]",
        "mov rsi, [rdi + 280]",
        "mov r8, [rdi + 288]",
        "mov r9, [rdi + 296]",
        "mov r10, [rdi + 304]",
        "mov r11, [rdi + 312]",
        "mov rbx, [rdi + 320]",
        "mov r12, [rdi + 328]",
        "mov r13, [rdi + 336]",
        "mov r14, [rdi + 344]",
        "mov rdi, [rdi + 352]",
        "call [rbp - 16]",
        "push rdi",
        "mov rdi, [rbp - 8]",
        "add rdi, 384",
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "movups [rdi + \\i * 16], xmm\\i",
        ".endr",
        "mov [rdi + 256], rax",
        "mov [rdi + 264], rcx",
        "mov [rdi + 272], rdx",
        "mov [rdi + 280], rsi",
        "mov [rdi + 288], r8",
        "mov [rdi + 296], r9",
        "mov [rdi + 304], r10",
        "mov [rdi + 312], r11",
        "mov [rdi + 320], rbx",
        "mov [rdi + 328], r12",
        "mov [rdi + 336], r13",
        "mov [rdi + 344], r14",
        "pop rax",
        "mov [rdi + 352], rax",
        "leave",
        "ret",
    )
}

#[test]
fn preserving_stubs_keep_every_register() {
    install();
    for stub in
        [StubId::Poll, StubId::PollEntry, StubId::ClassInit, StubId::AllocSlow, StubId::BarrierSlow, StubId::Hot]
    {
        let new_registers = |seed: u64| Registers {
            xmm: std::array::from_fn(|i| (u128::from(seed + i as u64) << 70) | 0xabcd_0000 | i as u128),
            general: std::array::from_fn(|i| seed * 1000 + i as u64),
            padding: [0; 3],
        };
        let mut registers = [new_registers(7), new_registers(0)];
        let mut thread = new_thread();
        thread.stub_arg[0] = 41;
        let arguments = [registers.as_mut_ptr() as u64, stub_address(stub) as u64, 0];
        let target = call_with_registers as unsafe extern "C" fn() as usize;
        // SAFETY: the function above takes the register file and the stub.
        let status = unsafe { enter(&mut *thread, target, arguments, std::ptr::null_mut()) };
        assert_eq!(status, 0);
        assert_eq!(thread.stub_result, 42, "{stub:?} called its hook");
        assert_eq!(registers[0].xmm, registers[1].xmm, "{stub:?}");
        assert_eq!(registers[0].general, registers[1].general, "{stub:?}");
    }
}

#[test]
fn a_frame_moves_to_the_inner_part_and_returns_to_the_outer() {
    const PUSH_ARGUMENT: u8 = 0x57;
    const PUSH_OWN_ADDRESS: u8 = 0x54;
    const LIMIT: usize = 4096;
    install();
    for (pushed, moves) in [(PUSH_ARGUMENT, true), (PUSH_OWN_ADDRESS, false)] {
        // push rbp; mov rbp, rsp; push rdi; push …; call stub; mov [rsi], rsp; pop rax; pop rax; pop rbp; ret
        let body = [
            &[0x55, 0x48, 0x89, 0xe5, PUSH_ARGUMENT, pushed, 0xe8, 0, 0, 0, 0],
            &[0x48, 0x89, 0x26, 0x58, 0x58, 0x5d, 0xc3][..],
        ]
        .concat();
        let target = PlacedTarget::Address(stub_address(StubId::PollEntry));
        let reloc = Reloc { offset: 7, kind: RelocKind::X86PcRelative4, usage: AddressUse::Called, target, addend: -4 };
        let info = NewBody::new(CodeKind::Method, std::ptr::null(), "grows");
        let code = place(body, 16, &[reloc], info).unwrap().start;
        let inner = vec![0_u64; 4096];
        let inner = inner.as_ptr_range();
        let mut thread = new_thread();
        thread.stack_base = saki_os::thread::stack_bounds().unwrap().end;
        thread.stack_limit = LIMIT;
        thread.stub_arg = [0, inner.start as u64, inner.end as u64];
        let (mut result, mut stack_pointer) = (0, 0_u64);
        // SAFETY: the body takes a number and the address of a word.
        let status = unsafe { enter(&mut *thread, code, [77, &raw mut stack_pointer as u64, 0], &mut result) };
        assert_eq!((status, result), (0, 77));
        assert_eq!(inner.contains(&(stack_pointer as *const u64)), moves);
        assert_eq!((thread.outer_sp, thread.stack_limit), (0, LIMIT));
        assert_eq!(*thread.poll.get_mut(), if moves { saki_abi::thread::THREAD_POLL_STACK } else { 0 });
    }
}

/// EXDEV.
const CROSS_DEVICE: i32 = 18;

/// A thread with what `abi::thread` says lies behind its first part.
#[repr(C)]
struct WholeThread {
    abi: ThreadAbi,
    state: u64,
    published_sp: usize,
    /// What the native function found.
    seen: [u64; 4],
}

/// # Safety
/// The arguments are those of the test below.
unsafe extern "C" fn native(thread: *mut WholeThread, a: u64, b: u64, c: f64) -> u64 {
    // SAFETY: the test's thread, which the stub's caller leaves alone during the call.
    let thread = unsafe { &mut *thread };
    thread.seen = [thread.state, thread.published_sp as u64, thread.abi.exit_frame as u64, (c * 2.0) as u64];
    saki_os::error::set_errno(CROSS_DEVICE);
    // Left by a callback.
    thread.state |= 1 << 32;
    a * 100 + b
}

#[test]
fn native_calls_leave_managed_state_and_come_back() {
    install();
    let code: [u8; 16] = [
        // push rbp; mov rbp, rsp; mov eax, 5; cvtsi2sd xmm0, eax
        0x55, 0x48, 0x89, 0xe5, 0xb8, 5, 0, 0, 0, 0xf2, 0x0f, 0x2a, 0xc0, 0x90, 0x90, 0x90,
    ];
    for (poll, stub) in [0, 1, 2]
        .into_iter()
        .flat_map(|poll| [StubId::CallNative, StubId::CallNativeSavingError].map(|stub| (poll, stub)))
    {
        // call stub; pop rbp; ret
        let body = [&code[..], &[0xe8, 0, 0, 0, 0, 0x5d, 0xc3]].concat();
        let target = PlacedTarget::Address(stub_address(stub));
        let reloc =
            Reloc { offset: 17, kind: RelocKind::X86PcRelative4, usage: AddressUse::Called, target, addend: -4 };
        let caller = place(body, 16, &[reloc], NewBody::new(CodeKind::Method, std::ptr::null(), "caller")).unwrap();
        // SAFETY: integers, atomics and nullable pointers.
        let mut thread: Box<WholeThread> = unsafe { Box::new(std::mem::zeroed()) };
        *thread.abi.poll.get_mut() = poll;
        thread.abi.stub_arg[0] = native as *const () as u64;
        let mut result = 0;
        let address = &raw mut *thread;
        // SAFETY: the body passes its arguments, and 5.0, on to the function above.
        let status = unsafe { enter(address.cast(), caller.start, [address as u64, 7, 8], &mut result) };
        assert_eq!((status, result), (0, 708), "{stub:?} {poll}");
        assert_eq!(thread.state, 0, "RUNNING, and no stale registers");
        let [state, published_sp, exit_frame, doubled] = thread.seen;
        assert_eq!((state, doubled), (u64::from(saki_abi::thread::THREAD_SAFE), 10));
        assert_eq!(exit_frame - published_sp, 32, "four registers are kept on the stack");
        assert_eq!(thread.abi.exit_frame, 0, "enter restores the exit frame");
        // The hooks, which overwrite all registers that they may, were called.
        assert_eq!(thread.abi.stub_result, if poll == 0 { 0 } else { thread.abi.stub_arg[0] + 1 });
        let error = if stub == StubId::CallNative { 0 } else { CROSS_DEVICE };
        assert_eq!(thread.abi.last_error, error);
    }
}

/// # Safety
/// The arguments are those of the test below.
unsafe extern "C" fn sum(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64) -> u64 {
    saki_os::error::set_errno(CROSS_DEVICE);
    [a, b, c, d, e, f, g, h, i].iter().fold(0, |sum, digit| 10 * sum + digit)
}

#[test]
fn arguments_in_memory_are_copied_below_the_stub_of_native_calls() {
    install();
    for (poll, stub) in [0, 1, 2]
        .into_iter()
        .flat_map(|poll| [StubId::CallNativeInMemory, StubId::CallNativeInMemorySavingError].map(|stub| (poll, stub)))
    {
        let code: [u8; 46] = [
            // push rbp; mov rbp, rsp; sub rsp, 32
            0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20,
            // mov qword [rsp], 7; mov qword [rsp + 8], 8; mov byte [rsp + 16], 9 of a word that is 0
            0x48, 0xc7, 0x04, 0x24, 7, 0, 0, 0, 0x48, 0xc7, 0x44, 0x24, 8, 8, 0, 0, 0, 0x48, 0xc7, 0x44, 0x24, 16, 9, 0,
            0, 0, // mov ecx, 4; mov r8d, 5
            0xb9, 4, 0, 0, 0, 0x41, 0xb8, 5, 0, 0, 0, 0x90,
        ];
        // mov r9d, 6; call stub; leave; ret
        let body = [&code[..], &[0x41, 0xb9, 6, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xc9, 0xc3]].concat();
        let target = PlacedTarget::Address(stub_address(stub));
        let reloc =
            Reloc { offset: 53, kind: RelocKind::X86PcRelative4, usage: AddressUse::Called, target, addend: -4 };
        let caller = place(body, 16, &[reloc], NewBody::new(CodeKind::Method, std::ptr::null(), "caller")).unwrap();
        // SAFETY: integers, atomics and nullable pointers.
        let mut thread: Box<WholeThread> = unsafe { Box::new(std::mem::zeroed()) };
        *thread.abi.poll.get_mut() = poll;
        thread.abi.stub_arg[0] = sum as *const () as u64;
        thread.abi.stub_arg[1] = 32;
        let mut result = 0;
        // SAFETY: the body passes its three arguments and six numbers on to the function above.
        let status = unsafe { enter((&raw mut *thread).cast(), caller.start, [1, 2, 3], &mut result) };
        assert_eq!((status, result), (0, 123_456_789), "{stub:?} {poll}");
        assert_eq!(thread.state, 0, "RUNNING");
        let error = if stub == StubId::CallNativeInMemory { 0 } else { CROSS_DEVICE };
        assert_eq!(thread.abi.last_error, error);
    }
}

#[test]
fn relocations_reach_near_far_and_own_targets() {
    install();
    let near = place_plain(ADD, "near").start;
    extern "C" fn far(a: u64, b: u64, _: u64) -> u64 {
        a * 1000 + b
    }
    let check = |target: PlacedTarget, expect| {
        // push rbp; mov rbp, rsp; call rel32; pop rbp; ret; then `lea rax, [rdi + 7]; ret` as own target at 11
        let body = [0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3, 0x48, 0x8d, 0x47, 0x07, 0xc3];
        let reloc = Reloc { offset: 5, kind: RelocKind::X86PcRelative4, usage: AddressUse::Called, target, addend: -4 };
        let info = NewBody::new(CodeKind::Method, std::ptr::null(), "caller");
        let caller = place(body.to_vec(), 16, &[reloc], info).unwrap();
        assert_eq!(call(caller.start, [3, 4, 5]), expect);
    };
    check(PlacedTarget::Address(near), 12);
    check(PlacedTarget::Address(far as extern "C" fn(u64, u64, u64) -> u64 as usize), 3004);
    check(PlacedTarget::OwnOffset(11), 10);
    // mov rax, imm64; ret
    let reloc = Reloc {
        offset: 2,
        kind: RelocKind::Absolute8,
        usage: AddressUse::AddressTaken,
        target: PlacedTarget::Address(0x1234_5678_9abc),
        addend: 1,
    };
    let info = NewBody::new(CodeKind::Method, std::ptr::null(), "constant");
    let constant = place(vec![0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xc3], 16, &[reloc], info).unwrap();
    assert_eq!(call(constant.start, [0; 3]), 0x1234_5678_9abd);
    let outside = Reloc { offset: 9, ..reloc };
    let info = NewBody::new(CodeKind::Method, std::ptr::null(), "bad");
    assert!(place(vec![0xc3; 11], 16, &[outside], info).is_err());
}

#[test]
fn calls_placed_before_their_callee_are_patched() {
    install();
    let method = new_lazy(ADD);
    let entry = *method.entry.get().unwrap();
    // As above, with the field of the call at each of the offsets; nops in front.
    let callers: Vec<(usize, &CodeInfo)> = (5..13)
        .map(|field| {
            let mut body = vec![0x90; field - 5];
            body.extend([0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3]);
            let target = PlacedTarget::Method(entry);
            let reloc = Reloc {
                offset: field as u32,
                kind: RelocKind::X86PcRelative4,
                usage: AddressUse::Called,
                target,
                addend: -4,
            };
            let info = NewBody::new(CodeKind::Method, std::ptr::null(), "early caller");
            (field, place(body, 16, &[reloc], info).unwrap())
        })
        .collect();
    let goes_to = |field: usize, caller: &CodeInfo| {
        let at = caller.start + field;
        // SAFETY: the field of the call in a placed body.
        (at + 4).wrapping_add_signed(unsafe { (at as *const i32).read_unaligned() } as isize)
    };
    for &(field, caller) in &callers {
        assert_eq!(goes_to(field, caller), entry.stub_address());
    }
    assert_eq!(call(callers[0].1.start, [20, 2, 300]), 322);
    let code = entry.target().unwrap();
    for (field, caller) in callers {
        let crosses = field % 8 > 4;
        assert_eq!(goes_to(field, caller), if crosses { entry.stub_address() } else { code }, "field at {field}");
        assert_eq!(call(caller.start, [1, 2, 3]), 6);
    }
    // Relaxed: a counter of this test.
    assert_eq!(method.compiled.load(Ordering::Relaxed), 1);
}

/// A call to a method that has code, with its field at each of the offsets.
#[test]
fn calls_placed_after_their_callee_follow_its_versions() {
    install();
    let entry = *new_lazy(ADD).entry.get().unwrap();
    let versions = [ADD, FIRST_ARGUMENT].map(|body| place_plain(body, "version").start);
    entry.lead_to(|| Some(versions[0]));
    let placed = |field: usize, target| {
        let mut body = vec![0x90; field - 5];
        body.extend([0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3]);
        let (kind, usage) = (RelocKind::X86PcRelative4, AddressUse::Called);
        let reloc = Reloc { offset: field as u32, kind, usage, target, addend: -4 };
        let info = NewBody::new(CodeKind::Method, std::ptr::null(), "late caller");
        place(body, 16, &[reloc], info).unwrap()
    };
    let goes_to = |field: usize, caller: &CodeInfo| {
        let at = caller.start + field;
        // SAFETY: the field of the call in a placed body.
        (at + 4).wrapping_add_signed(unsafe { (at as *const i32).read_unaligned() } as isize)
    };
    let crosses = |field: usize| field % 8 > 4;
    let callers: Vec<_> = (5..13).map(|field| (field, placed(field, PlacedTarget::Method(entry)))).collect();
    for &(field, caller) in &callers {
        assert_eq!(goes_to(field, caller), versions[0], "field at {field}");
    }
    entry.lead_to(|| Some(versions[1]));
    for &(field, caller) in &callers {
        assert_eq!(goes_to(field, caller), versions[usize::from(!crosses(field))], "field at {field}");
    }
    // SAFETY: no thread executes the calls.
    unsafe { entry.redirect_calls() };
    for &(field, caller) in &callers {
        let expected = if crosses(field) { entry.stub_address() } else { versions[1] };
        assert_eq!(goes_to(field, caller), expected, "field at {field}");
        assert_eq!(call(caller.start, [16, 2, 3]), call(versions[1], [16, 2, 3]));
    }
    entry.lead_to(|| Some(versions[0]));
    // SAFETY: as above.
    let called = unsafe { entry.called_addresses() };
    assert_eq!(called.len(), 8);
    assert!(called.iter().all(|&address| address == versions[0] || address == entry.stub_address()));

    // A body that calls itself, which is not current yet: its calls go where others go.
    for field in 5..13 {
        let own = placed(field, PlacedTarget::OwnMethod(entry));
        let expected = if crosses(field) { entry.stub_address() } else { versions[0] };
        assert_eq!(goes_to(field, own), expected, "field at {field}");
    }
    // The first body of a method calls itself at once.
    let first = *new_lazy(ADD).entry.get().unwrap();
    for field in 5..13 {
        let own = placed(field, PlacedTarget::OwnMethod(first));
        assert_eq!(goes_to(field, own), own.start, "field at {field}");
    }
}

#[test]
fn the_address_of_a_method_is_its_entry_stub_before_and_after_it_is_compiled() {
    install();
    let method = new_lazy(ADD);
    let entry = *method.entry.get().unwrap();
    // lea rax, [rip + field]; ret, with the field in one aligned word: a call's would be patched.
    let loaded = || {
        let target = PlacedTarget::Method(entry);
        let (kind, usage) = (RelocKind::X86PcRelative4, AddressUse::AddressTaken);
        let reloc = Reloc { offset: 3, kind, usage, target, addend: -4 };
        let info = NewBody::new(CodeKind::Method, std::ptr::null(), "function pointer");
        let body = place(vec![0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3], 16, &[reloc], info).unwrap();
        body.start
    };
    let early = loaded();
    assert_eq!(call(early, [0; 3]), entry.stub_address() as u64);
    call(entry.stub_address(), [1, 2, 3]);
    assert!(entry.target().is_some(), "compiled");
    assert_eq!(call(early, [0; 3]), entry.stub_address() as u64);
    assert_eq!(call(loaded(), [0; 3]), entry.stub_address() as u64);
}

/// Caller and callee were of one domain and are freed together: the memory of the call, which may have been reused,
/// must not be written to.
#[test]
fn calls_of_a_freed_entry_follow_no_more() {
    install();
    let entry = *new_lazy(ADD).entry.get().unwrap();
    let body = vec![0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3, 0x90];
    let reloc = Reloc {
        offset: 8,
        kind: RelocKind::X86PcRelative4,
        usage: AddressUse::Called,
        target: PlacedTarget::Method(entry),
        addend: -4,
    };
    let mut with_nops = vec![0x90; 3];
    with_nops.extend(body);
    let info = NewBody::new(CodeKind::Method, std::ptr::null(), "caller");
    let caller = place(with_nops, 16, &[reloc], info).unwrap();
    // SAFETY: the field of the call in a placed body.
    let field = || unsafe { ((caller.start + 8) as *const i32).read_unaligned() };
    let before = field();
    let unbox = entry.unbox_stub().unwrap();
    // SAFETY: nothing calls the method.
    unsafe { MethodEntry::free_all(&[entry]) };
    entry.lead_to(|| Some(caller.start));
    assert_eq!(field(), before);
    assert_eq!(entry.unbox_stub().unwrap(), unbox, "it stays with the entry");
}

/// Processors may read the target before they know that a jump leads to the stub, so it is changed before the barrier
/// that comes before the entry's next use.
#[test]
fn a_freed_entry_leads_to_the_compile_trampoline_at_once() {
    install();
    let entry = *new_lazy(ADD).entry.get().unwrap();
    let body = place_plain(&[0xcc; 16], "body");
    entry.lead_to(|| Some(body.start));
    assert_eq!(entry.target(), Some(body.start));
    // SAFETY: nothing calls the method.
    unsafe { MethodEntry::free_all(&[entry]) };
    assert_eq!(entry.target(), None);
}

#[test]
fn lookup_finds_every_byte_of_every_size() {
    let sizes = [1, 15, 16, 17, 4096, 65_000, 65_536, 70_000, 200_000, 3, 65_504, 65_528];
    let placed: Vec<_> = sizes.iter().map(|&size| place_plain(&vec![0xcc; size], "body")).collect();
    for (info, size) in placed.iter().zip(sizes) {
        assert_eq!(info.len_bytes as usize, size);
        for step in (0..size).step_by(97).chain([size - 1]) {
            let found = lookup(info.start + step).unwrap_or_else(|| panic!("byte {step} of {size}"));
            assert!(std::ptr::eq(found, *info), "byte {step} of {size}");
        }
        assert!(lookup(info.start - 1).is_none_or(|other| !std::ptr::eq(other, *info)));
        assert!(lookup(info.start + size).is_none_or(|other| !std::ptr::eq(other, *info)));
    }
    assert!(lookup(0).is_none() && lookup(usize::MAX).is_none());
    // SAFETY: nothing runs in it.
    unsafe { retire(placed[4]) };
    assert!(lookup(placed[4].start + 5).is_none());
}

#[test]
fn lookup_while_others_place() {
    let stop = AtomicBool::new(false);
    let newest = AtomicUsize::new(place_plain(ADD, "first").start);
    std::thread::scope(|scope| {
        let placers: Vec<_> = (0..3_usize)
            .map(|thread| {
                let newest = &newest;
                scope.spawn(move || {
                    for round in 0..3000_usize {
                        let size = 1 + (round * 2654435761 + thread * 977) % 3000;
                        let info = place_plain(&vec![0xcc; size], "torture");
                        // Release: pairs with the Acquire of those who look the address up.
                        newest.store(info.start + size - 1, Ordering::Release);
                    }
                })
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                // Relaxed: only ends the loops.
                while !stop.load(Ordering::Relaxed) {
                    let pc = newest.load(Ordering::Acquire);
                    let info = lookup(pc).expect("published before its address was stored");
                    assert!(info.covers(pc) && (info.name() == "torture" || info.name() == "first"));
                }
            });
        }
        for placer in placers {
            placer.join().unwrap();
        }
        // Relaxed: only ends the loops.
        stop.store(true, Ordering::Relaxed);
    });
}
