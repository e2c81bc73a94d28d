// A program of top-level statements writes a line.
using System;

Console.WriteLine("Hello, modern .NET");
