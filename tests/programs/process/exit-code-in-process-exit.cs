// A handler of ProcessExit changes the exit code, also that of Environment.Exit.
// exit: 9
using System;
using System.Threading;

class Program {
	static int Main () {
		AppDomain.CurrentDomain.ProcessExit += delegate {
			Console.WriteLine ("asked for " + Environment.ExitCode);
			Environment.ExitCode = 9;
		};
		Environment.Exit (4);
		return 5;
	}
}
