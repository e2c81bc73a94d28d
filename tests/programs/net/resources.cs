// Resources in the assembly: raw streams, and a .resources set that is written and read.
// csc: -resource:resources.cs,Source.cs
using System;
using System.Collections;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Resources;

Assembly self = Assembly.GetExecutingAssembly();
Console.WriteLine(string.Join(" ", self.GetManifestResourceNames()));
using (var reader = new StreamReader(self.GetManifestResourceStream("Source.cs"))) Console.WriteLine(reader.ReadLine());
Console.WriteLine(self.GetManifestResourceStream("None") == null);
Console.WriteLine(self.GetManifestResourceInfo("Source.cs").ResourceLocation);
using var memory = new MemoryStream();
var writer = new ResourceWriter(memory);
writer.AddResource("text", "a text");
writer.AddResource("number", 42);
writer.AddResource("bytes", new byte[] { 1, 2, 3 });
writer.Generate();
memory.Position = 0;
using var set = new ResourceSet(memory);
Console.WriteLine(set.GetString("text") + " " + set.GetObject("number") + " " + ((byte[])set.GetObject("bytes")).Length);
Console.WriteLine(string.Join(" ", set.Cast<DictionaryEntry>().Select(e => (string)e.Key).Order()));
var manager = new ResourceManager("Nothing.Here", self);
try { manager.GetString("text"); } catch (MissingManifestResourceException e) { Console.WriteLine(e.GetType().Name); }
