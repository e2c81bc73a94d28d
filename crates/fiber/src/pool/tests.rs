//! Overflows and limits of address space cannot be tested in this process, so a child tests them: the test's own
//! executable, run with one test and an environment variable that tells it so.

use super::*;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Set in the child.
const IN_CHILD: &str = "SAKI_FIBER_TEST_CHILD";

fn is_child() -> bool {
    std::env::var_os(IN_CHILD).is_some()
}

/// Runs a test of this file alone in a child, under a limit of address space if one is given.
fn run_in_child(test: &str, address_space_bytes: Option<u64>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", "--test-threads=1", &format!("pool::tests::{test}")]).env(IN_CHILD, "1");
    if let Some(bytes) = address_space_bytes {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: between fork and exec only an async-signal-safe call is made, on a copied value.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &limit) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
    }
    command.output().unwrap()
}

fn assert_succeeded(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}

fn pool() -> StackPool {
    StackPool::new(StackPoolOptions::DEFAULT)
}

/// Writes a byte into each page of the uppermost `bytes` of a stack.
fn touch(stack: &PooledStack, bytes: usize) {
    for offset in (1..=bytes).step_by(page_size_bytes()) {
        // SAFETY: inside the stack, on which nothing runs.
        unsafe { ((stack.top() - offset) as *mut u8).write_volatile(1) };
    }
}

fn resident_pages(stack: &PooledStack) -> usize {
    let page = page_size_bytes();
    (stack.low()..end_of(stack.low, usize::from(stack.class))).step_by(page).filter(|&at| is_resident(at)).count()
}

#[test]
fn a_stack_holds_what_its_size_promises() {
    let pool = pool();
    for (wanted, promised) in
        [(0, 64 * KIB), (64 * KIB, 64 * KIB), (65 * KIB, 128 * KIB), (8 * MIB, 8 * MIB), (1 << 30, 1 << 30)]
    {
        for _ in 0..40 {
            let stack = pool.take(wanted).unwrap();
            assert_eq!(stack.size_bytes(), promised);
            assert!(stack.bounds().len() >= promised && stack.bounds().len() <= promised + page_size_bytes());
            assert!(stack.top().is_multiple_of(16));
            let lowest_and_highest = [stack.low(), stack.top() - 1];
            for place in lowest_and_highest {
                // SAFETY: inside the stack, on which nothing runs.
                unsafe { (place as *mut u8).write_volatile(1) };
            }
            assert!(stack.guard_contains(stack.low() - 1) && !stack.guard_contains(stack.low()));
        }
    }
    let error = pool.take((1 << 30) + 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn neighbours_have_other_tlb_sets_and_cache_lines() {
    let pool = pool();
    let page = page_size_bytes();
    let stacks: Vec<_> = (0..32).map(|_| pool.take(MIB).unwrap()).collect();
    let distinct = |key: &dyn Fn(usize) -> usize| {
        let mut keys: Vec<_> = stacks.iter().map(|stack| key(stack.top() - 1)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.len()
    };
    assert_eq!(distinct(&|address| address / page % 16), 16, "sets of a TLB");
    assert_eq!(distinct(&|address| address % page / LINE_BYTES), STAGGER_LINES, "lines of a page");
    for stack in stacks {
        pool.give(stack);
    }
}

#[test]
fn other_stacks_lie_below_small_ones() {
    let pools = [pool(), pool()];
    let small: Vec<_> = pools.iter().map(|pool| pool.take(SMALL_STACK_BYTES).unwrap()).collect();
    for (pool, bytes) in pools.iter().flat_map(|pool| [(pool, 128 * KIB), (pool, 8 * MIB)]) {
        let other = pool.take(bytes).unwrap();
        assert!(small.iter().all(|small| other.top() < small.low()));
    }
}

#[test]
fn the_stack_given_back_last_comes_first() {
    let pool = pool();
    let [a, b] = [(); 2].map(|()| pool.take(100 * KIB).unwrap());
    let (low_a, low_b) = (a.low(), b.low());
    assert_ne!(low_a, low_b);
    pool.give(a);
    pool.give(b);
    let other = pool.take(MIB).unwrap();
    assert!(other.low() != low_a && other.low() != low_b, "of another class");
    assert_eq!(pool.take(100 * KIB).unwrap().low(), low_b);
    assert_eq!(pool.take(128 * KIB).unwrap().low(), low_a);
    let counts = pool.counts();
    assert_eq!(counts.in_use, 3);
    assert_eq!(counts.stacks, counts.in_use + counts.free);
}

#[test]
fn a_surplus_stack_keeps_only_its_uppermost_pages() {
    let options = StackPoolOptions { warm_stacks: 1, warm_bytes: 8 * KIB, guard: None };
    let pool = StackPool::new(options);
    let [deep, deeper, shallow] = [(); 3].map(|()| pool.take(MIB).unwrap());
    touch(&deep, 200 * KIB);
    touch(&deeper, 200 * KIB);
    touch(&shallow, KIB);
    let [low_deep, low_deeper, low_shallow] = [&deep, &deeper, &shallow].map(PooledStack::low);
    let second_deeper = pool.take(MIB).unwrap();
    touch(&second_deeper, 200 * KIB);
    let low_second_deeper = second_deeper.low();
    for stack in [deep, deeper, second_deeper, shallow] {
        pool.give(stack);
    }
    let pages = |low| resident_pages(&PooledStack::at(low, (MIB.trailing_zeros() - LEAST_CLASS) as usize));
    assert!(pages(low_deep) >= 50, "the first is no surplus");
    assert_eq!([low_deeper, low_second_deeper].map(pages), [8 * KIB / page_size_bytes(); 2]);
    assert_eq!(pages(low_shallow), 1);
    assert_eq!(pool.trim(), 3);
    assert_eq!([low_deep, low_deeper, low_second_deeper].map(pages), [0; 3], "those given back longest ago");
    assert_eq!(pages(low_shallow), 1);
    assert_eq!(pool.counts().cold, pool.counts().free - 1);
}

#[test]
fn a_stack_has_one_user_while_threads_take_give_and_trim() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 3000;
    let pool = StackPool::new(StackPoolOptions { warm_stacks: 2, warm_bytes: 4 * KIB, guard: None });
    std::thread::scope(|scope| {
        for number in 1..=THREADS {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let stacks = [(); 3].map(|()| pool.take(64 * KIB).unwrap());
                    // The top, and the part that is discarded.
                    let places =
                        stacks.iter().flat_map(|stack| [stack.top() - 8, stack.low()]).map(|at| at as *mut usize);
                    // SAFETY: inside stacks that are this thread's.
                    places.clone().for_each(|place| unsafe { place.write_volatile(number) });
                    std::thread::yield_now();
                    // SAFETY: inside stacks that are this thread's, which are given back below.
                    assert!(places.clone().all(|place| unsafe { place.read_volatile() } == number));
                    for stack in stacks {
                        pool.give(stack);
                    }
                    if round % 16 == 0 {
                        pool.trim();
                    }
                }
            });
        }
    });
    let counts = pool.counts();
    assert_eq!((counts.in_use, counts.free), (0, counts.stacks));
    assert!(counts.stacks <= 3 * THREADS + CARVED_AT_ONCE, "{counts:?}");
}

/// Touches the guard in a child, so far below the stack's lowest address, and looks how the child ends.
fn check_guard(test: &str, kind: GuardKind, distance_bytes: usize) {
    if !is_child() {
        let output = run_in_child(test, None);
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("next is the guard"), "{output:?}");
        return;
    }
    let pool = StackPool::new(StackPoolOptions { warm_stacks: 0, guard: Some(kind), ..StackPoolOptions::DEFAULT });
    // A guard must survive that its stack is used again and trimmed.
    let [first, second] = [(); 2].map(|()| pool.take(64 * KIB).unwrap());
    touch(&second, 64 * KIB);
    let low = second.low();
    pool.give(second);
    pool.trim();
    while pool.take(64 * KIB).unwrap().low() != low {}
    touch(&first, first.bounds().len());
    println!("next is the guard");
    // SAFETY: mapped and unused, or a fault, which the test expects.
    unsafe { ((low - distance_bytes) as *mut u8).write_volatile(1) };
}

#[test]
fn a_touch_of_a_protected_guard_is_a_fault() {
    check_guard("a_touch_of_a_protected_guard_is_a_fault", GuardKind::Protection, 1);
}

#[test]
fn a_touch_of_a_marker_is_a_fault() {
    if guard::kind() == GuardKind::Markers {
        check_guard("a_touch_of_a_marker_is_a_fault", GuardKind::Markers, 1);
    }
}

#[test]
fn a_touch_of_the_place_above_the_neighbour_is_a_fault() {
    if guard::kind() == GuardKind::Markers {
        check_guard("a_touch_of_the_place_above_the_neighbour_is_a_fault", GuardKind::Markers, GUARD_BYTES);
    }
}

#[test]
fn a_hundred_thousand_stacks_of_eight_mebibytes() {
    // In a child: the page tables go with it.
    const STACKS: usize = 100_000;
    if guard::kind() != GuardKind::Markers || scarcity().is_some() {
        return;
    }
    if !is_child() {
        return assert_succeeded(&run_in_child("a_hundred_thousand_stacks_of_eight_mebibytes", None));
    }
    let pool = pool();
    let stacks: Vec<_> = (0..STACKS).map(|_| pool.take(8 * MIB).unwrap()).collect();
    let areas = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    assert!(areas < 200, "{areas} areas");
    assert_eq!(pool.counts().in_use, STACKS);
    touch(&stacks[STACKS - 1], 8 * MIB);
    for stack in stacks {
        pool.give(stack);
    }
    let counts = pool.counts();
    assert_eq!((counts.in_use, counts.free), (0, counts.stacks));
    assert!(counts.stacks < STACKS + CARVED_AT_ONCE);
}

#[test]
fn too_many_areas_are_an_error_that_names_the_limit() {
    if !is_child() {
        return assert_succeeded(&run_in_child("too_many_areas_are_an_error_that_names_the_limit", None));
    }
    let options = StackPoolOptions { guard: Some(GuardKind::Protection), ..StackPoolOptions::DEFAULT };
    let pool = StackPool::new(options);
    let pool = &pool;
    // Systems that raise the limit to hundreds of millions are not tried.
    if guard::max_map_count() > 1 << 20 {
        return;
    }
    let mut stacks = Vec::new();
    let error = loop {
        match pool.take(64 * KIB) {
            Ok(stack) => stacks.push(stack),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    assert!(error.to_string().contains("vm.max_map_count"), "{error}");
    assert!(stacks.len() > guard::max_map_count() / 3);
    // There is room for others, and for those that come back.
    Reservation::reserve(MIB).unwrap();
    let given = stacks.pop().unwrap();
    pool.give(given);
    stacks.push(pool.take(64 * KIB).unwrap());
    assert!(pool.take(64 * KIB).is_err());
}

#[test]
fn little_address_space_is_enough_for_a_handful_and_then_an_error() {
    if !is_child() {
        let limit = Some(256 << 20);
        return assert_succeeded(&run_in_child(
            "little_address_space_is_enough_for_a_handful_and_then_an_error",
            limit,
        ));
    }
    let pool = pool();
    let mut stacks = Vec::new();
    let error = loop {
        match pool.take(8 * MIB) {
            Ok(stack) => stacks.push(stack),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
    assert!((8..32).contains(&stacks.len()), "{} stacks", stacks.len());
    touch(stacks.last().unwrap(), MIB);
}
