// Messages of exceptions that programs make themselves for files and types, by their error numbers.
using System;
using System.IO;
using System.Runtime;

static class Program
{
    static void Main()
    {
        var made = new Func<Exception>[]
        {
            () => new FileLoadException(), () => new FileLoadException(null, "file"), () => new FileLoadException("message", "file"),
            () => new FileNotFoundException(), () => new FileNotFoundException(null, "file"), () => new BadImageFormatException(),
            () => new BadImageFormatException(null, "file"), () => new TypeLoadException(), () => new DllNotFoundException(),
            () => new EntryPointNotFoundException(), () => new MissingMethodException("Class", "Method"), () => new MissingFieldException(),
        };
        foreach (var make in made)
        {
            Exception exception = make();
            Console.WriteLine($"{exception.GetType().Name}: {exception.Message}");
        }
        foreach (uint error in new uint[] { 0x80070002, 0x80070003, 0x80070005, 0x80070020, 0x8007000b, 0x8007000e, 0x80131040, 0x80131047, 0x80131018, 0x8013101b, 0x80131621, 0x80131620, 0x80004005, 0x80070057, 0x12345678, 0x80131515, 0x80131534 })
        {
            Console.WriteLine($"{error:x}: {new FileLoadException(null, "file") { HResult = unchecked((int)error) }.Message}");
        }
        ProfileOptimization.SetProfileRoot("/tmp");
        ProfileOptimization.StartProfile("profile");
        Console.WriteLine("profile");
    }
}
