// XmlSerializer, whose readers and writers are made at run time.
using System;
using System.Collections.Generic;
using System.IO;
using System.Xml.Serialization;

public class Item
{
    public string Name;
    public int Count { get; set; }
    [XmlAttribute] public double Weight;
    public List<Item> Parts = new ();
}

public static class Program
{
    public static void Main ()
    {
        var serializer = new XmlSerializer (typeof (Item));
        var writer = new StringWriter ();
        serializer.Serialize (writer, new Item { Name = "box", Count = 2, Weight = 1.5, Parts = { new Item { Name = "lid" } } });
        Console.WriteLine (writer.ToString ().Replace ("\r", ""));
        var back = (Item) serializer.Deserialize (new StringReader (writer.ToString ()));
        Console.WriteLine ($"{back.Name} {back.Count} {back.Weight} {back.Parts [0].Name}");
    }
}
