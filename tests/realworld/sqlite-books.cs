// Creates, fills, queries and changes a database file: books.exe FILE
using System;
using System.Data;
using Mono.Data.Sqlite;

class Books
{
    static void Main(string[] args)
    {
        using (var connection = new SqliteConnection("Data Source=" + args[0] + ";Version=3;"))
        {
            connection.Open();
            Execute(connection, "create table book (id integer primary key, title text not null unique, pages integer, price real, cover blob)");
            using (var transaction = connection.BeginTransaction())
            using (var insert = connection.CreateCommand())
            {
                insert.CommandText = "insert into book (title, pages, price, cover) values (@title, @pages, @price, @cover)";
                var title = insert.Parameters.Add("@title", DbType.String);
                var pages = insert.Parameters.Add("@pages", DbType.Int32);
                var price = insert.Parameters.Add("@price", DbType.Double);
                var cover = insert.Parameters.Add("@cover", DbType.Binary);
                for (int i = 0; i < 2000; i++)
                {
                    title.Value = "Tëxt " + i;
                    pages.Value = i % 3 == 0 ? (object)DBNull.Value : i * 7;
                    price.Value = i / 4.0;
                    cover.Value = new byte[] { (byte)i, 0, 255 };
                    insert.ExecuteNonQuery();
                }
                transaction.Commit();
            }
            Print(connection, "select id, title, pages, price, cover from book where id between 5 and 9 order by id desc");
            Print(connection, "select count(*), sum(pages), avg(price) from book");
            Execute(connection, "update book set pages = 1 where pages is null");
            Execute(connection, "delete from book where id > 1500");
            using (var transaction = connection.BeginTransaction())
            {
                Execute(connection, "delete from book");
                transaction.Rollback();
            }
            try { Execute(connection, "insert into book (title) values ('Tëxt 3')"); }
            catch (SqliteException e) { Console.WriteLine("{0}: {1}", e.ErrorCode, e.Message.Replace("\r\n", " ")); }
            try { Execute(connection, "select * from nothing"); }
            catch (SqliteException e) { Console.WriteLine("{0}: {1}", e.ErrorCode, e.Message.Replace("\r\n", " ")); }

            var table = new DataTable();
            using (var adapter = new SqliteDataAdapter("select * from book limit 3", connection))
                adapter.Fill(table);
            foreach (DataColumn column in table.Columns)
                Console.Write("{0}:{1} ", column.ColumnName, column.DataType.Name);
            Console.WriteLine("{0} rows", table.Rows.Count);
            Console.WriteLine(connection.GetSchema("Tables").Rows.Count + " tables");
        }
    }

    static void Execute(SqliteConnection connection, string sql)
    {
        using (var command = new SqliteCommand(sql, connection))
            Console.WriteLine("{0} changed", command.ExecuteNonQuery());
    }

    static void Print(SqliteConnection connection, string sql)
    {
        using (var command = new SqliteCommand(sql, connection))
        using (var reader = command.ExecuteReader())
            while (reader.Read())
            {
                for (int i = 0; i < reader.FieldCount; i++)
                {
                    object value = reader.GetValue(i);
                    var bytes = value as byte[];
                    Console.Write("{0}={1} ({2}) ", reader.GetName(i), bytes != null ? BitConverter.ToString(bytes) : value, value.GetType().Name);
                }
                Console.WriteLine();
            }
    }
}
