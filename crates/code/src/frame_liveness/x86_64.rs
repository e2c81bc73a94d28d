//! Frame liveness on x86-64: the effects of instructions on the frame.

use super::dataflow::{Access, DecodedStep, FrameWords, Next, Read, WordEffect};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
    UsedMemory, UsedRegister,
};
use saki_abi::CALLEE_SAVED;

/// Preceding instructions that are kept: a tail call has at most four between the end of the epilogue and its jump.
const LOOK_BACK: usize = 5;

pub(super) struct Reader<'a> {
    decoder: Decoder<'a>,
    factory: InstructionInfoFactory,
    /// The instructions before the current one, the last one first.
    before: [Instruction; LOOK_BACK],
}

impl<'a> Reader<'a> {
    pub fn new(code: &'a [u8]) -> Reader<'a> {
        Reader {
            decoder: Decoder::new(64, code, DecoderOptions::NONE),
            factory: InstructionInfoFactory::new(),
            before: [Instruction::default(); LOOK_BACK],
        }
    }

    fn decode(&mut self, at: u32) -> Option<Instruction> {
        self.decoder.set_position(at as usize).ok()?;
        self.decoder.set_ip(u64::from(at));
        Some(self.decoder.decode()).filter(|instruction| !instruction.is_invalid())
    }

    fn remember(&mut self, instruction: &Instruction) {
        self.before.rotate_right(1);
        self.before[0] = *instruction;
    }

    /// Offset of the jump table if `jump` ends the code generator's sequence for one:
    /// `lea base, [rip + table]; movsxd distance, [base + index * 4]; add base, distance; jmp base`.
    fn table_of_jump(&self, jump: &Instruction) -> Option<u32> {
        let [add, load, lea, ..] = &self.before;
        let is_sequence = jump.op0_kind() == OpKind::Register
            && add.mnemonic() == Mnemonic::Add
            && add.op0_register() == jump.op0_register()
            && load.mnemonic() == Mnemonic::Movsxd
            && load.memory_base() == lea.op0_register()
            && lea.mnemonic() == Mnemonic::Lea
            && lea.is_ip_rel_memory_operand();
        is_sequence.then(|| u32::try_from(lea.ip_rel_memory_address()).ok()).flatten()
    }

    /// Whether the epilogue has just been executed.
    fn is_after_epilogue(&self) -> bool {
        self.before.iter().any(|i| i.mnemonic() == Mnemonic::Pop && i.op0_register() == Register::RBP)
    }
}

impl Read for Reader<'_> {
    fn restart(&mut self) {
        self.before = [Instruction::default(); LOOK_BACK];
    }

    fn step(&mut self, at: u32, frame: &FrameWords) -> Option<DecodedStep> {
        let instruction = self.decode(at)?;
        let info = self.factory.info(&instruction);
        let mut effects: Vec<WordEffect> =
            info.used_registers().iter().filter_map(|used| register_effect(used, frame)).collect();
        // Pushes, pops, calls and returns move rsp; they access no slot of the map.
        if instruction.mnemonic() == Mnemonic::Lea {
            if let Some(start) = from_fp(instruction.memory_base(), instruction.memory_displacement64(), frame) {
                frame.take_address(start)?;
            }
        } else if !instruction.is_stack_instruction() {
            for memory in info.used_memory() {
                memory_effects(memory, frame, &mut effects)?;
            }
        }
        let end = instruction.next_ip() as u32;
        let next = match instruction.flow_control() {
            FlowControl::Next => Next::Through,
            FlowControl::ConditionalBranch => Next::Branch(frame.inside(instruction.near_branch_target())?),
            // A jump out of the body is a tail call.
            FlowControl::UnconditionalBranch => {
                frame.inside(instruction.near_branch_target()).map_or(Next::Nowhere, Next::Jump)
            }
            FlowControl::Call | FlowControl::IndirectCall => Next::Call,
            FlowControl::IndirectBranch => match self.table_of_jump(&instruction) {
                Some(table) => Next::Table(table),
                None if self.is_after_epilogue() => Next::Nowhere,
                None => return None,
            },
            FlowControl::Return | FlowControl::Exception => Next::Nowhere,
            FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int3 => Next::Nowhere,
            FlowControl::Interrupt | FlowControl::XbeginXabortXend => return None,
        };
        self.remember(&instruction);
        Some(DecodedStep { end, effects, next })
    }
}

fn register_effect(used: &UsedRegister, frame: &FrameWords) -> Option<WordEffect> {
    let register = used.register();
    if !register.is_gpr() {
        return None;
    }
    let number = register.full_register().number() as u8;
    let index = CALLEE_SAVED.iter().position(|&saved| saved == number)?;
    let bit = frame.register_bit(index);
    match used.access() {
        // Writing 32 bits clears the others; writing fewer keeps them.
        OpAccess::Write if register.size() >= 4 => Some(WordEffect::Define(bit)),
        OpAccess::Write | OpAccess::CondWrite | OpAccess::NoMemAccess | OpAccess::None => None,
        _ => Some(WordEffect::Use(bit)),
    }
}

/// Distance of a memory operand from FP in bytes, if its base register shows that it is in the frame.
fn from_fp(base: Register, displacement: u64, frame: &FrameWords) -> Option<i64> {
    match base {
        Register::RSP => Some(frame.stack_distance(displacement as i64)),
        Register::RBP => Some(displacement as i64),
        _ => None,
    }
}

fn memory_effects(memory: &UsedMemory, frame: &FrameWords, effects: &mut Vec<WordEffect>) -> Option<()> {
    let Some(start) = from_fp(memory.base(), memory.displacement(), frame) else { return Some(()) };
    let access = match memory.access() {
        OpAccess::Write => Access::Write,
        OpAccess::CondWrite => Access::MayWrite,
        OpAccess::NoMemAccess | OpAccess::None => return Some(()),
        _ => Access::Read,
    };
    let size_bytes = memory.memory_size().size() as i64;
    frame.access(start, size_bytes, memory.index() != Register::None, access, effects)
}
