// bootstrap ROSLYN_DIR FRAMEWORK_DIR OUT.dll FILE.cs: bootstrap. mcs compiles this one (mcs cannot read .NET 9's assemblies, hence by
// reflection), then it runs on the peer and compiles compiler.cs, the compiler driver proper, with Roslyn.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

class Bootstrap
{
	// Calls the longest overload whose parameters are all named in `args` or optional.
	static object Call (Type t, string name, object self, params object[] args)
	{
		var all = name == ".ctor" ? t.GetConstructors ().Cast<MethodBase> () : t.GetMethods ().Where (m => m.Name == name);
		foreach (var m in all.OrderByDescending (m => m.GetParameters ().Length)) {
			if (m.IsDefined (typeof (ObsoleteAttribute), false))
				continue;
			var ps = m.GetParameters ();
			var v = new object [ps.Length];
			int i = 0;
			for (; i < v.Length; i++) {
				int k = Array.IndexOf (args, ps [i].Name);
				if (k >= 0 && ps [i].ParameterType.IsInstanceOfType (args [k + 1]))
					v [i] = args [k + 1];
				else if (k >= 0 || !ps [i].IsOptional)
					break;
				else if (ps [i].ParameterType.IsEnum)
					v [i] = Enum.ToObject (ps [i].ParameterType, ps [i].DefaultValue);
				else
					v [i] = ps [i].DefaultValue ?? (ps [i].ParameterType.IsValueType ? Activator.CreateInstance (ps [i].ParameterType) : null);
			}
			if (i == v.Length)
				return m is ConstructorInfo ? ((ConstructorInfo) m).Invoke (v) : m.Invoke (self, v);
		}
		throw new MissingMethodException (t.FullName, name);
	}

	static IList ListOf (Type t)
	{
		return (IList) Activator.CreateInstance (typeof (List<>).MakeGenericType (t));
	}

	static int Main (string[] a)
	{
		Func<string, Assembly> load = n => File.Exists (Path.Combine (a [0], n + ".dll")) ? Assembly.LoadFrom (Path.Combine (a [0], n + ".dll")) : null;
		AppDomain.CurrentDomain.AssemblyResolve += (s, e) => load (new AssemblyName (e.Name).Name);
		const string CA = "Microsoft.CodeAnalysis.", CS = CA + "CSharp.";
		Assembly ca = load (CA.TrimEnd ('.')), cs = load (CS.TrimEnd ('.'));
		Type reference = ca.GetType (CA + "MetadataReference");
		IList refs = ListOf (reference), trees = ListOf (ca.GetType (CA + "SyntaxTree"));
		foreach (var f in Directory.GetFiles (a [1], "*.dll").Concat (Directory.GetFiles (a [0], "Microsoft.CodeAnalysis*.dll"))) {
			try {
				AssemblyName.GetAssemblyName (f);
			} catch (BadImageFormatException) {
				continue;
			}
			refs.Add (Call (reference, "CreateFromFile", null, "path", f));
		}
		var parse = Call (cs.GetType (CS + "CSharpParseOptions"), ".ctor", null, "languageVersion", Enum.Parse (cs.GetType (CS + "LanguageVersion"), "CSharp12"));
		trees.Add (Call (cs.GetType (CS + "CSharpSyntaxTree"), "ParseText", null, "text", File.ReadAllText (a [3]), "options", parse, "path", a [3], "encoding", Encoding.UTF8));
		var opt = Call (cs.GetType (CS + "CSharpCompilationOptions"), ".ctor", null, "outputKind", Enum.ToObject (ca.GetType (CA + "OutputKind"), 0));
		var c = Call (cs.GetType (CS + "CSharpCompilation"), "Create", null, "assemblyName", Path.GetFileNameWithoutExtension (a [2]), "syntaxTrees", trees, "references", refs, "options", opt);
		object r;
		using (Stream o = File.Create (a [2]))
			r = Call (c.GetType (), "Emit", c, "peStream", o);
		foreach (var d in (IEnumerable) r.GetType ().GetProperty ("Diagnostics").GetValue (r, null))
			if (d.ToString ().Contains (": error "))
				Console.WriteLine (d);
		return (bool) r.GetType ().GetProperty ("Success").GetValue (r, null) ? 0 : 1;
	}
}
