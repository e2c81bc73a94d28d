// FileVersionInfo reads the version resource of an assembly.
using System; using System.Diagnostics; using System.Reflection;
[assembly: AssemblyTitle("The title")] [assembly: AssemblyVersion("1.2.3.4")] [assembly: AssemblyFileVersion("5.6.7.8")] [assembly: AssemblyCompany("Société")] [assembly: AssemblyProduct("P")] [assembly: AssemblyCopyright("C")]
static class P { static void Show(string p) { var v = FileVersionInfo.GetVersionInfo(p); 
 Console.WriteLine(v.FileVersion + "|" + v.FileMajorPart + "." + v.FileMinorPart + "." + v.FileBuildPart + "." + v.FilePrivatePart + "|" + v.ProductVersion + "|" + v.ProductMajorPart + "|" + v.CompanyName + "|" + v.ProductName + "|" + v.FileDescription + "|" + v.LegalCopyright + "|" + "|" + v.Language + "|" + v.IsDebug + v.IsPreRelease + "|" + v.Comments + "|" + v.LegalTrademarks + "|" + (v.FileName == p)); }
 static void Main() { Show(typeof(P).Assembly.Location); Show("/etc/passwd"); } }
