// mcs: -r:System.Web.Services -r:System.Web -r:System.Configuration
// System.Web's part of the machine's configuration.
using System;
using System.Web.Services.Configuration;

static class Program {
    static void Main ()
    {
        Console.WriteLine (WebServicesSection.Current.Protocols.Count > 0);
        Console.WriteLine (System.Web.Configuration.WebConfigurationManager.OpenMachineConfiguration ().HasFile);
    }
}
