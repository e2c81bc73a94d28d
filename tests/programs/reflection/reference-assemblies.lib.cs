using System.Runtime.CompilerServices;

[assembly: ReferenceAssembly]

public class Declared
{
    public int Number;
}
