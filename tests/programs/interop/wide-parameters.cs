// Functions of a C library whose parameters are 64 bits wide, declared with 32-bit ones: signed arguments arrive with their
// sign, unsigned ones without.
// net: skip what the upper half of a register holds is undefined there
using System;
using System.Runtime.InteropServices;

enum Signed { MinusTwo = -2 }
enum Unsigned : uint { Large = 0xfffffffe }

class WideParameters
{
	[DllImport ("libc", EntryPoint = "labs")]
	static extern long LabsInt (int value);

	[DllImport ("libc", EntryPoint = "labs")]
	static extern long LabsUInt (uint value);

	[DllImport ("libc", EntryPoint = "labs")]
	static extern long LabsShort (short value);

	[DllImport ("libc", EntryPoint = "labs")]
	static extern long LabsEnum (Signed value);

	[DllImport ("libc", EntryPoint = "labs")]
	static extern long LabsUnsignedEnum (Unsigned value);

	delegate long Labs (int value);

	[DllImport ("libdl.so.2")]
	static extern IntPtr dlsym (IntPtr handle, string name);

	static int Zero ()
	{
		return Environment.GetCommandLineArgs ().Length - 1;
	}

	static void Main ()
	{
		Console.WriteLine (LabsInt (-1));
		Console.WriteLine (LabsInt (Zero () - 5));
		Console.WriteLine (LabsInt (int.MinValue));
		Console.WriteLine (LabsUInt (0xffffffff));
		Console.WriteLine (LabsUInt ((uint) Zero () - 1));
		Console.WriteLine (LabsShort (-3));
		Console.WriteLine (LabsEnum (Signed.MinusTwo));
		Console.WriteLine (LabsUnsignedEnum (Unsigned.Large));
		var labs = (Labs) Marshal.GetDelegateForFunctionPointer (dlsym (IntPtr.Zero, "labs"), typeof (Labs));
		Console.WriteLine (labs (-7));
	}
}
