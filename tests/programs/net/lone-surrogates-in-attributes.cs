// Texts of attributes that are no UTF-8, since a literal holds half of a pair.
using System;
using System.Linq;

[AttributeUsage(AttributeTargets.Class)]
class NoteAttribute : Attribute
{
    public NoteAttribute(string text) => Text = text;
    public string Text { get; }
    public string More { get; set; }
    public object Boxed { get; set; }
}

[Note("h\uD800")] class High { }
[Note("l\uDC00x", More = "\uD800")] class Low { }
[Note("l\uDC00h\uD800", Boxed = "\uDBFFé")] class Two { }
[Note("pair \U0001F600", More = "")] class Whole { }
[Note(null)] class Null { }

static class Program
{
    static string Units(object text) => text is string s ? string.Join(" ", s.Select(unit => ((int)unit).ToString("X4"))) : "null";

    static void Main()
    {
        foreach (var type in new[] { typeof(High), typeof(Low), typeof(Two), typeof(Whole), typeof(Null) })
        {
            var note = (NoteAttribute)type.GetCustomAttributes(false).Single(a => a is NoteAttribute);
            Console.WriteLine($"{type}: {Units(note.Text)} | {Units(note.More)} | {Units(note.Boxed)}");
        }
    }
}
