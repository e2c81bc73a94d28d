// Each internal call of the core library, and each call into the runtime, compiles: what the machine supplies has the
// parameters that the library declares.

using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly;
int count = 0;
foreach (var method in typeof (object).Assembly.GetTypes ().SelectMany (type => type.GetMembers (All)).OfType<MethodBase> ()) {
    var isInternal = (method.GetMethodImplementationFlags () & MethodImplAttributes.InternalCall) != 0;
    var isNative = (method.Attributes & MethodAttributes.PinvokeImpl) != 0;
    if (method.ContainsGenericParameters || !isInternal && !isNative)
        continue;
    try {
        RuntimeHelpers.PrepareMethod (method.MethodHandle);
        count++;
    } catch (Exception e) {
        Console.WriteLine ($"{method.DeclaringType}.{method.Name}: {e.Message}");
    }
}
Console.WriteLine (count > 500);
