// Writes a text file by lines, reads it by lines, splits and parses the fields.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;

static class LineReading {
    const int Lines = 700000;

    static void Main ()
    {
        string path = Path.GetTempFileName ();
        try {
            using (var writer = new StreamWriter (path))
                for (int i = 0; i < Lines; i++) {
                    writer.Write ("line number ");
                    writer.Write (i);
                    writer.Write (i % 10 == 0 ? ";größer;" : ";plain;");
                    writer.WriteLine (i * 0.25);
                }
            for (int round = 0; round < 4; round++)
                Read (path);
            Parse (path);
            int longest = 0;
            foreach (string line in File.ReadLines (path, Encoding.UTF8))
                longest = Math.Max (longest, line.Length);
            Console.WriteLine ("longest {0}, all {1}", longest, File.ReadAllText (path).Length);
        } finally {
            File.Delete (path);
        }
    }

    static void Read (string path)
    {
        long characters = 0, marks = 0;
        using (var reader = new StreamReader (path)) {
            string line;
            while ((line = reader.ReadLine ()) != null) {
                characters += line.Length;
                if (line.IndexOf ('ö') >= 0)
                    marks++;
            }
        }
        Console.WriteLine ("read {0} {1}", characters, marks);
    }

    static void Parse (string path)
    {
        var count = new Dictionary<string, int> ();
        double sum = 0;
        long numbers = 0;
        using (var reader = new StreamReader (path)) {
            string line;
            while ((line = reader.ReadLine ()) != null) {
                string[] fields = line.Split (';');
                int seen;
                count.TryGetValue (fields[1], out seen);
                count[fields[1]] = seen + 1;
                sum += Double.Parse (fields[2], CultureInfo.InvariantCulture);
                numbers += Int32.Parse (fields[0].Substring (12));
            }
        }
        Console.WriteLine ("parsed {0} {1} {2} {3}", count["plain"], count["größer"], sum.ToString (CultureInfo.InvariantCulture), numbers);
    }
}
