// Configuration sections of the machine's configuration file, and settings of a program that has no file of its own.
// mcs: -r:System.Configuration.dll
using System;
using System.Configuration;

static class Program
{
    static void Main()
    {
        Configuration machine = ConfigurationManager.OpenMachineConfiguration();
        Console.WriteLine("{0} {1}", machine.HasFile, machine.SectionGroups["system.net"].Sections["settings"].SectionInformation.Name);
        Console.WriteLine(ConfigurationManager.GetSection("system.net/settings"));
        Console.WriteLine(ConfigurationManager.GetSection("no/such/section") == null);
        Console.WriteLine(ConfigurationManager.AppSettings["missing"] == null);
        Console.WriteLine(ConfigurationManager.AppSettings.Count);
    }
}
