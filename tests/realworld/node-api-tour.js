// Node.js calls .NET by node-api-dotnet.
const dotnet = require('node-api-dotnet/net9.0');
const System = dotnet.System;
System.Console.WriteLine('Hello from .NET ' + dotnet.frameworkMoniker + ' ' + dotnet.runtimeVersion);
console.log(System.Math.Max(3, 4), System.String.Join ? 'join' : '');
dotnet.load('System.Text.Json');
try { System.Convert.ToInt32('x'); } catch (e) { console.log('caught', e.message); }
const d = new System.DateTime(2024, 2, 29);
console.log(d.DayOfYear, d.ToString ? 'ok' : '');
