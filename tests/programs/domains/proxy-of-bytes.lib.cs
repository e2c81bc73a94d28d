using System;

[Serializable]
public class Message
{
    public string Text;
}

public class Greeter : MarshalByRefObject
{
    public string Greet(string name)
    {
        bool isFile = typeof(Greeter).Assembly.Location != "";
        return name + " greeted in " + (AppDomain.CurrentDomain.IsDefaultAppDomain() ? "the first" : "another")
            + " domain" + (isFile ? ", from a file" : ", from memory");
    }

    public Message Next(Message message) { return new Message { Text = message.Text + ", next" }; }

    public string Ask(Greeter other) { return other.Greet("back"); }
}
