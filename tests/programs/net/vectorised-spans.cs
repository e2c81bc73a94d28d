// timeout: 120
// What the class library does by vectors on spans, strings and texts of all lengths around a vector's: searches,
// comparisons, counts, replacements, UTF-8, ASCII and Latin-1, base 64, hexadecimal digits, Guid, BitArray, sums. A
// line has a number that stands for all results.
using System;
using System.Buffers;
using System.Buffers.Text;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Unicode;

static class VectorisedSpans
{
    static ulong state = 88172645463325252;
    static ulong Next() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
    static int Next(int limit) => (int)(Next() % (ulong)limit);

    static ulong hash = 14695981039346656037;
    static void Add(long number) => hash = (hash ^ (ulong)number) * 1099511628211;
    static void Add<T>(ReadOnlySpan<T> span) where T : struct { foreach (byte b in System.Runtime.InteropServices.MemoryMarshal.AsBytes(span)) Add(b); Add(span.Length); }
    static void Add(string text) => Add<char>(text);
    static void Line(string name) { Console.WriteLine(name + " " + hash.ToString("x16")); hash = 14695981039346656037; }

    static readonly int[] Lengths = Enumerable.Range(0, 70).Concat(new[] { 95, 96, 97, 127, 128, 129, 200, 255, 256, 257, 1000, 4096 }).ToArray();

    static void Searches<T>(Func<int, T> make) where T : struct, IEquatable<T>, IComparable<T>
    {
        foreach (int length in Lengths)
        {
            var span = new T[length + 3].AsSpan(Next(3), length);
            for (int i = 0; i < length; i++) span[i] = make(Next(60));
            T a = make(Next(70)), b = make(Next(70)), c = make(Next(70)), d = make(Next(70)), e = make(62);
            T last = length > 0 ? span[^1] : a;
            if (length > 2 && Next(2) == 0) { span[Next(length)] = e; }
            ReadOnlySpan<T> read = span;
            Add(read.IndexOf(a)); Add(read.IndexOf(e)); Add(read.LastIndexOf(e)); Add(read.LastIndexOf(b)); Add(read.IndexOf(last)); Add(read.Contains(e) ? 1 : 0);
            Add(read.IndexOfAny(a, e)); Add(read.IndexOfAny(a, b, e)); Add(read.LastIndexOfAny(a, e)); Add(read.LastIndexOfAny(e, d, c)); Add(read.IndexOfAny(new[] { e, a, b, c })); Add(read.IndexOfAny(new[] { e, a, b, c, d }));
            Add(read.IndexOfAnyExcept(a)); Add(read.IndexOfAnyExcept(a, b)); Add(read.IndexOfAnyExcept(new[] { a, b, c, d, e })); Add(read.LastIndexOfAnyExcept(last)); Add(read.LastIndexOfAnyExcept(last, a));
            Add(read.IndexOfAnyInRange(make(55), make(58))); Add(read.IndexOfAnyExceptInRange(make(0), make(58))); Add(read.LastIndexOfAnyInRange(make(3), make(4))); Add(read.LastIndexOfAnyExceptInRange(make(1), make(59)));
            Add(read.Count(a)); Add(read.Count(last));
            T[] copy = read.ToArray();
            Add(read.SequenceEqual(copy) ? 1 : 0); Add(Math.Sign(read.SequenceCompareTo(copy)));
            if (length > 0) { int at = Next(length); copy[at] = e; Add(read.SequenceEqual(copy) ? 1 : 0); Add(Math.Sign(read.SequenceCompareTo(copy))); Add(read.CommonPrefixLength(copy)); Add(read.IndexOf(copy.AsSpan(length / 2))); Add(read.LastIndexOf(copy.AsSpan(length / 2, Math.Min(4, length - length / 2)))); }
            Array.Reverse(copy); Add<T>(copy);
            copy.AsSpan().Replace(a, b); Add<T>(copy);
            var other = new T[length]; read.Replace(other, last, e); Add<T>(other);
            copy.AsSpan().Fill(c); Add<T>(copy); copy.AsSpan().Clear(); Add<T>(copy);
            read.CopyTo(copy); Add<T>(copy); if (length > 4) { Array.Copy(copy, 0, copy, 3, length - 3); Add<T>(copy); Array.Copy(copy, 2, copy, 0, length - 2); Add<T>(copy); }
        }
        Line(typeof(T).Name);
    }

    static string Text(int length, int kind)
    {
        var text = new StringBuilder();
        while (text.Length < length)
        {
            int character = kind switch { 0 => 32 + Next(95), 1 => Next(256), 2 => Next(20) == 0 ? 0x3b1 + Next(20) : 'a' + Next(26), 3 => Next(3) == 0 ? 0x4e00 + Next(1000) : Next(2) == 0 ? 0x1f600 + Next(50) : Next(128), _ => Next(40) == 0 ? 0xd800 + Next(0x800) : Next(0x3000) };
            if (character > 0xffff) text.Append(char.ConvertFromUtf32(character)); else text.Append((char)character);
        }
        return text.ToString(0, length);
    }

    static void Texts()
    {
        for (int kind = 0; kind < 5; kind++)
        {
            foreach (int length in Lengths)
            {
                string text = Text(length, kind);
                byte[] utf8 = Encoding.UTF8.GetBytes(text);
                Add<byte>(utf8); Add(Encoding.UTF8.GetString(utf8)); Add(Encoding.UTF8.GetByteCount(text)); Add(Encoding.UTF8.GetCharCount(utf8));
                if (length > 0) { utf8[Next(utf8.Length)] = (byte)Next(256); Add(Encoding.UTF8.GetString(utf8)); }
                var bytes = new byte[length * 3]; var chars = new char[length * 3];
                Add((int)Utf8.FromUtf16(text, bytes, out int read, out int written, true, true)); Add(read); Add(written); Add<byte>(bytes);
                Add((int)Utf8.ToUtf16(utf8, chars, out read, out written, true, true)); Add(read); Add(written); Add<char>(chars);
                Add(Utf8.IsValid(utf8) ? 1 : 0); Add(Ascii.IsValid(text) ? 1 : 0); Add(Ascii.IsValid(utf8) ? 1 : 0);
                Add<byte>(Encoding.ASCII.GetBytes(text)); Add<byte>(Encoding.Latin1.GetBytes(text)); Add(Encoding.Latin1.GetString(utf8)); Add(Encoding.ASCII.GetString(utf8)); Add<byte>(Encoding.Unicode.GetBytes(text)); Add<byte>(Encoding.UTF32.GetBytes(text));
                Add((int)Ascii.ToUpper(text, chars, out written)); Add(written); Add((int)Ascii.ToLower(utf8, bytes, out written)); Add(written); Add<byte>(bytes);
                Add(text.ToUpperInvariant()); Add(text.ToLowerInvariant()); Add(text.Equals(text.ToLowerInvariant(), StringComparison.OrdinalIgnoreCase) ? 1 : 0); Add(Ascii.EqualsIgnoreCase(text, utf8) ? 1 : 0);
                Add(text.Replace('a', 'b')); Add(text.Replace("ab", "xyz")); Add(text.Split('a', ' ').Length); Add(text.Split(new[] { 'a', 'e', 'i', 'o' }).Length); Add(text.IndexOf("e", StringComparison.Ordinal)); Add(text.IndexOf("ab", StringComparison.OrdinalIgnoreCase)); Add(text.AsSpan().Trim().Length); Add(text.IndexOfAny(new[] { '\r', '\n', '\u00e9', 'z', 'q', '\u03b1' }));
                foreach (var values in Values) { Add(text.AsSpan().IndexOfAny(values)); Add(text.AsSpan().IndexOfAnyExcept(values)); Add(text.AsSpan().LastIndexOfAny(values)); Add(text.AsSpan().LastIndexOfAnyExcept(values)); }
                foreach (var values in Bytes) { Add(utf8.AsSpan().IndexOfAny(values)); Add(utf8.AsSpan().IndexOfAnyExcept(values)); Add(utf8.AsSpan().LastIndexOfAny(values)); }
                foreach (var values in Words) Add(text.AsSpan().IndexOfAny(values));
                if (kind != 4) { Add(JavaScriptEncoder.Default.Encode(text)); Add(HtmlEncoder.Default.Encode(text)); Add(Uri.EscapeDataString(text)); if (kind != 3) Add(text.Normalize()); }
                Add(string.GetHashCode(text.AsSpan()) == string.GetHashCode(text.AsSpan()) ? 1 : 0);
            }
            Line("texts of kind " + kind);
        }
    }

    static readonly SearchValues<char>[] Values = { SearchValues.Create("aeiou"), SearchValues.Create("abcdefghijklmnopqrstuvwxyz"), SearchValues.Create("\0\t\r\n<>&\"'"), SearchValues.Create("xyz\u03b1\u03b2\u4e10"), SearchValues.Create("0123456789ABCDEFabcdef+-. "), SearchValues.Create("\u00e0\u00e9\u00ff"), SearchValues.Create("q"), SearchValues.Create("") };
    static readonly SearchValues<byte>[] Bytes = { SearchValues.Create("aeiou"u8), SearchValues.Create(new byte[] { 0, 200, 255, 17 }), SearchValues.Create("0123456789abcdefghijklmnop"u8), SearchValues.Create(Enumerable.Range(100, 90).Select(n => (byte)n).ToArray()) };
    static readonly SearchValues<string>[] Words = { SearchValues.Create(new[] { "ab", "the", "xyz" }, StringComparison.Ordinal), SearchValues.Create(new[] { "QU", "abc" }, StringComparison.OrdinalIgnoreCase), SearchValues.Create(new[] { "e" }, StringComparison.OrdinalIgnoreCase) };

    static void Digits()
    {
        foreach (int length in Lengths)
        {
            var bytes = new byte[length];
            for (int i = 0; i < length; i++) bytes[i] = (byte)Next();
            string text = Convert.ToBase64String(bytes), lines = Convert.ToBase64String(bytes, Base64FormattingOptions.InsertLineBreaks), hex = Convert.ToHexString(bytes);
            Add(text); Add(lines); Add(hex); Add<byte>(Convert.FromBase64String(text)); Add<byte>(Convert.FromBase64String(lines)); Add<byte>(Convert.FromHexString(hex)); Add<byte>(Convert.FromHexString(hex.ToLowerInvariant()));
            var encoded = new byte[Base64.GetMaxEncodedToUtf8Length(length)];
            Add((int)Base64.EncodeToUtf8(bytes, encoded, out int read, out int written)); Add(read); Add(written); Add<byte>(encoded);
            var decoded = new byte[length + 3];
            Add((int)Base64.DecodeFromUtf8(encoded, decoded, out read, out written)); Add(read); Add(written); Add<byte>(decoded);
            if (encoded.Length > 0) { encoded[Next(encoded.Length)] = (byte)Next(256); Add((int)Base64.DecodeFromUtf8(encoded, decoded, out read, out written)); Add(read); Add(written); Add(Base64.IsValid(encoded) ? 1 : 0); }
            Add(Base64Url.EncodeToString(bytes)); Add<byte>(Base64Url.DecodeFromChars(Base64Url.EncodeToString(bytes)));
            var bits = new BitArray(bytes); var flags = new bool[length * 8]; bits.CopyTo(flags, 0); Add<bool>(flags); Add<byte>(Bits(new BitArray(flags)));
            bits.Not(); bits.Xor(new BitArray(bytes)); if (length > 0) Add(bits.HasAllSet() ? 1 : 0);
            Add(new System.IO.MemoryStream(bytes).ToArray().Length); Add((long)BitOperations.Crc32C((uint)length, (ulong)Next()));
        }
        for (int i = 0; i < 200; i++) { var guid = new Guid((int)Next(), (short)Next(), (short)Next(), BitConverter.GetBytes(Next())); Add(guid.ToString()); Add(guid.ToString("N")); Add(guid.ToString("B")); Add(Guid.Parse(guid.ToString()) == guid ? 1 : 0); Add(guid.Equals(Guid.Empty) ? 1 : 0); }
        Line("digits");
    }

    static byte[] Bits(BitArray bits) { var bytes = new byte[(bits.Length + 7) / 8]; bits.CopyTo(bytes, 0); return bytes; }

    static void Numbers()
    {
        foreach (int length in Lengths)
        {
            int[] ints = new int[length]; long[] longs = new long[length]; float[] floats = new float[length]; double[] doubles = new double[length]; byte[] bytes = new byte[length]; short[] shorts = new short[length];
            for (int i = 0; i < length; i++) { ints[i] = (int)Next() / 5000; longs[i] = (long)Next() >> 20; floats[i] = Next(1000) - 500 + Next(100) / 128f; doubles[i] = Next(100000) / 256.0; bytes[i] = (byte)Next(); shorts[i] = (short)Next(); }
            Add(ints.Sum()); Add(longs.Sum()); Add(BitConverter.DoubleToInt64Bits(doubles.Sum()));
            if (length > 0) { Add(ints.Max()); Add(ints.Min()); Add(longs.Max()); Add(longs.Min()); Add(bytes.Max()); Add(shorts.Min()); Add(BitConverter.SingleToInt32Bits(floats.Max())); Add(BitConverter.DoubleToInt64Bits(doubles.Min())); Add((long)(ints.Average() * 16)); }
            try { checked { Add(ints.Select(i => i * 5000).Sum()); } } catch (OverflowException) { Add(-1); }
            int[] sorted = (int[])ints.Clone(); Array.Sort(sorted); Add<int>(sorted); Add(Array.IndexOf(ints, 7)); Add(ints.Contains(length > 0 ? ints[^1] : 0) ? 1 : 0);
            BigInteger a = new BigInteger(bytes), b = new BigInteger(longs.SelectMany(BitConverter.GetBytes).ToArray().AsSpan(0, Math.Min(longs.Length * 8, 400)));
            Add((a * b).ToString("x").GetHashCode() * 0); Add((a + b).ToByteArray().AsSpan().IndexOf((byte)3)); Add(BigInteger.Multiply(a, a).ToByteArray().Length);
            foreach (int number in ints.Take(5)) { Add(BitOperations.PopCount((uint)number)); Add(BitOperations.LeadingZeroCount((uint)number)); Add(BitOperations.TrailingZeroCount(number)); Add(BitOperations.Log2((uint)number)); Add(BitOperations.Log2((ulong)(uint)number << 17)); Add(BitOperations.TrailingZeroCount((long)number << 35)); Add(BitOperations.LeadingZeroCount((ulong)(uint)number)); Add(BitOperations.PopCount((nuint)(uint)number)); }
            Add(Enumerable.Range(3, length).ToArray().AsSpan().IndexOf(length / 2)); Add<int>(Enumerable.Range(-5, length).ToArray());
            Add((long)HashCode.Combine(1) * 0);
        }
        Add(BitOperations.LeadingZeroCount(0u)); Add(BitOperations.LeadingZeroCount(0ul)); Add(BitOperations.TrailingZeroCount(0)); Add(BitOperations.TrailingZeroCount(0L)); Add(BitOperations.Log2(0)); Add(BitOperations.Log2(0ul)); Add(BitOperations.TrailingZeroCount((nint)0)); Add(BitOperations.LeadingZeroCount((nuint)0));
        Line("numbers");
    }

    static void Main()
    {
        Searches(i => (byte)(i * 3)); Searches(i => (sbyte)(i * 3 - 90)); Searches(i => (char)(i * 7)); Searches(i => (short)(i * 500 - 9000)); Searches(i => (ushort)(i * 900)); Searches(i => i * 100000 - 3000000); Searches(i => (long)i << 40); Searches(i => (ulong)i * 77777777); Searches(i => i / 3f); Searches(i => i / 7.0);
        Texts();
        Digits();
        Numbers();
    }
}
