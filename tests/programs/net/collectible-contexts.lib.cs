using System;
using System.Collections.Generic;
using System.ComponentModel;

namespace Plugin
{
    [Description("a value")]
    public class Value
    {
        public int Number = 7;
        public override string ToString() => "value " + Number;
    }

    interface IStep { int Take(int number); }

    struct Double : IStep { public int Take(int number) => number * 2; }

    class Next : IStep { public int Take(int number) => number + 1; }

    public static class Entry
    {
        static readonly byte[] memory = new byte[1 << 20];
        static readonly Dictionary<string, Value> values = new();
        static int count;

        static int Apply<T>(T step, int number) where T : IStep => step.Take(number);

        public static int Run(int number)
        {
            for (int i = 0; i < memory.Length; i += 4096)
                memory[i] = 1;
            values["a"] = new Value { Number = number };
            Func<int, int> closure = x => Apply(new Double(), x) + values["a"].Number;
            try { throw new InvalidOperationException("in a plugin"); }
            catch (InvalidOperationException) { count++; }
            return Apply(new Next(), closure(number)) + count;
        }
    }
}
