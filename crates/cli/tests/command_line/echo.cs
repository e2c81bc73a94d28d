using System;

class Echo {
	static int Main (string[] args)
	{
		foreach (var argument in args)
			Console.WriteLine ("<" + argument + ">");
		return args.Length;
	}
}
