// mcs: -unsafe
// Strings of all lengths around the limits of allocation in compiled code, and lengths that cannot be.
using System;

static class Allocation {
    static void Main ()
    {
        long sum = 0;
        for (int length = 0; length < 9000; length += length < 40 ? 1 : 97) {
            string text = new string ('x', length);
            sum += text.Length;
            string twice = text + text;
            if (twice.Length != 2 * length || (length > 0 && (twice[length] != 'x' || twice[2 * length - 1] != 'x')))
                Console.WriteLine ("wrong at {0}", length);
            if (twice.Substring (length) != text || text.PadLeft (length + 3).Trim () != text)
                Console.WriteLine ("different at {0}", length);
        }
        Console.WriteLine (sum);
        unsafe {
            foreach (int length in new[] { 0, 1, 2, 3, 4, 5, 4080, 4085, 4086, 4087, 4100 }) {
                string text = new string ('y', length);
                fixed (char* p = text)
                    Console.Write ("{0} ", (int) p[length]);
            }
        }
        Console.WriteLine ();
        try {
            new string ('a', -1);
        } catch (ArgumentOutOfRangeException e) {
            Console.WriteLine (e.ParamName);
        }
        Console.WriteLine (String.Concat (new string[0]) == "" ? "empty" : "not empty");
    }
}
