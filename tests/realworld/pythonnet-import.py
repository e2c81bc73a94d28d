# Python calls .NET by pythonnet and Mono's embedding API.
import os
from clr_loader import get_mono
import pythonnet

pythonnet.set_runtime(get_mono(libmono=os.environ["MONO_LIBRARY"]))
import clr
from System import Environment, FormatException, Func, Int32
from System.Collections.Generic import List

numbers = List[Int32]()
for i in range(5):
    numbers.Add(i * i)
print(list(numbers), numbers.Count, Environment.Version)
print(Func[Int32, Int32](lambda x: 2 * x)(21))
try:
    Int32.Parse("x")
except FormatException as e:
    print(e.Message)
