// A file of SQLite by System.Data.SQLite: SQL of all kinds, functions in C# that SQLite calls, threads that wait for a
// lock of the file. net-sqlite-books FILE
using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Data.SQLite;
using System.Globalization;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

[SQLiteFunction("initials", 1, FunctionType.Scalar)]
class Initials : SQLiteFunction
{
    public override object Invoke(object[] arguments) =>
        arguments[0] is string text ? string.Concat(text.Split(' ').Select(word => word[..1])) : null;
}

[SQLiteFunction("product", 1, FunctionType.Aggregate)]
class Product : SQLiteFunction
{
    public override void Step(object[] arguments, int step, ref object data) =>
        data = (data as double? ?? 1) * Convert.ToDouble(arguments[0], CultureInfo.InvariantCulture);
    public override object Final(object data) => data;
}

[SQLiteFunction("backwards", 0, FunctionType.Collation)]
class Backwards : SQLiteFunction
{
    public override int Compare(string a, string b) => -string.CompareOrdinal(a, b);
}

static class Program
{
    static void Text(string what, object value) => Console.WriteLine(what + ": " + value);

    static string Shown(object value) => value switch
    {
        DBNull => "null",
        byte[] bytes => Convert.ToHexString(bytes),
        DateTime time => time.ToString("O"),
        IFormattable formattable => formattable.ToString(null, CultureInfo.InvariantCulture),
        _ => value.ToString(),
    };

    static int Execute(SQLiteConnection db, string sql)
    {
        using var command = new SQLiteCommand(sql, db);
        return command.ExecuteNonQuery();
    }

    static object Scalar(SQLiteConnection db, string sql)
    {
        using var command = new SQLiteCommand(sql, db);
        return command.ExecuteScalar();
    }

    static void Fails(string what, Action action)
    {
        try { action(); Text(what, "no error"); }
        catch (SQLiteException e) { Text(what, e.ResultCode + " " + e.Message.ReplaceLineEndings(" ")); }
    }

    static void Commands(SQLiteConnection db)
    {
        Execute(db, "create table books (id integer primary key, title text not null unique, pages int, price decimal, added datetime, raw blob, code guid, score double, sold boolean, size bigint)");
        using (var insert = new SQLiteCommand("insert into books (title, pages, price, added, raw, code, score, sold, size) values (@t, @p, @m, @a, @r, @c, @s, @b, $z)", db))
        {
            insert.Parameters.AddWithValue("@t", "Faust der Tragödie"); insert.Parameters.AddWithValue("@p", 136); insert.Parameters.AddWithValue("@m", 7.95m);
            insert.Parameters.AddWithValue("@a", new DateTime(1808, 4, 1, 12, 30, 0, DateTimeKind.Utc)); insert.Parameters.AddWithValue("@r", new byte[] { 0, 1, 255 });
            insert.Parameters.AddWithValue("@c", new Guid("00112233-4455-6677-8899-aabbccddeeff")); insert.Parameters.AddWithValue("@s", 4.75);
            insert.Parameters.AddWithValue("@b", true); insert.Parameters.Add("$z", DbType.Int64).Value = long.MaxValue;
            Text("inserted", insert.ExecuteNonQuery() + " " + db.LastInsertRowId);
            insert.Parameters["@t"].Value = "Woyzeck"; insert.Parameters["@p"].Value = DBNull.Value; insert.Parameters["@s"].Value = double.MinValue; insert.Prepare();
            Text("inserted", insert.ExecuteNonQuery() + " " + db.LastInsertRowId);
        }
        using (var select = new SQLiteCommand("select * from books order by id", db))
        using (var reader = select.ExecuteReader())
        {
            Text("columns", string.Join(" ", Enumerable.Range(0, reader.FieldCount).Select(i => reader.GetName(i) + "=" + reader.GetDataTypeName(i) + "/" + reader.GetFieldType(i).Name)));
            while (reader.Read())
                Text("row", string.Join(" | ", Enumerable.Range(0, reader.FieldCount).Select(i => Shown(reader.GetValue(i)))));
            Text("schema", string.Join(" ", reader.GetSchemaTable().Rows.Cast<DataRow>().Select(row => row["ColumnName"] + ":" + row["IsKey"] + ":" + row["AllowDBNull"])));
        }
        using (var transaction = db.BeginTransaction(IsolationLevel.Serializable))
        {
            Text("updated", Execute(db, "update books set pages = 40 where pages is null"));
            Execute(db, "savepoint here; delete from books; rollback to here");
            transaction.Commit();
        }
        using (var transaction = db.BeginTransaction()) { Execute(db, "delete from books"); transaction.Rollback(); }
        Text("count", Scalar(db, "select count(*) from books"));
        Fails("constraint", () => Execute(db, "insert into books (title) values ('Woyzeck')"));
        Fails("no table", () => Execute(db, "select * from nothing"));
        Fails("no SQL", () => Execute(db, "selec"));
        using var pair = new SQLiteCommand("select 1; select title from books where pages > ? order by title; select 3", db);
        pair.Parameters.Add(new SQLiteParameter { Value = 1 });
        using (var reader = pair.ExecuteReader())
            do while (reader.Read()) Text("batch", reader.GetValue(0)); while (reader.NextResult());
    }

    static void Tables(SQLiteConnection db)
    {
        using (var transaction = db.BeginTransaction())
        using (var insert = new SQLiteCommand("insert into books (title, pages) values (?, ?)", db))
        {
            var (title, pages) = (insert.Parameters.Add(null, DbType.String), insert.Parameters.Add(null, DbType.Int32));
            for (int i = 0; i < 5000; i++) { title.Value = "title " + i; pages.Value = i; insert.ExecuteNonQuery(); }
            transaction.Commit();
        }
        using var adapter = new SQLiteDataAdapter("select id, title, pages from books where pages < 5 order by pages, title", db);
        using var builder = new SQLiteCommandBuilder(adapter);
        var table = new DataTable();
        Text("filled", adapter.Fill(table));
        table.Rows[0]["title"] = "changed"; table.Rows[1].Delete(); table.Rows.Add(DBNull.Value, "added", 3);
        Text("written", adapter.Update(table));
        Text("rows", string.Join(" ", new SQLiteCommand("select title || '/' || pages from books where pages < 5 order by pages, title", db).ExecuteReader().Cast<DbDataRecord>().Select(row => row.GetString(0))));
        Text("tables", string.Join(" ", db.GetSchema("Tables").Rows.Cast<DataRow>().Select(row => row["TABLE_NAME"])));
        Text("columns", string.Join(" ", db.GetSchema("Columns", new[] { null, null, "books" }).Rows.Cast<DataRow>().Select(row => row["COLUMN_NAME"] + ":" + row["DATA_TYPE"])));
        Text("sum", Scalar(db, "with recursive n (i) as (select 1 union all select i + 1 from n where i < 100000) select sum(i) from n"));
        Text("json", Scalar(db, "select json_extract('{\"a\": [1, {\"b\": \"ü\"}]}', '$.a[1].b')"));
    }

    static void Callbacks(SQLiteConnection db)
    {
        foreach (var type in new[] { typeof(Initials), typeof(Product), typeof(Backwards) })
            db.BindFunction(type.GetCustomAttributes(typeof(SQLiteFunctionAttribute), false).Cast<SQLiteFunctionAttribute>().Single(), (SQLiteFunction)Activator.CreateInstance(type));
        Text("scalar", Scalar(db, "select initials('Johann Wolfgang von Goethe')") + " " + Scalar(db, "select group_concat(initials(title), '') from (select title from books order by id limit 3)"));
        Text("aggregate", Shown(Scalar(db, "select product(pages + 1) from (select pages from books where pages between 1 and 9 order by pages)")));
        Text("collation", Scalar(db, "select group_concat(title) from (select title from books where title like 'title 99%' order by title collate backwards limit 4)"));
        var told = new List<string>();
        db.Update += (_, e) => told.Add(e.Event + " " + e.Table);
        db.Commit += (_, e) => told.Add("commit");
        db.RollBack += (_, _) => told.Add("rollback");
        Execute(db, "update books set pages = 1 where title = 'Woyzeck'; begin; delete from books where pages = 4999; rollback");
        GC.Collect();
        Execute(db, "delete from books where title = 'title 17'");
        Text("told", string.Join(", ", told));
        using var memory = new SQLiteConnection("Data Source=:memory:");
        memory.Open();
        int steps = 0;
        db.BackupDatabase(memory, "main", "main", 10, (_, _, _, _, _, _, _, _) => { steps++; return true; }, 0);
        Text("copied", Scalar(memory, "select count(*) from books") + " " + (steps > 3));
        using var endless = new SQLiteCommand("with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n", memory);
        bool isOver = false;
        var canceller = Task.Run(() => { while (!Volatile.Read(ref isOver)) { Thread.Sleep(50); memory.Cancel(); } });
        Fails("cancelled", () => endless.ExecuteScalar());
        Volatile.Write(ref isOver, true);
        canceller.Wait();
    }

    static async Task Asynchronous(string connection)
    {
        await using DbConnection db = new SQLiteConnection(connection);
        await db.OpenAsync();
        await using var command = db.CreateCommand();
        command.CommandText = "select title, pages from books where pages between @a and @b order by pages, title";
        foreach (var (name, value) in new[] { ("@a", 10), ("@b", 14) })
        {
            var parameter = command.CreateParameter();
            (parameter.ParameterName, parameter.Value) = (name, value);
            command.Parameters.Add(parameter);
        }
        await using var reader = await command.ExecuteReaderAsync();
        var rows = new List<string>();
        while (await reader.ReadAsync()) rows.Add(reader.GetString(0) + "=" + await reader.GetFieldValueAsync<int>(1));
        Text("async", string.Join(" ", rows));
    }

    // Each waits for the lock of the file.
    static void Many(string connection)
    {
        Task.WaitAll(Enumerable.Range(0, 50).Select(worker => Task.Run(() =>
        {
            using var db = new SQLiteConnection(connection);
            db.Open();
            for (int i = 0; i < 4; i++)
            {
                using var transaction = db.BeginTransaction(IsolationLevel.Serializable);
                Execute(db, "update counters set value = value + 1");
                transaction.Commit();
            }
        })).ToArray());
    }

    static void Main(string[] arguments)
    {
        var connection = new SQLiteConnectionStringBuilder { DataSource = arguments[0], BusyTimeout = 60000, DefaultTimeout = 60, Pooling = true, SyncMode = SynchronizationModes.Off }.ToString();
        using (var db = new SQLiteConnection(connection))
        {
            db.Open();
            Text("state", db.State);
            Commands(db);
            Tables(db);
            Callbacks(db);
            Asynchronous(connection).Wait();
            Execute(db, "create table counters (value int); insert into counters values (0)");
            Many(connection);
            Text("counted", Scalar(db, "select value from counters"));
            Text("whole", Scalar(db, "pragma integrity_check"));
        }
        SQLiteConnection.ClearAllPools();
    }
}
