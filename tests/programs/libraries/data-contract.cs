// DataContractJsonSerializer: named and left-out members there and back.
// mcs: -r:System.Runtime.Serialization.dll
using System;
using System.IO;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Text;

[DataContract]
class Contract { [DataMember] public int A; [DataMember(Name = "bee")] public string B; public int Ignored; }

static class Program
{
    static void Main()
    {
        MemoryStream stream = new MemoryStream();
        DataContractJsonSerializer json = new DataContractJsonSerializer(typeof(Contract));
        json.WriteObject(stream, new Contract { A = 1, B = "\"q\"", Ignored = 3 });
        Console.WriteLine(Encoding.UTF8.GetString(stream.ToArray()));
        stream.Position = 0;
        Console.WriteLine(((Contract)json.ReadObject(stream)).B);
    }
}
