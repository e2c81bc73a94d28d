# Python calls .NET by pythonnet.
import sys
from pythonnet import load
load("coreclr")
import clr
import System
from System import Environment, String, DateTime
from System.Collections.Generic import List, Dictionary
print(Environment.Version.Major >= 9)
l = List[int]()
for i in range(5): l.Add(i*i)
print(list(l), l.Count)
d = Dictionary[String, System.Int32]()
d["a"] = 3
print(d["a"], [k.Key for k in d])
def f(x): return x*2
g = System.Func[System.Int32, System.Int32](f)
print(g(21))
try:
    System.Int32.Parse("x")
except System.FormatException as e:
    print("FormatException", e.Message)
clr.AddReference("System.Text.Json")
from System.Text.Json import JsonDocument
print(JsonDocument.Parse('{"a": [1, 2]}').RootElement.GetProperty("a").GetArrayLength())
class Mine(System.Collections.ArrayList):
    __namespace__ = "Py"
