// A PostgreSQL server by Npgsql: SQL of all kinds, blocking and asynchronous, on 100 threads. npgsql-books CONNECTION
using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Npgsql;
using NpgsqlTypes;

static class Program
{
    static void Text(string what, object value) => Console.WriteLine(what + ": " + value);

    static void Blocking(string connection)
    {
        using var db = new NpgsqlConnection(connection);
        db.Open();
        Text("state", db.State);
        int Execute(string sql) { using var command = new NpgsqlCommand(sql, db); return command.ExecuteNonQuery(); }
        Execute("drop table if exists books");
        Execute("create table books (id serial primary key, title text not null unique, pages int, price numeric(10, 2), added timestamptz, tags text[], data jsonb, raw bytea, code uuid, score double precision, sold boolean)");
        using (var insert = new NpgsqlCommand("insert into books (title, pages, price, added, tags, data, raw, code, score, sold) values (@t, @p, @m, @a, @g, @d, @r, @c, @s, @b) returning id", db))
        {
            insert.Parameters.AddWithValue("t", "Faust"); insert.Parameters.AddWithValue("p", 136); insert.Parameters.AddWithValue("m", 7.95m);
            insert.Parameters.AddWithValue("a", new DateTime(1808, 4, 1, 12, 30, 0, DateTimeKind.Utc)); insert.Parameters.AddWithValue("g", new[] { "drama", "überall" });
            insert.Parameters.Add(new NpgsqlParameter("d", NpgsqlDbType.Jsonb) { Value = "{\"parts\": [1, 2]}" }); insert.Parameters.AddWithValue("r", new byte[] { 0, 1, 255 });
            insert.Parameters.AddWithValue("c", new Guid("00112233-4455-6677-8899-aabbccddeeff")); insert.Parameters.AddWithValue("s", 4.75); insert.Parameters.AddWithValue("b", true);
            Text("id", insert.ExecuteScalar());
            insert.Parameters["t"].Value = "Woyzeck"; insert.Parameters["p"].Value = DBNull.Value; insert.Parameters["s"].Value = double.NaN; insert.Prepare();
            Text("id", insert.ExecuteScalar());
        }
        using (var select = new NpgsqlCommand("select * from books order by id", db))
        using (var reader = select.ExecuteReader())
        {
            Text("columns", string.Join(" ", Enumerable.Range(0, reader.FieldCount).Select(i => reader.GetName(i) + "=" + reader.GetDataTypeName(i) + "/" + reader.GetFieldType(i).Name)));
            while (reader.Read())
                Text("row", string.Join(" | ", Enumerable.Range(0, reader.FieldCount).Select(i => reader.IsDBNull(i) ? "null" : reader.GetValue(i) switch { string[] list => string.Join(",", list), byte[] bytes => Convert.ToHexString(bytes), DateTime time => time.ToString("O"), IFormattable f => f.ToString(null, System.Globalization.CultureInfo.InvariantCulture), var v => v.ToString() })));
        }
        using (var transaction = db.BeginTransaction(IsolationLevel.Serializable))
        {
            Text("updated", Execute("update books set pages = 40 where pages is null"));
            transaction.Save("here"); Execute("delete from books"); transaction.Rollback("here");
            transaction.Commit();
        }
        using (var transaction = db.BeginTransaction()) { Execute("delete from books"); transaction.Rollback(); }
        Text("count", new NpgsqlCommand("select count(*) from books", db).ExecuteScalar());
        try { Execute("insert into books (title) values ('Faust')"); } catch (PostgresException e) { Text("error", e.SqlState + " " + e.ConstraintName + " " + e.MessageText); }
        try { Execute("select 1 / 0"); } catch (PostgresException e) { Text("error", e.SqlState); }
        try { Execute("selec"); } catch (NpgsqlException e) { Text("error", e.GetType().Name + " " + e.SqlState); }
        using (var copy = db.BeginBinaryImport("copy books (title, pages) from stdin (format binary)"))
        {
            for (int i = 0; i < 1000; i++) { copy.StartRow(); copy.Write("title " + i); copy.Write(i, NpgsqlDbType.Integer); }
            Text("copied", copy.Complete());
        }
        var table = new DataTable();
        using (var adapter = new NpgsqlDataAdapter("select title, pages from books where pages < 5 order by pages, title", db)) Text("filled", adapter.Fill(table));
        Text("table", string.Join(" ", table.Rows.Cast<DataRow>().Select(row => row["title"] + "/" + row["pages"])));
        using var batch = new NpgsqlBatch(db);
        batch.BatchCommands.Add(new NpgsqlBatchCommand("select sum(pages) from books")); batch.BatchCommands.Add(new NpgsqlBatchCommand("select max(title) from books where title like $1") { Parameters = { new() { Value = "title 9%" } } });
        using (var reader = batch.ExecuteReader()) do { reader.Read(); Text("batch", reader.GetValue(0)); } while (reader.NextResult());
        using (var command = new NpgsqlCommand("select pg_sleep(30)", db) { CommandTimeout = 1 }) try { command.ExecuteNonQuery(); } catch (NpgsqlException e) { Text("timeout", e.InnerException?.GetType().Name); }
    }

    static async Task Asynchronous(NpgsqlDataSource source)
    {
        await using var db = await source.OpenConnectionAsync();
        await using (var command = new NpgsqlCommand("select title, pages from books where pages between @a and @b order by pages", db))
        {
            command.Parameters.AddWithValue("a", 10); command.Parameters.AddWithValue("b", 14);
            await using var reader = await command.ExecuteReaderAsync();
            var rows = new List<string>();
            while (await reader.ReadAsync()) rows.Add(reader.GetString(0) + "=" + await reader.GetFieldValueAsync<int>(1));
            Text("async", string.Join(" ", rows));
        }
        using var cancel = new CancellationTokenSource(200);
        try { await new NpgsqlCommand("select pg_sleep(30)", db).ExecuteNonQueryAsync(cancel.Token); } catch (OperationCanceledException) { Text("cancelled", true); }
        string heard = null;
        db.Notification += (_, e) => heard = e.Channel + " " + e.Payload;
        await new NpgsqlCommand("listen news", db).ExecuteNonQueryAsync();
        await using (var other = await source.OpenConnectionAsync()) await new NpgsqlCommand("notify news, 'hello'", other).ExecuteNonQueryAsync();
        await db.WaitAsync();
        Text("notification", heard);
        int[] sums = await Task.WhenAll(Enumerable.Range(0, 50).Select(async i => { await using var command = source.CreateCommand("select $1 + 1 from pg_sleep(0.02)"); command.Parameters.AddWithValue(i); return (int)await command.ExecuteScalarAsync(); }));
        Text("tasks", sums.Sum());
    }

    static void Threads(NpgsqlDataSource source)
    {
        int sum = 0;
        var threads = Enumerable.Range(0, 100).Select(i => new Thread(() =>
        {
            for (int round = 0; round < 5; round++)
            {
                using var command = source.CreateCommand("select pages + $1 from books, pg_sleep(0.01) where title = $2");
                command.Parameters.AddWithValue(i); command.Parameters.AddWithValue("title " + (i * 5 + round));
                Interlocked.Add(ref sum, (int)command.ExecuteScalar());
            }
        })).ToArray();
        foreach (var thread in threads) thread.Start();
        foreach (var thread in threads) thread.Join();
        Text("threads", sum);
        int blocking = 0;
        Task.WaitAll(Enumerable.Range(0, 200).Select(i => Task.Run(() => { using var command = source.CreateCommand("select count(*)::int from pg_sleep(0.01)"); Interlocked.Add(ref blocking, (int)command.ExecuteScalar()); })).ToArray());
        Text("blocking tasks", blocking);
    }

    static async Task<int> Main(string[] args)
    {
        Blocking(args[0]);
        await using var source = NpgsqlDataSource.Create(args[0] + ";Maximum Pool Size=40;Timeout=30");
        await Asynchronous(source);
        Threads(source);
        using (var db = source.OpenConnection()) { new NpgsqlCommand("drop table books", db).ExecuteNonQuery(); Text("schema", db.GetSchema("Databases").Rows.Count > 0); }
        return 0;
    }
}
