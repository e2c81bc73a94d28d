//! System.IO.DriveInfo: free space, kind and format of file systems, by their Linux magic numbers.

use super::errors::{IoResult, Win32Error, report};
use super::path::system_path_of;
use crate::arguments::{optional_string, units_at};
use saki_runtime::{CurrentThread, InternalCall, Managed, Place, Str};
use std::ffi::CString;

/// `DriveType`.
const UNKNOWN: u32 = 0;
const NO_ROOT_DIRECTORY: u32 = 1;
const FIXED: u32 = 3;
const NETWORK: u32 = 4;
const CD_ROM: u32 = 5;
const RAM: u32 = 6;

/// (magic number of statfs(2), drive type, name)
const FORMATS: &[(u32, u32, &str)] = &[
    (0xadf5, FIXED, "adfs"),
    (0xadff, FIXED, "affs"),
    (0x5346_414f, NETWORK, "afs"),
    (0x0187, RAM, "autofs"),
    (0x6d4a_556d, RAM, "autofs4"),
    (0x7375_7245, NETWORK, "coda"),
    (0x28cd_3d45, RAM, "cramfs"),
    (0x453d_cd28, RAM, "cramfs"),
    (0xff53_4d42, NETWORK, "cifs"),
    (0x6462_6720, RAM, "debugfs"),
    (0x6265_6572, RAM, "sysfs"),
    (0x7363_6673, RAM, "securityfs"),
    (0xf97c_ff8c, RAM, "selinuxfs"),
    (0x8584_58f6, RAM, "ramfs"),
    (0x7371_7368, FIXED, "squashfs"),
    (0x0041_4a53, FIXED, "efs"),
    (0xef53, FIXED, "ext"),
    (0xabba_1974, NETWORK, "xenfs"),
    (0x9123_683e, FIXED, "btrfs"),
    (0x4244, FIXED, "hfs"),
    (0x482b, FIXED, "hfsplus"),
    (0xf995_e849, FIXED, "hpfs"),
    (0x9584_58f6, RAM, "hugetlbfs"),
    (0x9660, CD_ROM, "iso"),
    (0x72b6, FIXED, "jffs2"),
    (0x0904_1934, RAM, "anon_inode"),
    (0x3153_464a, FIXED, "jfs"),
    (0x137f, FIXED, "minix"),
    (0x138f, FIXED, "minix v2"),
    (0x2468, FIXED, "minix2"),
    (0x2478, FIXED, "minix2 v2"),
    (0x4d5a, FIXED, "minix3"),
    (0x4d44, FIXED, "msdos"),
    (0x564c, NETWORK, "ncp"),
    (0x6969, NETWORK, "nfs"),
    (0x5346_544e, FIXED, "ntfs"),
    (0x9fa1, RAM, "openpromfs"),
    (0x9fa0, RAM, "proc"),
    (0x002f, FIXED, "qnx4"),
    (0x5265_4973, FIXED, "reiserfs"),
    (0x7275, RAM, "romfs"),
    (0x517b, NETWORK, "samba"),
    (0x0027_e0eb, RAM, "cgroupfs"),
    (0x0bad_1dea, RAM, "futexfs"),
    (0x012f_f7b6, FIXED, "sysv2"),
    (0x012f_f7b5, FIXED, "sysv4"),
    (0x0102_1994, RAM, "tmpfs"),
    (0x1cd1, RAM, "devpts"),
    (0x1501_3346, CD_ROM, "udf"),
    (0x0001_1954, FIXED, "ufs"),
    (0x5419_0100, FIXED, "ufs"),
    (0x1954_0119, FIXED, "ufs2"),
    (0x9fa2, RAM, "usbdev"),
    (0x012f_f7b4, FIXED, "xenix"),
    (0x5846_5342, FIXED, "xfs"),
    (0x6573_5546, RAM, "fuse"),
    (0x0102_1997, FIXED, "9p"),
    (0x00c3_6400, NETWORK, "ceph"),
    (0x6265_6570, RAM, "configfs"),
    (0xf15f, RAM, "eCryptfs"),
    (0x5df5, FIXED, "exofs"),
    (0xa501_fcf5, FIXED, "vxfs"),
    (0x0116_1970, NETWORK, "gfs2"),
    (0x7461_636f, FIXED, "ocfs2"),
    (0xc299_3d87, FIXED, "omfs"),
    (0x2405_1905, FIXED, "ubifs"),
];

fn path_or_current(path: *const u16, length: i32) -> IoResult<CString> {
    if path.is_null() {
        return Ok(c".".to_owned());
    }
    // SAFETY: the managed caller pins the string for the call.
    system_path_of(unsafe { units_at(path, length) })
}

fn format_of(path: &CString) -> Option<&'static (u32, u32, &'static str)> {
    // SAFETY: zeroed, then filled by statfs.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a NUL-terminated path and room for the status.
    if saki_thread::blocking(|| unsafe { libc::statfs(path.as_ptr(), &mut status) }) != 0 {
        return None;
    }
    let magic = status.f_type as u32;
    FORMATS.iter().find(|format| format.0 == magic)
}

/// (available to users, total, free) in bytes.
fn space(path: &CString) -> IoResult<(u64, u64, u64)> {
    // SAFETY: zeroed, then filled by statvfs.
    let mut status: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a NUL-terminated path and room for the status.
    match saki_thread::blocking(|| unsafe { libc::statvfs(path.as_ptr(), &mut status) }) {
        0 => {
            Ok((status.f_frsize * status.f_bavail, status.f_frsize * status.f_blocks, status.f_frsize * status.f_bfree))
        }
        _ => Err(Win32Error::last()),
    }
}

fn get_disk_free_space(
    _t: CurrentThread,
    path: *const u16,
    length: i32,
    available: Place<u64>,
    total: Place<u64>,
    free: Place<u64>,
    error: Place<i32>,
) -> bool {
    let result = path_or_current(path, length).and_then(|path| space(&path));
    let succeeded = result.is_ok();
    let (a, b, c) = report(result, error, (0, 0, 0));
    available.set(a);
    total.set(b);
    free.set(c);
    succeeded
}

fn get_drive_type(_t: CurrentThread, path: *const u16, length: i32) -> u32 {
    match path_or_current(path, length) {
        Ok(path) => format_of(&path).map_or(UNKNOWN, |format| format.1),
        Err(_) => NO_ROOT_DIRECTORY,
    }
}

fn get_drive_format<'t>(t: CurrentThread<'t>, path: *const u16, length: i32) -> Managed<Option<Str<'t>>> {
    let format = path_or_current(path, length).ok().and_then(|path| format_of(&path));
    optional_string(t, format.map(|format| format.2))
}

/// The internal calls of `System.IO.DriveInfo`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.IO.DriveInfo::GetDiskFreeSpaceInternal", &get_disk_free_space),
    InternalCall::new("System.IO.DriveInfo::GetDriveFormatInternal", &get_drive_format),
    InternalCall::new("System.IO.DriveInfo::GetDriveTypeInternal", &get_drive_type),
];
