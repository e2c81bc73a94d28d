//! Namespaces in which a chroot may be mounted, changed and left by being killed.
//!
//! `unshare` makes a mount and a process namespace. As another user than root it makes a user namespace first, in which
//! that user is root and the only user there is; packages that give files to other users are told that they did
//! (`pretend_to_change_owners`), so that all files of the chroot belong to the user, who can delete them. Subordinate
//! users (`newuidmap`) would be truer, but not every machine has them, and what they own stays behind.
//!
//! Invariant: the first process of the process namespace is killed when `unshare` ends, which is killed when this
//! process's thread that started it ends; with it end all processes of the namespace and, with the last of them, the
//! mounts. Left out: the network, which is this machine's.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What must work in the namespaces, or else there is no chroot.
const PROBE: &str = "mount -t tmpfs tmpfs /tmp && mount -t proc proc /proc";

/// How the namespaces are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rights {
    Root,
    /// As root of a user namespace with a single user.
    UserNamespace,
}

impl Rights {
    /// Tries which way works. Errors: why none does.
    pub fn probe() -> Result<Rights, String> {
        // SAFETY: the call has no arguments and does not fail.
        let rights = if unsafe { libc::geteuid() } == 0 { Rights::Root } else { Rights::UserNamespace };
        let tried = rights.isolate(&["sh", "-c", PROBE]).stdin(Stdio::null()).output();
        let tried = tried.map_err(|e| format!("unshare: {e}"))?;
        if tried.status.success() {
            return Ok(rights);
        }
        let messages = String::from_utf8_lossy(&tried.stderr);
        Err(format!("no chroot may be made here ({})", messages.lines().next().unwrap_or("without a reason")))
    }

    /// A command for `argv` in namespaces of its own, with an empty environment but for `PATH`.
    pub fn isolate(self, argv: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        if self == Rights::UserNamespace {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--mount", "--pid", "--fork", "--kill-child"]).args(argv);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        // SAFETY: `end_with_parent` and `pretend_to_change_owners` make system calls only; they neither allocate nor
        // take locks.
        unsafe {
            command.pre_exec(move || {
                end_with_parent()?;
                if self == Rights::UserNamespace { pretend_to_change_owners() } else { Ok(()) }
            });
        }
        command
    }
}

fn end_with_parent() -> std::io::Result<()> {
    // SAFETY: no memory is involved.
    let failed = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    if failed == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// System calls that succeed without doing anything for a process after `pretend_to_change_owners`: giving files to
/// other users, becoming one.
const PRETENDED_CALLS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
];

/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of linux/audit.h.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// A filter of the system calls of this process and all that it starts.
fn pretend_to_change_owners() -> std::io::Result<()> {
    const CALLS: usize = PRETENDED_CALLS.len();
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let equals = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let give = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    // Of `struct seccomp_data`, the number is at byte 0, the architecture at byte 4. A jump counts the steps that it
    // leaves out.
    let mut program = [step(give, libc::SECCOMP_RET_ALLOW, 0, 0); CALLS + 5];
    program[0] = step(load, 4, 0, 0);
    program[1] = step(equals, ARCHITECTURE, 0, CALLS as u8 + 1);
    program[2] = step(load, 0, 0, 0);
    for (index, &call) in PRETENDED_CALLS.iter().enumerate() {
        program[3 + index] = step(equals, call as u32, (CALLS - index) as u8, 0);
    }
    // Fails with error number 0, which is success.
    program[CALLS + 4] = step(give, libc::SECCOMP_RET_ERRNO, 0, 0);
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: no memory is involved.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: `filter` and the program that it points to live until the call has copied them.
    let failed = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    if failed == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a shell that pretends and gives back what it prints.
    fn pretending(script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        // SAFETY: it makes system calls only.
        unsafe { command.pre_exec(pretend_to_change_owners) };
        let done = command.output().expect("sh starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    #[test]
    fn owners_are_changed_in_name_only() {
        let script = "f=$(mktemp) && before=$(stat -c %u:%g $f) && chown 4321:4321 $f && [ $before = $(stat -c %u:%g $f) ] && rm $f && echo same";
        assert_eq!(pretending(script), "same\n");
    }

    #[test]
    fn a_namespace_ends_with_its_command() {
        // Where none may be made, there is nothing to test.
        let Ok(rights) = Rights::probe() else { return };
        let done = rights.isolate(&["sh", "-c", "sleep 1000 & echo $$,$HOME"]).output().expect("unshare starts");
        assert_eq!(String::from_utf8_lossy(&done.stdout), "1,\n");
    }
}
