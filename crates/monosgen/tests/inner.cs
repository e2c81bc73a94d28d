using System;

namespace Some
{
    public class Empty { }
    public class OneInt { public int A; }
    public class OneByte { public byte A; }
    public class LongAndByte { public long A; public byte B; }
    public class ByteAfterByte : OneByte { public byte C; }
    public class IntAfterByte : OneByte { public int C; }
    public class ByteAfterInt : OneInt { public byte C; }
    public class TextAndInt { public string A; public int B; }
    public class IntAndText { public int A; public string B; }
    public class Holds<T> { public T A; }
    public class OfInt : Holds<int> { public short B; }
    public class OfStruct { public Small A; public Small B; }
    public struct Small { public short A; public byte B; }
    public struct Large { public long A; public byte B; }
    public enum Choice : byte { A, B }

    public class Program
    {
        static void Throw () { throw new InvalidOperationException ("thrown"); }

        public static int Work (int count, string text)
        {
            for (int i = 0; i < count; i++) {
                try {
                    Throw ();
                } catch (InvalidOperationException) {
                }
            }
            return count + text.Length;
        }

        public static object Fails () { throw new ArgumentException ("a failure"); }

        public static string Domain () { return AppDomain.CurrentDomain.FriendlyName; }

        public static int Main (string [] args)
        {
            Console.WriteLine ("main of " + args.Length + " " + string.Join ("|", args));
            return 3 + args.Length;
        }
    }
}
