// FieldInfo on transparent proxies reads and writes the object behind them, in this domain and in another.
using System;
using System.Reflection;

public struct Pair { public double A; public string B; public override string ToString() { return A + "/" + B; } }

public class Base : MarshalByRefObject { public string Inherited = "inherited"; }

public class Server : Base {
    public double D = 14;
    public float F = 1.5f;
    public int I = 7;
    public long L = 1L << 40;
    public sbyte B = -3;
    public char C = 'c';
    public bool T = true;
    public string S = "text";
    public decimal M = 1.25m;
    public DateTime Date = new DateTime(2000, 1, 1);
    public DayOfWeek Day = DayOfWeek.Friday;
}

public class Bound : ContextBoundObject {
    public double D = 14;
    public int I = 7;
    public string S = "text";
    public Pair P = new Pair { A = 2.5, B = "b" };
    public object O = "object";
}

class Program {
    static void Show(object target, Type type) {
        foreach (FieldInfo field in type.GetFields())
            Console.WriteLine(type.Name + "." + field.Name + " = " + string.Format(System.Globalization.CultureInfo.InvariantCulture, "{0}", field.GetValue(target)));
    }

    static void Main() {
        var bound = new Bound();
        Show(bound, typeof(Bound));
        typeof(Bound).GetField("D").SetValue(bound, 2.25);
        typeof(Bound).GetField("I").SetValue(bound, null);
        typeof(Bound).GetField("S").SetValue(bound, "changed");
        typeof(Bound).GetField("P").SetValue(bound, new Pair { A = 0.5, B = "c" });
        typeof(Bound).GetField("O").SetValue(bound, null);
        Show(bound, typeof(Bound));
        Console.WriteLine(bound.D == 2.25 && bound.S == "changed" && bound.O == null);

        AppDomain other = AppDomain.CreateDomain("other");
        var server = (Server)other.CreateInstanceAndUnwrap(typeof(Server).Assembly.FullName, "Server");
        Show(server, typeof(Server));
        typeof(Server).GetField("D").SetValue(server, 0.125);
        typeof(Server).GetField("C").SetValue(server, 'z');
        typeof(Server).GetField("S").SetValue(server, "changed");
        typeof(Server).GetField("Day").SetValue(server, DayOfWeek.Monday);
        typeof(Base).GetField("Inherited").SetValue(server, null);
        Show(server, typeof(Server));
        Console.WriteLine(server.D == 0.125 && server.Inherited == null);
        AppDomain.Unload(other);
    }
}
