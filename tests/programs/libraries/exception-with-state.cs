// An exception that serializes its state through SerializeObjectState, without a constructor for it, comes back with that state.
using System;
using System.IO;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Formatters.Binary;

[Serializable]
class StatefulException : Exception {
    [Serializable]
    struct State : ISafeSerializationData {
        public string Text;
        void ISafeSerializationData.CompleteDeserialization(object made) { ((StatefulException)made).Keep(this); }
    }

    [NonSerialized] State state;

    public StatefulException(string text) : base("message") {
        state.Text = text;
        Watch();
    }

    public string Text { get { return state.Text; } }

    void Keep(State other) { state = other; Watch(); }
    void Watch() { SerializeObjectState += (exception, args) => args.AddSerializedState(state); }
}

class Program {
    static void Main() {
        var formatter = new BinaryFormatter();
        var stream = new MemoryStream();
        formatter.Serialize(stream, new StatefulException("kept"));
        stream.Position = 0;
        var back = (StatefulException)formatter.Deserialize(stream);
        Console.WriteLine(back.Message + " " + back.Text);

        Console.WriteLine(typeof(object).IsSecurityCritical + " " + typeof(System.Runtime.InteropServices.SafeHandle).IsSecurityCritical + " " + typeof(Program).IsSecurityTransparent);
    }
}
