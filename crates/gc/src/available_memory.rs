//! The default limit of the heap: a part of the memory that the process may use.
//!
//! Invariant: the memory is looked at once, at the start. Left out: control groups whose files are not at the usual
//! place, such as those that a service manager makes inside a virtual machine.

use saki_os::address_space::{self, Scarcity};

/// Where a container sees its limit of memory, in either version of control groups.
const GROUP_LIMITS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
/// Assumed memory of a machine whose memory cannot be found out.
const UNKNOWN_BYTES: usize = 4 << 30;
/// Address space of the collector's side tables, of each of which a piece is mapped at least, in programs with a small
/// heap.
const TABLES_BESIDE_HEAP_BYTES: usize = 64 << 20;

/// 3/4 of the memory that the process may use: the least of the machine's, the control group's (in a container), and
/// the memory that a kernel with strict accounting still grants. At most half of a limit of address space, less the
/// size of the side tables, because code, stacks and native memory need address space, too. At least `least_bytes`.
pub(crate) fn default_max_heap_bytes(least_bytes: usize) -> usize {
    let group_bytes = GROUP_LIMITS.iter().find_map(|path| std::fs::read_to_string(path).ok());
    let group_bytes = group_bytes.and_then(|text| text.trim().parse().ok()).unwrap_or(usize::MAX);
    let memory_bytes = machine_bytes().min(group_bytes);
    let most_bytes = match address_space::scarcity() {
        Some(Scarcity::Limited { bytes }) => {
            (memory_bytes / 4 * 3).min((bytes / 2).saturating_sub(TABLES_BESIDE_HEAP_BYTES))
        }
        Some(Scarcity::Refused) => {
            let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
            memory_bytes.min(left_to_commit_bytes(&text).unwrap_or(usize::MAX)) / 4 * 3
        }
        Some(Scarcity::Emulated) | None => memory_bytes / 4 * 3,
    };
    most_bytes.max(least_bytes)
}

fn machine_bytes() -> usize {
    // SAFETY: sysconf has no preconditions.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    // SAFETY: sysconf takes a number and has no preconditions.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if pages <= 0 || page_bytes <= 0 { UNKNOWN_BYTES } else { pages as usize * page_bytes as usize }
}

/// The memory that processes may still commit, by `/proc/meminfo`.
fn left_to_commit_bytes(meminfo: &str) -> Option<usize> {
    let field = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok()
    };
    Some(field("CommitLimit:")?.saturating_sub(field("Committed_AS:")?) << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_committed_is_the_limit_less_what_is() {
        let meminfo = "MemTotal:       24684096 kB\nCommitLimit:    12342048 kB\nCommitted_AS:    1540800 kB\n";
        assert_eq!(left_to_commit_bytes(meminfo), Some((12_342_048 - 1_540_800) << 10));
        assert_eq!(left_to_commit_bytes("CommitLimit:    1 kB\nCommitted_AS:    2 kB\n"), Some(0));
        assert_eq!(left_to_commit_bytes("MemTotal:       24684096 kB\n"), None);
    }

    #[test]
    fn a_heap_has_its_least_size_everywhere() {
        assert_eq!(default_max_heap_bytes(1 << 50), 1 << 50);
        assert!(default_max_heap_bytes(1) > 1 << 20);
    }
}
