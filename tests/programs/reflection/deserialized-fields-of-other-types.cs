// BinaryFormatter puts no object of a stream into a field or element of another type: the stream says which objects there are, the classes which types.
using System;
using System.IO;
using System.Reflection;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Formatters.Binary;

[Serializable] class Payload { public long First = 0x4141414141414141, Second = 1; }
[Serializable] class Sealed { public string Text = "text"; }

[Serializable] class Written { public object Value; public object Other; }
[Serializable] class Read { public string Value; public Sealed Other; }

[Serializable] struct WrittenStruct { public object Value; public object Other; }
[Serializable] struct ReadStruct { public string Value; public Sealed Other; }
[Serializable] class WrittenHolder { public WrittenStruct Struct; public object After; }
[Serializable] class ReadHolder { public ReadStruct Struct; public object After; }

[Serializable] class WrittenNumber { public object Value; }
[Serializable] class ReadNumber { public Guid Value; }

[Serializable] class WrittenDelegate { public object Value; }
[Serializable] class ReadDelegate { public Action Value; }

// Its object is known only when the whole graph has been read, so the fields that refer to it are set last.
[Serializable]
class Late : IObjectReference
{
    readonly object real;

    public Late(object real)
    {
        this.real = real;
    }

    public object GetRealObject(StreamingContext context)
    {
        return real ?? this;
    }
}

class Renaming : SerializationBinder
{
    public override Type BindToType(string assembly, string type)
    {
        return Type.GetType(type.Replace("Written", "Read"));
    }
}

static class Program
{
    static void Try(string what, object written)
    {
        var stream = new MemoryStream();
        new BinaryFormatter().Serialize(stream, written);
        stream.Position = 0;
        try
        {
            var read = new BinaryFormatter { Binder = new Renaming() }.Deserialize(stream);
            Console.WriteLine("{0}: {1}", what, read);
            foreach (var field in read.GetType().GetFields())
            {
                var value = field.GetValue(read);
                if (value != null && !field.FieldType.IsInstanceOfType(value))
                    Console.WriteLine("a {0} in {1}", value.GetType(), field);
            }
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    static void Main()
    {
        var payload = new Payload();
        Try("as it should be", new Written { Value = "text", Other = new Sealed() });
        Try("object for a string", new Written { Value = payload });
        Try("object for another object", new Written { Other = payload });
        Try("number for a string", new Written { Value = 5L });
        Try("string for an object", new Written { Other = "text" });
        Try("late object for a string", new Written { Value = new Late(payload) });
        Try("late object for an object", new Written { Other = new Late(payload) });
        Try("struct as it should be", new WrittenHolder { Struct = new WrittenStruct { Value = "text" }, After = payload });
        Try("object for a string in a struct", new WrittenHolder { Struct = new WrittenStruct { Value = payload }, After = payload });
        Try("late object for a string in a struct", new WrittenHolder { Struct = new WrittenStruct { Value = new Late(payload) } });
        Try("byte for a Guid", new WrittenNumber { Value = (byte)1 });
        Try("object for a Guid", new WrittenNumber { Value = payload });
        Try("object for a delegate", new WrittenDelegate { Value = payload });
        Try("array as it should be", new[] { new Written(), new Written() });
    }
}
