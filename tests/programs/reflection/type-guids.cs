// Type.GUID is the value of the type's own GuidAttribute: also of nested, generic and imported types, and not that of the base class.
using System;
using System.Runtime.InteropServices;

[Guid ("00112233-4455-6677-8899-AABBCCDDEEFF")]
class Base {
	[Guid ("10000000-2000-3000-4000-500000000006")]
	public struct Nested { }
}

class Derived : Base { }

[Guid ("fedcba98-7654-3210-fedc-ba9876543210")]
class Generic<T> { }

[ComImport, InterfaceType (ComInterfaceType.InterfaceIsIUnknown), Guid ("0000010c-0000-0000-c000-000000000046")]
interface IImported { }

[Guid ("ffffffff-ffff-ffff-ffff-ffffffffffff")]
enum Number { One }

static class Program {
	static void Main ()
	{
		foreach (Type type in new[] { typeof (Base), typeof (Base.Nested), typeof (Generic<>), typeof (Generic<string>), typeof (Generic<int>), typeof (IImported), typeof (Number) })
			Console.WriteLine ("{0} {1}", type.Name, type.GUID);
		Console.WriteLine (typeof (Derived).GUID == typeof (Base).GUID);
		Console.WriteLine (typeof (Base).GUID == Marshal.GenerateGuidForType (typeof (Base)));
	}
}
