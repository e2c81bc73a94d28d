//! System.Diagnostics.Process and Microsoft.Win32.NativeMethods (System.dll).
//!
//! Left out: FileVersionInfo.GetVersionInfo_icall, WaitForInputIdle, other users' credentials, the links of ShellExecuteEx
//! to desktop programs.

pub mod information;
mod modules;
pub mod native_methods;
mod processes;
pub mod start;
