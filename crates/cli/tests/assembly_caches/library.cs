using System.Reflection;

[assembly: AssemblyVersion ("1.2.3.4")]

public class Library {
	public static string Location => typeof (Library).Assembly.Location;
}
