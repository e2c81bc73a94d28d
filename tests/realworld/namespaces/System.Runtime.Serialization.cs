// Also JSON, SOAP and the object persistence of other namespaces.
// waits: FormatterServices: GetUninitializedObject refuses String, as .NET does
// references: System.Runtime.Serialization System.Xml System.Runtime.Serialization.Formatters.Soap System.Web.Extensions System.Json System.Numerics
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Formatters.Binary;
using System.Runtime.Serialization.Formatters.Soap;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Web.Script.Serialization;
using System.Xml;
using static Sweep;

[Serializable] class Node { public string Name; public Node Next; public List<int> Numbers = new List<int> { 1, 2 }; [NonSerialized] public int Skipped = 5; public object Boxed = 1.5m; public int[,] Grid = { { 1, 2 }, { 3, 4 } }; [OptionalField] public string Added; [OnDeserialized] void Done (StreamingContext c) { Skipped = 7; } }
[Serializable] struct Point { public int X, Y; }
[Serializable] enum Color { Red, Green = 5 }
[Serializable] class Custom : ISerializable, IDeserializationCallback { public int V; public Custom (int v) { V = v; } protected Custom (SerializationInfo i, StreamingContext c) { V = i.GetInt32 ("v") + 1; } public void GetObjectData (SerializationInfo i, StreamingContext c) { i.AddValue ("v", V); i.AddValue ("t", typeof (string)); } public void OnDeserialization (object s) { V += 100; } }
[Serializable] class Single : IObjectReference { public static readonly Single One = new Single (); public object GetRealObject (StreamingContext c) { return One; } }
class Plain { public int A; }
[DataContract (Name = "P", Namespace = "urn:p")] public class Person { [DataMember (Order = 2)] public string Name; [DataMember (Order = 1, IsRequired = true)] public int Age { get; set; } [DataMember (EmitDefaultValue = false)] public Person Friend; [DataMember] public Dictionary<string, int> Map; [DataMember] public List<string> List; [DataMember] public DateTime When; [DataMember] public object Any; [DataMember] public Kind Kind; public int Hidden = 3; }
[DataContract] public enum Kind { [EnumMember (Value = "first")] A, [EnumMember] B }
[KnownType (typeof (Derived))] [DataContract] public class Base { [DataMember] public int B; }
[DataContract] public class Derived : Base { [DataMember] public int D; }
[DataContract (IsReference = true)] public class Ref { [DataMember] public Ref Self; }
public class Poco { public int X; public string Y { get; set; } public int[] Z; }
class PlainSurrogate : ISerializationSurrogate { public void GetObjectData (object o, SerializationInfo i, StreamingContext c) { i.AddValue ("a", ((Plain) o).A); } public object SetObjectData (object o, SerializationInfo i, StreamingContext c, ISurrogateSelector s) { ((Plain) o).A = i.GetInt32 ("a") * 2; return o; } }

static class Program {
    static object Round (object o, IFormatter f = null) { f = f ?? new BinaryFormatter (); var m = new MemoryStream (); f.Serialize (m, o); m.Position = 0; return f.Deserialize (m); }
    static Person Sample () => new Person { Name = "Ä<", Age = 3, Map = new Dictionary<string, int> { { "a", 1 }, { "b", 2 } }, List = new List<string> { "x", null }, When = new DateTime (2009, 3, 7, 1, 2, 3, DateTimeKind.Utc), Any = 5, Kind = Kind.A, Friend = new Person { Age = 1 } };

    static void Main ()
    {
        Check ("BinaryFormatter, graph", () => { var n = new Node { Name = "a" }; n.Next = new Node { Name = "b", Next = n }; var r = (Node) Round (n); Print (r.Name, r.Next.Name, r.Next.Next == r, r.Numbers, r.Skipped, r.Boxed, r.Grid[1, 0]); });
        Check ("BinaryFormatter, bytes", () => { var m = new MemoryStream (); new BinaryFormatter ().Serialize (m, new object[] { 1, "two", 3.0, new Point { X = 1, Y = 2 }, Color.Green, null, new[] { "a", "a" }, new byte[] { 1, 2 } }); Print (m.Length, m.ToArray ()); });
        foreach (var o in new object[] { 1, "text", 1.5, 2.5m, 'c', true, new DateTime (2009, 1, 2, 3, 4, 5, DateTimeKind.Utc), TimeSpan.FromSeconds (5), Guid.Empty, Color.Green, new Version (1, 2), new Uri ("http://h/p"), typeof (List<string>), new[] { 1, 2 }, new string[,] { { "a" } }, new Hashtable { { "k", 1 } }, new ArrayList { 1, "x" }, new Queue (new[] { 1 }), new Stack (new[] { 1 }), new SortedList { { 1, 2 } }, new BitArray (5, true), new Dictionary<string, int> { { "k", 2 } }, new HashSet<int> { 1, 2 }, new LinkedList<int> (new[] { 1, 2 }), new SortedDictionary<int, string> { { 2, "b" }, { 1, "a" } }, Tuple.Create (1, "b"), new KeyValuePair<int, int> (1, 2), System.Globalization.CultureInfo.GetCultureInfo ("de-DE"), Encoding.UTF8, new StringBuilder ("sb"), new System.Collections.Specialized.NameValueCollection { { "a", "b" } }, new Exception ("m", new ArgumentException ("i")), new System.Numerics.BigInteger (12345), System.Net.IPAddress.Loopback, new Action (Main).Method, TimeZoneInfo.Utc, DBNull.Value, new DateTimeOffset (2009, 1, 2, 3, 4, 5, TimeSpan.FromHours (2)), new Custom (1) })
            Check ("BinaryFormatter " + o.GetType (), () => { var r = Round (o); Print (r.GetType (), r is Custom ? ((Custom) r).V : r); });
        Check ("BinaryFormatter, comparer", () => { var d = (Dictionary<string, int>) Round (new Dictionary<string, int> (StringComparer.OrdinalIgnoreCase) { { "K", 1 } }); Print (d["k"]); });
        Check ("BinaryFormatter, delegate", () => { var d = (Func<string, int>) Round (new Func<string, int> (Int32.Parse)); Print (d ("12")); });
        Check ("BinaryFormatter, IObjectReference", () => Print (Round (Single.One) == Single.One));
        Check ("BinaryFormatter, not serializable", () => Round (new Plain ()));
        Check ("BinaryFormatter, garbage", () => new BinaryFormatter ().Deserialize (new MemoryStream (new byte[] { 1, 2, 3 })));
        Check ("BinaryFormatter, empty", () => new BinaryFormatter ().Deserialize (new MemoryStream ()));
        Check ("Surrogates", () => { var s = new SurrogateSelector (); s.AddSurrogate (typeof (Plain), new StreamingContext (StreamingContextStates.All), new PlainSurrogate ()); Print (((Plain) Round (new Plain { A = 4 }, new BinaryFormatter { SurrogateSelector = s })).A); });
        Check ("SoapFormatter", () => { var m = new MemoryStream (); new SoapFormatter ().Serialize (m, new Point { X = 1, Y = 2 }); Print (((Point) Round (new Point { X = 1, Y = 2 }, new SoapFormatter ())).Y, m.Length > 100); });
        Check ("FormatterServices", () => { var n = (Node) FormatterServices.GetUninitializedObject (typeof (Node)); Print (n.Numbers == null, FormatterServices.GetSerializableMembers (typeof (Node)).Select (x => x.Name)); var p = FormatterServices.PopulateObjectMembers (n, FormatterServices.GetSerializableMembers (typeof (Node)).Take (1).ToArray (), new object[] { "set" }); Print (n.Name); FormatterServices.GetUninitializedObject (typeof (string)); });
        Check ("ObjectIDGenerator", () => { var g = new ObjectIDGenerator (); bool first; var o = new object (); Print (g.GetId (o, out first), first, g.GetId (o, out first), first, g.HasId ("x", out first)); });
        Check ("DataContract", () => { var s = new DataContractSerializer (typeof (Person)); var m = new MemoryStream (); s.WriteObject (m, Sample ()); Print (Encoding.UTF8.GetString (m.ToArray ())); m.Position = 0; var p = (Person) s.ReadObject (m); Print (p.Name, p.Age, p.Map.Count, p.List, p.When.ToString ("o"), p.Any, p.Kind, p.Friend.Age, p.Hidden); });
        Check ("DataContract, indented", () => { var w = new StringWriter (); using (var x = XmlWriter.Create (w, new XmlWriterSettings { Indent = true })) new DataContractSerializer (typeof (Poco)).WriteObject (x, new Poco { X = 1, Y = "y", Z = new[] { 1, 2 } }); Print (w); });
        Check ("DataContract, known types", () => { var s = new DataContractSerializer (typeof (Base)); var m = new MemoryStream (); s.WriteObject (m, new Derived { B = 1, D = 2 }); Print (Encoding.UTF8.GetString (m.ToArray ())); m.Position = 0; Print (((Derived) s.ReadObject (m)).D); });
        Check ("DataContract, unknown type", () => new DataContractSerializer (typeof (Person)).WriteObject (new MemoryStream (), new Person { Any = new Poco () }));
        Check ("DataContract, references", () => { var r = new Ref (); r.Self = r; var s = new DataContractSerializer (typeof (Ref)); var m = new MemoryStream (); s.WriteObject (m, r); m.Position = 0; var q = (Ref) s.ReadObject (m); Print (q.Self == q); });
        Check ("DataContract, missing member", () => new DataContractSerializer (typeof (Person)).ReadObject (XmlReader.Create (new StringReader ("<P xmlns='urn:p'><Name>x</Name></P>"))));
        Check ("DataContract, collections", () => { foreach (var o in new object[] { new[] { 1, 2 }, new List<string> { "a" }, new Dictionary<int, string> { { 1, "a" } }, new HashSet<int> { 1 }, new Hashtable { { "a", 1 } }, new int[][] { new[] { 1 }, null }, Guid.Empty, TimeSpan.FromDays (1), new Uri ("http://h"), (byte) 3, new byte[] { 1, 2 }, DateTimeOffset.MinValue, 'c', Tuple.Create (1, "x"), new KeyValuePair<int, string> (1, "v") }) { var s = new DataContractSerializer (o.GetType ()); var m = new MemoryStream (); s.WriteObject (m, o); Print (Encoding.UTF8.GetString (m.ToArray ())); m.Position = 0; Print (s.ReadObject (m)); } });
        Check ("NetDataContract", () => { var s = new NetDataContractSerializer (); var m = new MemoryStream (); s.Serialize (m, new Point { X = 3 }); m.Position = 0; Print (((Point) s.Deserialize (m)).X); });
        Check ("JSON", () => { var s = new DataContractJsonSerializer (typeof (Person)); var m = new MemoryStream (); s.WriteObject (m, Sample ()); Print (Encoding.UTF8.GetString (m.ToArray ())); m.Position = 0; var p = (Person) s.ReadObject (m); Print (p.Name, p.Map.Count, p.When.ToString ("o"), p.Friend.Age); });
        Check ("JSON, settings", () => { var s = new DataContractJsonSerializer (typeof (Person), new DataContractJsonSerializerSettings { UseSimpleDictionaryFormat = true, DateTimeFormat = new DateTimeFormat ("yyyy-MM-dd"), EmitTypeInformation = EmitTypeInformation.Never }); var m = new MemoryStream (); s.WriteObject (m, Sample ()); Print (Encoding.UTF8.GetString (m.ToArray ())); });
        Check ("JSON, malformed", () => new DataContractJsonSerializer (typeof (Poco)).ReadObject (new MemoryStream (Encoding.UTF8.GetBytes ("{\"X\":"))));
        Check ("JSON reader", () => { using (var r = JsonReaderWriterFactory.CreateJsonReader (Encoding.UTF8.GetBytes ("{\"a\":[1,true,null,\"x\\u00e4\"],\"b c\":{}}"), XmlDictionaryReaderQuotas.Max)) { r.Read (); Print (r.ReadOuterXml ()); } });
        Check ("JavaScriptSerializer", () => { var s = new JavaScriptSerializer (); Print (s.Serialize (new { a = 1, b = new[] { "x", null }, c = new DateTime (2009, 1, 2, 0, 0, 0, DateTimeKind.Utc), d = 1.5, e = new Dictionary<string, object> { { "k<", 'c' } } })); var o = (Dictionary<string, object>) s.DeserializeObject ("{\"a\":[1,2.5,\"x\"],\"b\":null}"); Print (o["a"], o.Count, s.Deserialize<Poco> ("{\"X\":5,\"Y\":\"why\",\"Z\":[1]}").Y); s.DeserializeObject ("{bad"); });
        Check ("System.Json", () => { var v = System.Json.JsonValue.Parse ("{\"a\":[1,2,{\"b\":null}],\"s\":\"x\\n\"}"); Print (v["a"][1], v["s"], v.ToString (), v.JsonType, v.Count); System.Json.JsonValue.Parse ("[1,"); });
        Check ("XsdDataContractExporter", () => { var x = new XsdDataContractExporter (); x.Export (typeof (Base)); Print (x.GetRootElementName (typeof (Base)), x.Schemas.Count > 0); });
    }
}
