//! Status codes for hosts: HRESULTs (dotnet/runtime `src/coreclr/pal/prebuilt/inc/corerror.h`), negative for failures.

use std::ffi::c_int;

/// S_OK.
pub(crate) const SUCCESS: c_int = 0;
/// E_FAIL: the text says why.
pub(crate) const FAILED: c_int = 0x8000_4005_u32 as c_int;
/// E_POINTER.
pub(crate) const NULL_POINTER: c_int = 0x8000_4003_u32 as c_int;
/// E_INVALIDARG.
pub(crate) const INVALID_ARGUMENT: c_int = 0x8007_0057_u32 as c_int;
/// HOST_E_INVALIDOPERATION: not now, or not on this thread.
pub(crate) const INVALID_OPERATION: c_int = 0x8013_1022_u32 as c_int;
/// COR_E_FILENOTFOUND.
pub(crate) const FILE_NOT_FOUND: c_int = 0x8007_0002_u32 as c_int;
/// COR_E_BADIMAGEFORMAT.
pub(crate) const BAD_IMAGE: c_int = 0x8007_000B_u32 as c_int;
