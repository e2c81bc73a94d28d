// UTF-8 to strings and back: ASCII, text with some other letters, and text with hardly any ASCII.
using System;
using System.Text;

static class Utf8
{
    static void Main()
    {
        var english = new StringBuilder();
        var german = new StringBuilder();
        var chinese = new StringBuilder();
        for (int i = 0; i < 100; i++)
        {
            english.Append("It was the best of times, it was the worst of times. ");
            german.Append("Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ");
            chinese.Append("天地玄黃宇宙洪荒日月盈昃辰宿列張。");
        }
        var texts = new[] { english.ToString(), german.ToString(), chinese.ToString(), "short", "kürzer" };
        long total = 0;
        foreach (string text in texts)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(text);
            int rounds = text.Length > 1000 ? 20000 : 1500000;
            for (int round = 0; round < rounds; round++)
            {
                bytes[0] = (byte)(bytes[0] < 128 ? 65 + round % 26 : bytes[0]);
                string decoded = Encoding.UTF8.GetString(bytes);
                total += decoded.Length + decoded[0];
                total += Encoding.UTF8.GetByteCount(decoded);
                total += Encoding.UTF8.GetBytes(decoded).Length;
            }
        }
        Console.WriteLine(total);
    }
}
