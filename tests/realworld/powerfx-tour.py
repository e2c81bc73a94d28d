# Formulas of Power Fx by the package powerfx, whose engine is in C#.
from powerfx import Engine

ORDERS = [{"Item": name, "Count": count, "Price": price, "Sent": count % 2 == 0}
          for name, count, price in [("map", 3, 12.5), ("book", 10, 20.25), ("lamp", 4, 99.0), ("pen", 120, 1.1), ("book", 1, 19.75)]]

FORMULAS = """1 + 2 * 3 - 4 / 8
Sum(Orders, Count * Price)
Average(Filter(Orders, Sent), Price)
Concat(Sort(Orders, Price, SortOrder.Descending), Item & "=" & Text(Price, "0.00"), "; ")
CountIf(Orders, StartsWith(Item, "b") && !Sent)
LookUp(Orders, Count > 100).Item
First(SortByColumns(Orders, "Item")).Item
ForAll(Sequence(6), Value ^ 2)
AddColumns(Filter(Orders, Price > 15), Total, Count * Price)
Distinct(Orders, Item)
GroupBy(Orders, Item, Rest)
Concatenate("a", Upper("b"), Proper("many words"), Mid("formula", 2, 3))
Substitute("one two one", "one", "three")
Text(DateAdd(Date(2024, 2, 28), 2), "yyyy-mm-dd")
DateDiff(Date(2023, 12, 31), Date(2024, 3, 1), TimeUnit.Days)
Switch(Mod(17, 5), 1, "one", 2, "two", "other")
IfError(1 / 0, "divided by zero")
With({a: 3, b: 4}, Sqrt(a * a + b * b))
IsMatch("2024-03-01", "\\d{4}-\\d\\d-\\d\\d")
Match("key: value", "(?<key>\\w+): (?<value>\\w+)").value
JSON({n: 1, t: "x"})
ParseJSON("[1, 2, 3]")
Round(2.345, 2) & " " & RoundDown(-2.7, 0) & " " & Int(-2.7)
Blank()
1 / 0
Foo(1)
Sum(Orders, Missing)
"text" * 2
If("""

engine = Engine()
for formula in FORMULAS.splitlines():
    try:
        print(formula, "->", engine.eval(formula, {"Orders": ORDERS}, locale="en-US", timezone="UTC"))
    except Exception as error:
        print(formula, "->", type(error).__name__, str(error).split("\n")[0])
