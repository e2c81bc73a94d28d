// Main gets the arguments, without the program's name; what it returns wins over Environment.ExitCode.
// args: one two=2 --three
// exit: 7
using System;

static class P
{
    static int Main(string[] args)
    {
        Console.WriteLine(args.Length);
        foreach (string argument in args) Console.WriteLine(argument);
        string[] line = Environment.GetCommandLineArgs();
        Console.WriteLine(line.Length + " " + System.IO.Path.GetFileName(line[0]));
        Environment.ExitCode = 3;
        return 7;
    }
}
