// Formats numbers, dates and composite strings; joins, concatenates, pads and replaces.
using System;
using System.Globalization;
using System.Linq;
using System.Text;

static class Formatting {
    const int Rounds = 250000;

    static void Main ()
    {
        var culture = CultureInfo.InvariantCulture;
        long length = 0;
        for (int i = 0; i < Rounds; i++)
            length += String.Format (culture, "{0}: {1,8:X} [{2:0.00}] {3}", i, i * 7, i / 3.0, i % 2 == 0).Length;
        Console.WriteLine ("composite {0}", length);

        length = 0;
        for (int i = 0; i < Rounds * 2; i++)
            length += i.ToString (culture).Length + (i * 1000003L).ToString (culture).Length + i.ToString ("D8", culture).Length;
        Console.WriteLine ("integers {0}", length);

        length = 0;
        for (int i = 1; i < Rounds / 2; i++)
            length += (1.0 / i).ToString ("F6", culture).Length + ((decimal) i / 8).ToString (culture).Length + (i * 0.5).ToString ("N1", culture).Length;
        Console.WriteLine ("fractions {0}", length);

        length = 0;
        var start = new DateTime (2001, 2, 3, 4, 5, 6, DateTimeKind.Utc);
        for (int i = 0; i < Rounds / 2; i++)
            length += start.AddSeconds (i * 977).ToString ("yyyy-MM-dd HH:mm:ss", culture).Length + TimeSpan.FromSeconds (i).ToString ().Length;
        Console.WriteLine ("dates {0}", length);

        var builder = new StringBuilder ();
        for (int i = 0; i < Rounds * 4; i++) {
            builder.Append (i).Append (',').Append ("text").Append (' ');
            if (builder.Length > 10000)
                builder.Clear ();
        }
        Console.WriteLine ("builder {0}", builder.Length);

        length = 0;
        string sentence = "the quick brown fox jumps over the lazy dog";
        for (int i = 0; i < Rounds / 4; i++) {
            string text = sentence + i;
            length += text.ToUpperInvariant ().Replace ("FOX", "cat").PadLeft (60).Trim ().Length;
            length += String.Join ("-", text.Split (' ')).Length + String.Concat (text, "!", sentence).IndexOf ("dog!", StringComparison.Ordinal);
        }
        Console.WriteLine ("strings {0}", length);
    }
}
