// Members that ask who calls them.
using System.Reflection;

public class Asking
{
    public string Caller;
    public Asking() => Caller = Assembly.GetCallingAssembly().GetName().Name;
    public static string OfMethod() => Assembly.GetCallingAssembly().GetName().Name;
    public static string Own() => Assembly.GetExecutingAssembly().GetName().Name;
    public static string FromHere() => new Asking().Caller + " " + OfMethod();
}
