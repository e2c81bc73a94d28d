using System;
using System.Collections.Generic;
using System.Threading;
using NUnit.Framework;

[TestFixture]
public class Suite
{
    int number;

    [TestFixtureSetUp] public void First() { Console.WriteLine("fixture set up"); }
    [TestFixtureTearDown] public void Last() { Console.WriteLine("fixture torn down"); }
    [SetUp] public void SetUp() { number = 3; }
    [Test] public void Equal() { Assert.AreEqual(3, number); }
    [Test] public void Contains() { Assert.That(new List<int> { 1, 2 }, Has.Member(2)); }
    [Test] public void Fails() { Assert.That("abc", Is.EqualTo("abd").And.Not.Empty); }
    [TestCase(1, 2, 3)] [TestCase(2, 2, 5)] public void Cases(int a, int b, int sum) { Assert.AreEqual(sum, a + b); }
    [Test, Ignore("later")] public void Ignored() { }
    [Test, ExpectedException(typeof(InvalidOperationException))] public void Throws() { throw new InvalidOperationException(); }
    [Test] public void Unexpected() { throw new ArgumentException("wrong", "name"); }
    [Test, Combinatorial] public void Pairs([Values(1, 2)] int a, [Values("x", "y")] string b) { Assert.IsTrue(a + b != "2y"); }
    [Test] public void Delegates() { Assert.Throws<DivideByZeroException>(() => { int zero = 0; Console.Write(1 / zero); }); }
    [Test, MaxTime(10000)] public void Limited() { Thread.Sleep(1); }
}
