// XML readers, documents, LINQ to XML, binary serialisation.
// mcs: -r:System.Xml.dll -r:System.Xml.Linq.dll
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Formatters.Binary;
using System.Text;
using System.Xml;
using System.Xml.Linq;

[Serializable]
class Node
{
    public string Name;
    public Node Next;
    public Dictionary<string, int> Table = new Dictionary<string, int>();
    [NonSerialized] public int Transient = 5;
    [OnDeserialized] void After(StreamingContext context) { Name += "*"; }
}

static class Program
{
    static void Main()
    {
        XDocument document = XDocument.Parse("<root a='1'><x>one</x><x n='2'>two &amp; more</x><!-- c --><empty/></root>");
        Console.WriteLine("{0} {1}", document.Root.Attribute("a").Value, string.Join("|", document.Descendants("x").Select(x => x.Value)));
        document.Root.Add(new XElement("added", new XAttribute("k", "v"), 42));
        document.Root.Element("empty").Remove();
        Console.WriteLine(document.Root.ToString(SaveOptions.DisableFormatting));
        XmlDocument dom = new XmlDocument();
        dom.LoadXml("<a><b id='1'/><b id='2'><c/></b></a>");
        Console.WriteLine("{0} {1}", dom.SelectNodes("//b[@id='2']/c").Count, dom.SelectSingleNode("/a/b/@id").Value);
        using (XmlReader reader = XmlReader.Create(new StringReader("<p>t<q/>u</p>")))
            while (reader.Read())
                Console.Write("{0}:{1} ", reader.NodeType, reader.Name + reader.Value);
        Console.WriteLine();
        StringBuilder text = new StringBuilder();
        using (XmlWriter writer = XmlWriter.Create(text, new XmlWriterSettings { OmitXmlDeclaration = true, Indent = true }))
        {
            writer.WriteStartElement("e");
            writer.WriteAttributeString("a", "<\">");
            writer.WriteElementString("s", "text");
            writer.WriteEndElement();
        }
        Console.WriteLine(text.ToString().Replace("\r", ""));
        try
        {
            XDocument.Parse("<a><b></a>");
        }
        catch (XmlException e)
        {
            Console.WriteLine("{0} {1}", e.LineNumber, e.GetType().Name);
        }

#if !NET
        Node node = new Node { Name = "head", Transient = 9 };
        node.Next = node;
        node.Table["k"] = 7;
        MemoryStream stream = new MemoryStream();
        new BinaryFormatter().Serialize(stream, node);
        stream.Position = 0;
        Node copy = (Node)new BinaryFormatter().Deserialize(stream);
        Console.WriteLine("{0} {1} {2} {3}", copy.Name, ReferenceEquals(copy, copy.Next), copy.Table["k"], copy.Transient);
#endif
    }
}
