//! Generated functions give the same results in the baseline compiler's code, in Cranelift's, in the interpreter, and
//! after the passes over the IR.

#[path = "../common/mod.rs"]
mod common;

mod classes;
mod comparison;
mod interpreter;
mod steps;

use classes::classes;
use common::*;
use comparison::{Outcome, expect_same};
use interpreter::Interpreter;
use proptest::prelude::*;
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, OBJECT_VTABLE_OFFSET};
use saki_il::import::ImportOptions;
use saki_il::ir::*;
use saki_jit::CompilerOptions;
use steps::{
    ARRAY, CALLEES, ELEMENTS, FLOATS, OBJECT_COUNT, OBJECT_WORDS, OBJECTS, REFERENCE, REFERENCE_COUNT, REFERENCES,
    SLOT_COUNT, SLOTS, VECTORS, WORDS, callees, function, step,
};

/// Room for objects behind the words; loops in loops make thousands.
const HEAP_WORDS: usize = 1 << 19;

/// What functions get: a memory of their own, and arguments.
struct Input {
    words: Vec<u64>,
    args: [u64; 8],
    /// The functions that generated ones call, by the addresses of their codes.
    callees: Vec<(u64, Function)>,
    /// The log bits of the words' memory, a byte for 64 bytes: only code reads them.
    _log_bits: Vec<u8>,
    /// Likewise the bits of valid objects, which code sets.
    _object_bits: Vec<u8>,
    /// Words behind the others that were used by the last run.
    used: usize,
}

impl Input {
    fn new(a: i32, b: i64, c: i32, d: f64, has_array: bool, machine: &mut Machine) -> Input {
        let mut words = vec![0; WORDS + HEAP_WORDS];
        let args = [
            words.as_mut_ptr() as u64,
            u64::from(a.cast_unsigned()),
            b.cast_unsigned(),
            u64::from(c.cast_unsigned()),
            d.to_bits(),
            u64::from((d as f32).to_bits()),
            if has_array { words[ARRAY..].as_ptr() as u64 } else { 0 },
            words[OBJECTS..].as_ptr() as u64,
        ];
        let mut codes = Vec::new();
        for ir in callees() {
            codes.push((machine.compile(&ir) as u64, ir.func.clone()));
            let code = machine.compiler.compile_baseline(&ir.func).expect("the baseline compiler covers callees");
            codes.push((machine.place(code) as u64, ir.func));
        }
        let log_bits = vec![c.cast_unsigned() as u8; words.len() / 8 + 2];
        let object_bits = vec![0; words.len() / 8 + 2];
        let first = words.as_ptr() as usize >> 6;
        machine.thread.log_bit_base = (log_bits.as_ptr() as usize).wrapping_sub(first);
        machine.thread.vo_bit_base = (object_bits.as_ptr() as usize).wrapping_sub(first);
        if let Some(classes) = classes() {
            classes.register(machine);
        }
        Input { words, args, callees: codes, _log_bits: log_bits, _object_bits: object_bits, used: 0 }
    }

    /// Gives the memory its first contents.
    fn reset(&mut self) {
        for (index, word) in self.words[..WORDS].iter_mut().enumerate() {
            let number = index as f64 / 2.0;
            *word = match index {
                FLOATS..VECTORS if index >= FLOATS + FLOATS / 2 => number.to_bits(),
                FLOATS..VECTORS => u64::from((number as f32).to_bits()),
                _ => (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7,
            };
        }
        self.words[WORDS..][..self.used].fill(0);
        for (index, (code, _)) in self.callees.iter().enumerate() {
            self.words[CALLEES + index] = *code;
        }
        let objects: [u64; OBJECT_COUNT] =
            std::array::from_fn(|index| self.words[OBJECTS + index * OBJECT_WORDS..].as_ptr() as u64);
        for index in 0..OBJECT_COUNT {
            let next = objects.get(index + 1).copied().unwrap_or(0);
            self.words[OBJECTS + index * OBJECT_WORDS + REFERENCE as usize / 8] = next;
        }
        let array = REFERENCES + 1;
        self.words[REFERENCES] = self.words[array..].as_ptr() as u64;
        self.words[array + ARRAY_LENGTH_OFFSET as usize / 8] = REFERENCE_COUNT as u64;
        for index in 0..REFERENCE_COUNT {
            let object = objects.get(index).copied().unwrap_or(0);
            self.words[array + ARRAY_DATA_OFFSET as usize / 8 + index] = object;
        }
        let slots = SLOTS + 1;
        self.words[slots..].iter_mut().take(ARRAY_DATA_OFFSET as usize / 8 + SLOT_COUNT).for_each(|word| *word = 0);
        self.words[SLOTS] = self.words[slots..].as_ptr() as u64;
        self.words[slots + OBJECT_VTABLE_OFFSET as usize / 8] =
            classes().map_or(0, |classes| classes.all[classes::OBJECTS].vtable);
        self.words[slots + ARRAY_LENGTH_OFFSET as usize / 8] = SLOT_COUNT as u64;
        self.words[ARRAY + OBJECT_VTABLE_OFFSET as usize / 8] = 0;
        self.words[ARRAY + ARRAY_LENGTH_OFFSET as usize / 8] = ELEMENTS as u64;
    }

    /// The result of a run that has used so many bytes for objects, with the memory behind it.
    fn outcome(&mut self, result: Result<u64, u64>, used_bytes: usize) -> Outcome {
        self.used = used_bytes / 8;
        Outcome { result, base: self.args[0], words: self.words[..WORDS + self.used].to_vec() }
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len_bytes = size_of_val(&*self.words);
        // SAFETY: the words' own memory, as bytes.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), len_bytes) }
    }
}

/// Leaves numbers on the stack, so that code that reads what it has not written differs.
#[inline(never)]
fn fill_stack() {
    std::hint::black_box([0xABCD_EF01_2345_6789_u64; 2048]);
}

fn run_code(machine: &mut Machine, input: &mut Input, sig: &CallSig, code: usize) -> Outcome {
    input.reset();
    fill_stack();
    let heap = input.words[WORDS..].as_ptr_range();
    (machine.thread.alloc_cursor, machine.thread.alloc_limit) = (heap.start as usize, heap.end as usize);
    let result = machine.run(sig, code, &input.args);
    input.outcome(result, machine.thread.alloc_cursor - heap.start as usize)
}

fn interpret(input: &mut Input, function: &Function, saturates_conversions: bool) -> Outcome {
    input.reset();
    let (args, callees) = (input.args, input.callees.clone());
    let heap = WORDS * 8;
    let mut interpreter = Interpreter::new(input.bytes(), heap, args[0], saturates_conversions, &callees);
    let result = interpreter.run(function, &args);
    let used_bytes = interpreter.next_object - heap;
    input.outcome(result, used_bytes)
}

/// 2,000 functions, or as many as `PROPTEST_CASES` says.
fn config() -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases: 2000, ..config } }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn generated_functions_give_what_the_interpreter_gives(
        steps in prop::collection::vec(step(), 0..24),
        a in any::<i32>(), b in any::<i64>(), c in -5..5i32, d in -100.0..100.0f64, poll in any::<bool>(),
        saturates_conversions in any::<bool>(), has_array in prop::bool::weighted(0.9),
    ) {
        let ir = function(&steps);
        let sig = &ir.func.sig;
        let options = CompilerOptions { stress_poll: poll, saturates_conversions, ..CompilerOptions::new(HEAP) };
        let mut machine = Machine::with_options(options);
        let mut input = Input::new(a, b, c, d, has_array, &mut machine);
        let expected = interpret(&mut input, &ir.func, saturates_conversions);

        let optimised = machine.compile(&ir);
        let got = run_code(&mut machine, &mut input, sig, optimised);
        expect_same("Cranelift's code", &expected, &got, &ir.func)?;
        let Some(code) = machine.compiler.compile_baseline(&ir.func) else {
            prop_assert!(false, "not covered: {}", ir.func);
            return Ok(());
        };
        let baseline = machine.place(code);
        let got = run_code(&mut machine, &mut input, sig, baseline);
        expect_same("the baseline compiler's code", &expected, &got, &ir.func)?;

        let mut improved = Ir { func: ir.func.clone(), current: 0 };
        saki_il::opt::run(&mut improved.func, &ImportOptions::default());
        if let Err(problem) = improved.func.verify() {
            prop_assert!(false, "{}\n{}\n{}", problem, ir.func, improved.func);
        }
        let got = interpret(&mut input, &improved.func, saturates_conversions);
        let both = format!("the passes, which make\n{}\nof", improved.func);
        expect_same(&both, &expected, &got, &ir.func)?;
        let code = machine.compile(&improved);
        let got = run_code(&mut machine, &mut input, sig, code);
        expect_same("Cranelift's code of what the passes made", &expected, &got, &improved.func)?;
        let Some(code) = machine.compiler.compile_baseline(&improved.func) else {
            prop_assert!(false, "not covered: {}", improved.func);
            return Ok(());
        };
        let baseline = machine.place(code);
        let got = run_code(&mut machine, &mut input, sig, baseline);
        expect_same("the baseline compiler's code of what the passes made", &expected, &got, &improved.func)?;
    }
}
