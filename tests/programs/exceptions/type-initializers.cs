// A class constructor that throws: the same exception at every later use.
using System; using System.Runtime.CompilerServices; using System.Reflection;
class Bad { public static int X; static Bad() { throw new InvalidOperationException("bad"); } public static void F(){} }
class BadBfi { public static int X = Thrower.Get(); }
static class Thrower { public static int N; public static int Get(){ N++; throw new ArgumentException("n" + N); } }
class BadG<T> { public static int X; static BadG() { throw new Exception(typeof(T).Name); } }
class Outer { public class Inner { static Inner() { throw new Exception("in"); } public static int X; } }
class Uses { static Uses() { Bad.F(); } public static int Y; }
class P {
 static void T(Action a) { try { a(); Console.WriteLine("ok"); } catch (Exception e) { Console.WriteLine(e.GetType() + ": " + e.Message + (e is TypeInitializationException ? " [" + ((TypeInitializationException)e).TypeName + "]" : "")); for (var i = e.InnerException; i != null; i = i.InnerException) Console.WriteLine("  " + i.GetType() + ": " + i.Message); } }
 static object last;
 static void Main(string[] args) {
  T(() => Bad.F()); T(() => Bad.X++); T(() => new Bad());
  T(() => Console.WriteLine(BadBfi.X)); T(() => Console.WriteLine(BadBfi.X)); Console.WriteLine(Thrower.N);
  T(() => BadG<int>.X++); T(() => BadG<string>.X++); T(() => Outer.Inner.X++);
  T(() => Uses.Y++); T(() => Uses.Y++);
  T(() => RuntimeHelpers.RunClassConstructor(typeof(Bad).TypeHandle));
  T(() => Activator.CreateInstance(typeof(Bad)));
  T(() => typeof(Bad).GetField("X").GetValue(null));
  T(() => typeof(Bad).GetMethod("F").Invoke(null, null));
  Exception a = null, b = null; try { Bad.F(); } catch (Exception e) { a = e; } try { Bad.F(); } catch (Exception e) { b = e; }
  Console.WriteLine(ReferenceEquals(a, b)); 
  // Each throw of the one exception has a trace of its own.
  int lines = 0;
  for (int i = 0; i < 3; i++) try { Bad.F(); } catch (Exception e) { int n = e.StackTrace.Split('\n').Length; Console.WriteLine(i == 0 || n == lines); lines = n; }
 }
}
