// Branches that are hardly ever taken, with calls on the way: a scanner of numbers and names that checks everything.
using System;

static class ColdBranches
{
    static int errors;
    static string last = "";

    static int Error(string text, int at)
    {
        errors++;
        last = text + at;
        return -1;
    }

    static bool IsLetter(char c) { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'; }
    static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
    static int Unusual(string text, int at) { return text[at] > 127 ? Error("not ASCII at ", at) : Error("unexpected at ", at); }
    static int TooLong(int at, int length) { return length > 100 ? Error("much too long at ", at) : Error("too long at ", at); }

    // The sum of the tokens' kinds and lengths.
    static int Scan(string text)
    {
        int sum = 0, at = 0;
        while (at < text.Length)
        {
            char c = text[at];
            int start = at;
            if (c == ' ')
            {
                at++;
                continue;
            }
            if (IsLetter(c))
            {
                while (at < text.Length && (IsLetter(text[at]) || IsDigit(text[at])))
                    at++;
                if (at - start > 40)
                    sum += TooLong(start, at - start);
                sum += at - start;
            }
            else if (IsDigit(c))
            {
                int value = 0;
                while (at < text.Length && IsDigit(text[at]))
                {
                    if (value > 100000000)
                    {
                        sum += TooLong(start, at - start);
                        value = 0;
                    }
                    value = 10 * value + (text[at] - '0');
                    at++;
                }
                sum += value;
            }
            else
            {
                if (c < 32 || c > 126)
                {
                    sum += Unusual(text, at);
                    if (c == '\r')
                        sum += TooLong(at, 1);
                }
                sum += c;
                at++;
            }
        }
        return sum;
    }

    static void Main()
    {
        string text = "";
        for (int i = 0; i < 200; i++)
            text += "value" + i + " = other * (x + " + 17 * i + ") - y2; ";
        int sum = 0;
        for (int round = 0; round < 8000; round++)
            sum += Scan(text);
        Console.WriteLine(sum + " " + errors + last);
    }
}
