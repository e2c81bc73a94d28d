//! A pool of `Function`s whose vectors are reused: most bodies are small, and allocating their vectors takes a tenth of
//! the import's time.
//!
//! Left out: the instruction lists of blocks, since most bodies have a single block.

use crate::ir::Function;
use saki_sync::SlotPool;

static EMPTIED: SlotPool<Function> = SlotPool::new();
/// Functions with more room for instructions are not kept.
const MAX_KEPT_INSTRUCTIONS: usize = 1024;

/// An empty function.
pub(crate) fn take() -> Box<Function> {
    EMPTIED.take().unwrap_or_default()
}

/// Lets the next import use the function's memory.
pub fn recycle(function: Box<Function>) {
    if function.insts.capacity() > MAX_KEPT_INSTRUCTIONS {
        return;
    }
    let mut pooled = function;
    let mut emptied = std::mem::take(&mut *pooled);
    emptied.insts.clear();
    emptied.locals.clear();
    emptied.blocks.clear();
    pooled.insts = emptied.insts;
    pooled.locals = emptied.locals;
    pooled.blocks = emptied.blocks;
    EMPTIED.give(pooled);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Inst, IrType, Op};

    #[test]
    fn a_pooled_function_is_empty() {
        let mut function = take();
        function.is_stub = true;
        function.name = "used".into();
        function.insts.push(Inst { op: Op::Null, ty: IrType::Ref, il_offset: 3 });
        recycle(function);
        assert_eq!(*take(), Function::default());
    }
}
