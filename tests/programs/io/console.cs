// Standard input, output and error; arguments; environment.
// args: one two-2
// stdin: first line\n42 rest\n\nlast without end
// env: SAKI_VARIABLE=its value
// stderr-contains: to standard error
using System;
using System.IO;

static class Program
{
    static int Main(string[] args)
    {
        Console.WriteLine("{0}: {1}", args.Length, string.Join("|", args));
        Console.WriteLine(Environment.GetCommandLineArgs().Length);
        Console.WriteLine(Environment.GetEnvironmentVariable("SAKI_VARIABLE"));
        Console.WriteLine(Environment.GetEnvironmentVariable("SAKI_NO_SUCH_VARIABLE") == null);
        Environment.SetEnvironmentVariable("SAKI_SET", "set");
        Console.WriteLine(Environment.GetEnvironmentVariable("SAKI_SET"));
        Console.WriteLine(Console.ReadLine());
        Console.WriteLine((char)Console.Read());
        Console.WriteLine(Console.ReadLine());
        Console.WriteLine("[" + Console.In.ReadToEnd().Replace("\n", "/") + "]");
        Console.WriteLine(Console.ReadLine() == null);
        Console.Error.WriteLine("to standard error");
        Console.Write('c');
        Console.Write(1);
        Console.Write(2.5);
        Console.Write(true);
        Console.Write(new[] { 'x', 'y' });
        Console.Write((object)null);
        Console.WriteLine();
        Console.WriteLine("{0}, {1}, {2}, {3}", 1, 2, 3, 4);
        Console.WriteLine("ä€\U0001F600");
        StringWriter writer = new StringWriter();
        TextWriter old = Console.Out;
        Console.SetOut(writer);
        Console.Write("redirected");
        Console.SetOut(old);
        Console.WriteLine("<" + writer + ">");
        Stream raw = Console.OpenStandardOutput();
        Console.Out.Flush();
        raw.Write(new byte[] { 0x72, 0x61, 0x77, 0x0a }, 0, 4);
        raw.Flush();
        Console.WriteLine("{0} {1} {2}", Environment.NewLine.Length, Environment.ProcessorCount > 0, Environment.OSVersion.Platform);
        Console.WriteLine("{0} {1}", Environment.TickCount != 0, Environment.Version.Major);
        return 0;
    }
}
