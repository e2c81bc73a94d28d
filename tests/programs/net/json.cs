// System.Text.Json: objects to text and back by reflection, documents, nodes, readers and writers, options and errors.
using System;
using System.Collections.Generic;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;

record Item(string Name, decimal Price, [property: JsonPropertyName("tags")] string[] Labels);

enum Level { Low, High }

class Order
{
    public int Id { get; set; }
    public List<Item> Items { get; set; } = [];
    public Dictionary<string, double?> Extra { get; set; }
    [JsonConverter(typeof(JsonStringEnumConverter<Level>))] public Level Level { get; set; }
    public DateTime When { get; set; }
    [JsonIgnore] public string Secret { get; set; } = "no";
}

static class Test
{
    static void Main()
    {
        var order = new Order
        {
            Id = 7, Items = [new("pen", 1.50m, ["a", "b"]), new("\"ink\" <é>", 20m, null)], Level = Level.High,
            Extra = new() { ["x"] = 0.5, ["y"] = null }, When = new DateTime(2024, 2, 29, 1, 2, 3, DateTimeKind.Utc),
        };
        string text = JsonSerializer.Serialize(order);
        Console.WriteLine(text);
        var options = new JsonSerializerOptions { WriteIndented = true, PropertyNamingPolicy = JsonNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull };
        Console.WriteLine(JsonSerializer.Serialize(order, options));
        var back = JsonSerializer.Deserialize<Order>(text);
        Console.WriteLine($"{back.Id} {back.Items.Count} {back.Items[0].Name} {back.Items[0].Labels[1]} {back.Items[1].Price} {back.Level} {back.When:u} {back.Secret} {back.Extra["x"]}");
        Console.WriteLine(JsonSerializer.Serialize(new { Anonymous = 1, Nested = new[] { 1.5, 2 } }));
        using var document = JsonDocument.Parse("""{"list": [1, 2.5, "three", true, null], "deep": {"er": {"est": 9}}}""");
        foreach (var element in document.RootElement.GetProperty("list").EnumerateArray()) Console.Write($"{element.ValueKind}={element} ");
        Console.WriteLine(document.RootElement.GetProperty("deep").GetProperty("er").GetProperty("est").GetInt32());
        var node = JsonNode.Parse("""{"a": [1, 2]}""");
        node["a"].AsArray().Add(3);
        node["b"] = new JsonObject { ["c"] = "d" };
        Console.WriteLine(node.ToJsonString() + " " + (int)node["a"][2]);
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer))
        {
            writer.WriteStartObject();
            writer.WriteNumber("n", 1);
            writer.WriteString("s", "ü");
            writer.WriteEndObject();
        }
        Console.WriteLine(Encoding.UTF8.GetString(buffer.WrittenSpan));
        var reader = new Utf8JsonReader(buffer.WrittenSpan);
        while (reader.Read()) Console.Write(reader.TokenType + " ");
        Console.WriteLine();
        try { JsonSerializer.Deserialize<Order>("{\"Id\": \"x\"}"); } catch (JsonException e) { Console.WriteLine(e.Path + " " + e.LineNumber); }
        try { JsonDocument.Parse("[1,]"); } catch (JsonException e) { Console.WriteLine(e.Message); }
    }
}
