// What crates/cli/tests/terminal.rs runs on a terminal: each mode says "ready" when the terminal is set up.
using System;
using System.Threading;

static class Program {
    static void Keys (int count)
    {
        for (int i = 0; i < count; i++) {
            var key = Console.ReadKey (true);
            Console.WriteLine ("[{0} {1} {2}]", key.Key, (int) key.KeyChar, key.Modifiers);
        }
    }

    static void Main (string[] arguments)
    {
        int top = Console.CursorTop;
        if (arguments[0] == "treat")
            Console.TreatControlCAsInput = true;
        int cancelled = 0;
        if (arguments[0] == "cancel")
            Console.CancelKeyPress += (sender, e) => {
                cancelled++;
                e.Cancel = cancelled < 2;
                Console.WriteLine ("cancel {0} {1}", e.SpecialKey, cancelled);
            };
        Console.WriteLine ("ready");
        switch (arguments[0]) {
        case "keys":
            Keys (8);
            break;
        case "treat":
            Keys (2);
            break;
        case "line":
            Console.WriteLine ("<{0}>", Console.ReadLine ());
            break;
        case "cancel":
            Thread.Sleep (60000);
            break;
        case "cursor":
            Console.Write ("abc({0},{1})", Console.CursorLeft, Console.CursorTop);
            Console.SetCursorPosition (5, 2);
            Console.Write ("({0},{1})", Console.CursorLeft, Console.CursorTop);
            Console.ForegroundColor = ConsoleColor.Red;
            Console.BackgroundColor = ConsoleColor.DarkBlue;
            Console.Write ("{0} {1}", Console.ForegroundColor, Console.BackgroundColor);
            Console.ResetColor ();
            break;
        case "size":
            Console.WriteLine ("{0}x{1}", Console.WindowWidth, Console.WindowHeight);
            Keys (1);
            Console.WriteLine ("{0}x{1}", Console.WindowWidth, Console.WindowHeight);
            break;
        case "crash":
            Keys (1);
            throw new InvalidOperationException ("boom");
        }
    }
}
