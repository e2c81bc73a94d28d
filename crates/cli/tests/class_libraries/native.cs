// Which libmono-native is mapped, after a call of one of its functions.
using System;
using System.IO;
using System.Linq;

class Program
{
    static void Main()
    {
        File.Delete("/nothere");
        var mapped = File.ReadAllLines("/proc/self/maps").Where(line => line.Contains("libmono-native"));
        Console.WriteLine(string.Join(" ", mapped.Select(line => line.Substring(line.IndexOf('/'))).Distinct()));
    }
}
