// XmlSerializer: attributes, lists, nullable values there and back.
// mcs: -r:System.Xml.dll
using System;
using System.Collections.Generic;
using System.IO;
using System.Xml.Serialization;

public class Order
{
    [XmlAttribute] public int Id;
    public string Customer { get; set; }
    public List<Item> Items = new List<Item>();
}

public class Item { public string Name; public decimal Price; public DayOfWeek? Day; }

static class Program
{
    static void Main()
    {
        XmlSerializer serializer = new XmlSerializer(typeof(Order));
        Order order = new Order { Id = 5, Customer = "c", Items = { new Item { Name = "n", Price = 1.50m, Day = DayOfWeek.Friday }, new Item { Name = "m" } } };
        StringWriter output = new StringWriter();
        serializer.Serialize(output, order);
        Order back = (Order)serializer.Deserialize(new StringReader(output.ToString()));
        Console.WriteLine("{0} {1} {2} {3} {4}", back.Id, back.Customer, back.Items.Count, back.Items[0].Price, back.Items[0].Day);
    }
}
