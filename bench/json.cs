// A JSON reader and writer of the usual kind: recursive descent into dictionaries and lists, and back to text.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

static class Json {
    static void Main ()
    {
        string document = Make ();
        int values = 0;
        string last = null;
        for (int round = 0; round < 12; round++) {
            var reader = new Reader (document);
            object value = reader.Value ();
            values += Count (value);
            var builder = new StringBuilder ();
            Write (builder, value);
            last = builder.ToString ();
        }
        Console.WriteLine ("{0} {1} {2} {3}", document.Length, values, last.Length, last == document);
    }

    static string Make ()
    {
        var random = new Random (11);
        var items = new List<object> ();
        for (int i = 0; i < 8000; i++)
            items.Add (new Dictionary<string, object> {
                { "id", (double) i },
                { "name", "item \"" + i + "\" größe" },
                { "price", random.Next (100000) / 100.0 },
                { "tags", new List<object> { "a", "b\n", null, true, false } },
                { "size", new Dictionary<string, object> { { "w", (double) random.Next (100) }, { "h", -1.5e10 } } }
            });
        var builder = new StringBuilder ();
        Write (builder, items);
        return builder.ToString ();
    }

    static int Count (object value)
    {
        int count = 1;
        var list = value as List<object>;
        if (list != null)
            foreach (object item in list)
                count += Count (item);
        var fields = value as Dictionary<string, object>;
        if (fields != null)
            foreach (var field in fields)
                count += Count (field.Value);
        return count;
    }

    static void Write (StringBuilder to, object value)
    {
        if (value == null) {
            to.Append ("null");
        } else if (value is bool) {
            to.Append ((bool) value ? "true" : "false");
        } else if (value is double) {
            to.Append (((double) value).ToString (CultureInfo.InvariantCulture));
        } else if (value is string) {
            Write (to, (string) value);
        } else if (value is List<object>) {
            char separator = '[';
            foreach (object item in (List<object>) value) {
                to.Append (separator);
                Write (to, item);
                separator = ',';
            }
            to.Append (']');
        } else {
            char separator = '{';
            foreach (var field in (Dictionary<string, object>) value) {
                to.Append (separator);
                Write (to, field.Key);
                to.Append (':');
                Write (to, field.Value);
                separator = ',';
            }
            to.Append ('}');
        }
    }

    static void Write (StringBuilder to, string text)
    {
        to.Append ('"');
        foreach (char c in text)
            switch (c) {
            case '"': to.Append ("\\\""); break;
            case '\\': to.Append ("\\\\"); break;
            case '\n': to.Append ("\\n"); break;
            default: to.Append (c); break;
            }
        to.Append ('"');
    }

    class Reader {
        readonly string text;
        int at;

        public Reader (string text) { this.text = text; }

        public object Value ()
        {
            Skip ();
            switch (text[at]) {
            case '{': return Fields ();
            case '[': return Items ();
            case '"': return String ();
            case 't': at += 4; return true;
            case 'f': at += 5; return false;
            case 'n': at += 4; return null;
            default: return Number ();
            }
        }

        void Skip ()
        {
            while (at < text.Length && Char.IsWhiteSpace (text[at]))
                at++;
        }

        Dictionary<string, object> Fields ()
        {
            var fields = new Dictionary<string, object> ();
            for (at++; ; at++) {
                Skip ();
                if (text[at] == '}')
                    break;
                string name = String ();
                Skip ();
                if (text[at++] != ':')
                    throw new FormatException ("colon at " + at);
                fields[name] = Value ();
                Skip ();
                if (text[at] == '}')
                    break;
            }
            at++;
            return fields;
        }

        List<object> Items ()
        {
            var items = new List<object> ();
            for (at++; ; at++) {
                Skip ();
                if (text[at] == ']')
                    break;
                items.Add (Value ());
                Skip ();
                if (text[at] == ']')
                    break;
            }
            at++;
            return items;
        }

        string String ()
        {
            int start = ++at;
            while (text[at] != '"' && text[at] != '\\')
                at++;
            if (text[at] == '"')
                return text.Substring (start, at++ - start);
            var builder = new StringBuilder (text, start, at - start, 64);
            for (; text[at] != '"'; at++) {
                if (text[at] != '\\') {
                    builder.Append (text[at]);
                    continue;
                }
                char c = text[++at];
                if (c == 'u') {
                    builder.Append ((char) Int32.Parse (text.Substring (at + 1, 4), NumberStyles.HexNumber));
                    at += 4;
                } else {
                    builder.Append (c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
                }
            }
            at++;
            return builder.ToString ();
        }

        object Number ()
        {
            int start = at;
            while (at < text.Length && (Char.IsDigit (text[at]) || "+-.eE".IndexOf (text[at]) >= 0))
                at++;
            return Double.Parse (text.Substring (start, at - start), CultureInfo.InvariantCulture);
        }
    }
}
