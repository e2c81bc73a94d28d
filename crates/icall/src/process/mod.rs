//! System.Diagnostics.Process and Microsoft.Win32.NativeMethods (System.dll).
