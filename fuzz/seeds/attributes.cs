// The values of its attributes are the files of attributes/; with three resources (mcs -resource:FILE,NAME) it is resources/resources.exe.
using System;
enum Colour : short { Red, Green }
[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
class MarkAttribute : Attribute {
	public MarkAttribute() {}
	public MarkAttribute(string text) {}
	public MarkAttribute(bool flag, int number) {}
	public MarkAttribute(double number, char letter) {}
	public MarkAttribute(Type type) {}
	public MarkAttribute(object any) {}
	public MarkAttribute(Colour colour) {}
	public MarkAttribute(object[] many) {}
	public int Number;
	public string Text { get; set; }
	public Colour Hue { get; set; }
	public int[] Numbers;
	public Type[] Types { get; set; }
	public object Any;
}
[Mark] [Mark("ä text", Number = 5)] [Mark(true, -1, Text = null)] [Mark(1.5, 'x', Hue = Colour.Green)] [Mark(typeof(string), Types = new[] { typeof(int), null })]
[Mark((object) 7L, Any = Colour.Red)] [Mark(Colour.Green, Numbers = new[] { 1, 2, 3 })] [Mark(new object[] { 1, "b", typeof(int), Colour.Red})]
class Program { static void Main() {} }
