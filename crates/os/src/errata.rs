//! Processors on which atomic instructions need an additional fence.
//!
//! On AMD K8 processors of revision E and before (family 15, models 32 to 63) with two or more cores a read may pass a
//! locked read-modify-write that stands before it, so what a lock guards may be read before the lock is taken. An
//! LFENCE behind the instruction orders the two. Firmware can turn the optimisation off; it says so in a model-specific
//! register, which the kernel shows to privileged processes only (`/dev/cpu/0/msr`), so without that the fence is used.
//!
//! Invariant: the answer is the same for the life of the process. Left out: the atomic operations of the C library, of
//! Rust's standard library and of the collector, which are compiled without the fence.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bus unit configuration, and the bit of it that says that the optimisation is off.
const BU_CFG_REGISTER: u64 = 0xc001_1023;
const BU_CFG_IS_FIXED: u64 = 1 << 33;

const AFFECTED_FAMILY: u32 = 15;
const AFFECTED_MODELS: std::ops::RangeInclusive<u32> = 32..=63;

/// The processor's identification by CPUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuId {
    /// Leaf 0: EBX, EDX, ECX as text.
    pub vendor: [u8; 12],
    /// Leaf 1, EAX: family, model, stepping.
    pub signature: u32,
}

impl CpuId {
    /// The processor that runs this; None where there is no CPUID.
    pub fn of_this_processor() -> Option<CpuId> {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::__cpuid;
            let leaf = __cpuid(0);
            let mut vendor = [0; 12];
            for (place, word) in vendor.chunks_exact_mut(4).zip([leaf.ebx, leaf.edx, leaf.ecx]) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            Some(CpuId { vendor, signature: __cpuid(1).eax })
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Base family, and the extended one when the base says 15.
    pub fn family(self) -> u32 {
        let base = self.signature >> 8 & 0xf;
        if base == 15 { base + (self.signature >> 20 & 0xff) } else { base }
    }

    /// With the extended model, which families 6 and 15 and above have.
    pub fn model(self) -> u32 {
        let extended = if matches!(self.signature >> 8 & 0xf, 6 | 15) { self.signature >> 16 & 0xf } else { 0 };
        extended << 4 | self.signature >> 4 & 0xf
    }

    /// Whether reads may pass locked instructions on this model, if the firmware does not prevent it.
    pub fn is_affected(self) -> bool {
        &self.vendor == b"AuthenticAMD" && self.family() == AFFECTED_FAMILY && AFFECTED_MODELS.contains(&self.model())
    }
}

/// Why, or why not, a fence follows locked instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockedReads {
    /// The processor orders them.
    Ordered,
    /// A fence would be needed, but the machine has only one processor.
    SingleProcessor,
    /// A fence would be needed, but the firmware has turned the optimisation off.
    FixedByFirmware,
    /// A fence is needed.
    NeedFence,
}

/// `bu_cfg`: the register's value if it could be read.
pub fn judge(cpu: Option<CpuId>, processors: usize, bu_cfg: Option<u64>) -> LockedReads {
    if !cpu.is_some_and(CpuId::is_affected) {
        LockedReads::Ordered
    } else if processors < 2 {
        LockedReads::SingleProcessor
    } else if bu_cfg.is_some_and(|value| value & BU_CFG_IS_FIXED != 0) {
        LockedReads::FixedByFirmware
    } else {
        LockedReads::NeedFence
    }
}

/// The answer for this machine.
pub fn locked_reads() -> LockedReads {
    static STATE: OnceLock<LockedReads> = OnceLock::new();
    *STATE.get_or_init(|| {
        let cpu = CpuId::of_this_processor();
        let bu_cfg = if cpu.is_some_and(CpuId::is_affected) { read_register(BU_CFG_REGISTER) } else { None };
        // All processors of the machine, not those this process may use: other processes share memory with it.
        // SAFETY: no memory is involved.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        judge(cpu, usize::try_from(processors).unwrap_or(2), bu_cfg)
    })
}

/// Whether `fence_after_lock` fences. False until `prepare`.
static FENCES: AtomicBool = AtomicBool::new(false);

/// Finds out about this machine, for `fence_after_lock`; before there is a second thread.
pub fn prepare() {
    FENCES.store(locked_reads() == LockedReads::NeedFence, Ordering::Relaxed);
}

/// Stands behind the locked instruction that takes a lock.
#[inline(always)]
pub fn fence_after_lock() {
    // Relaxed: written before there is a second thread.
    if FENCES.load(Ordering::Relaxed) {
        fence();
    }
}

#[cold]
fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE2.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
}

/// A model-specific register of the first processor, where the kernel lets us.
fn read_register(number: u64) -> Option<u64> {
    use std::os::unix::fs::FileExt;
    let mut value = [0; 8];
    std::fs::File::open("/dev/cpu/0/msr").ok()?.read_exact_at(&mut value, number).ok()?;
    Some(u64::from_le_bytes(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amd(signature: u32) -> CpuId {
        CpuId { vendor: *b"AuthenticAMD", signature }
    }

    #[test]
    fn families_and_models_are_decoded() {
        let check = |signature, family, model| {
            let cpu = amd(signature);
            assert_eq!((cpu.family(), cpu.model()), (family, model), "{signature:#x}");
        };
        check(0x20f12, 15, 0x21); // Opteron revision E
        check(0xf58, 15, 5); // Opteron revision C
        check(0x40f12, 15, 0x41); // Opteron revision F
        check(0x100f42, 16, 4);
        check(0x800f11, 23, 1); // EPYC
        check(0x306c3, 6, 0x3c); // Core
    }

    #[test]
    fn only_revision_e_needs_the_fence() {
        let judged = |cpu: CpuId, processors, bu_cfg| judge(Some(cpu), processors, bu_cfg);
        for signature in [0x20f12, 0x20f71, 0x30ff2] {
            assert_eq!(judged(amd(signature), 2, None), LockedReads::NeedFence, "{signature:#x}");
        }
        assert_eq!(judged(amd(0x20f12), 2, Some(0)), LockedReads::NeedFence);
        assert_eq!(judged(amd(0x20f12), 2, Some(BU_CFG_IS_FIXED)), LockedReads::FixedByFirmware);
        assert_eq!(judged(amd(0x20f12), 1, None), LockedReads::SingleProcessor);
        for signature in [0xf58, 0x40f12, 0x100f42, 0x800f11] {
            assert_eq!(judged(amd(signature), 8, None), LockedReads::Ordered, "{signature:#x}");
        }
        let intel = CpuId { vendor: *b"GenuineIntel", signature: 0x20f12 };
        assert_eq!(judged(intel, 8, None), LockedReads::Ordered);
        assert_eq!(judge(None, 8, None), LockedReads::Ordered);
    }
}
