// Tables, views, relations, Sqlite.
// references: System.Data System.Xml System.Data.DataSetExtensions Mono.Data.Sqlite
using System;
using System.Collections;
using System.Data;
using System.Data.Common;
using System.Data.SqlTypes;
using System.IO;
using System.Linq;
using Mono.Data.Sqlite;
using static Sweep;

static class Program {
    static DataTable Table ()
    {
        var t = new DataTable ("People"); t.Columns.Add ("Id", typeof (int)); t.Columns.Add ("Name", typeof (string)); t.Columns.Add ("Age", typeof (int)); t.Columns.Add ("Born", typeof (DateTime));
        t.Columns["Id"].AutoIncrement = true; t.Columns["Id"].AutoIncrementSeed = 1; t.PrimaryKey = new[] { t.Columns["Id"] };
        foreach (var n in new[] { "Zoe", "Adam", "Mia", "Bob" }) t.Rows.Add (null, n, 20 + n.Length * 5, new DateTime (1990, n.Length, 3)); t.AcceptChanges (); return t;
    }
    static void Rows (IEnumerable rows) { foreach (object o in rows) Print (o is DataRow ? ((DataRow) o).ItemArray : ((DataRowView) o).Row.ItemArray); }

    static void Main ()
    {
        Check ("Rows", () => { var t = Table (); Rows (t.Rows); Print (t.Rows.Find (3)["Name"], t.Rows.Contains (9)); var r = t.NewRow (); r["Name"] = "Eve"; t.Rows.Add (r); Print (r.RowState, r.IsNull ("Age"), r["Id"]); r.AcceptChanges (); r["Age"] = 5; Print (r.RowState, r["Age", DataRowVersion.Original], r["Age"]); r.RejectChanges (); Print (r.IsNull ("Age")); r.Delete (); Print (t.GetChanges ().Rows.Count, r.RowState); });
        Check ("Select and Compute", () => { var t = Table (); foreach (var f in new[] { "Age > 35", "Name LIKE 'A*'", "Name IN ('Zoe','Bob') AND Age < 50", "NOT (Id = 2)", "Born >= #1990-04-01#", "LEN(Name) = 3", "SUBSTRING(Name,1,1) = 'M'", "IIF(Age>35,1,0) = 1", "Id % 2 = 0", "Name IS NULL", "CONVERT(Age,'System.String') = '35'", "ISNULL(Age,0)*2 = 70" }) Print (f, t.Select (f, "Name DESC").Select (r => r["Name"])); Print (t.Compute ("SUM(Age)", ""), t.Compute ("AVG(Age)", "Id>1"), t.Compute ("COUNT(Id)", "Age=35"), t.Compute ("MAX(Name)", null), t.Compute ("StDev(Age)", null)); t.Select ("Bad > 1"); });
        Check ("Filter errors", () => Table ().Select ("Age >"));
        Check ("Expression columns", () => { var t = Table (); t.Columns.Add ("Twice", typeof (int), "Age * 2"); t.Columns.Add ("Text", typeof (string), "Name + '-' + Id"); Rows (t.Rows); t.Rows[0]["Age"] = 1; Print (t.Rows[0]["Twice"]); t.Rows[0]["Twice"] = 3; });
        Check ("Constraints", () => { var t = Table (); t.Constraints.Add (new UniqueConstraint ("U", t.Columns["Name"])); t.Rows.Add (null, "Zoe", 1, null); });
        Check ("Null constraint", () => { var t = Table (); t.Columns["Name"].AllowDBNull = false; t.Rows.Add (null, null, 1, null); });
        Check ("Wrong type", () => Table ().Rows[0]["Age"] = "x");
        Check ("Primary key twice", () => Table ().Rows.Add (1, "x", 1, null));
        Check ("DataView", () => { var v = new DataView (Table (), "Age < 40", "Age, Name", DataViewRowState.CurrentRows); Rows (v); Print (v.Count, v.Find (new object[] { 35, "Bob" })); int events = 0; v.ListChanged += (o, e) => events++; v.AllowNew = true; var r = v.AddNew (); r["Name"] = "New"; r.EndEdit (); Print (events > 0, v.Table.Rows.Count); v.RowFilter = ""; Print (v.ToTable (true, "Age").Rows.Count); });
        Check ("Relations", () => { var s = new DataSet ("S"); var p = Table (); s.Tables.Add (p); var o = s.Tables.Add ("Orders"); o.Columns.Add ("Person", typeof (int)); o.Columns.Add ("Sum", typeof (decimal)); o.Rows.Add (1, 1.5m); o.Rows.Add (1, 2m); o.Rows.Add (3, 7m); s.Relations.Add ("R", p.Columns["Id"], o.Columns["Person"]); Print (p.Rows[0].GetChildRows ("R").Length, o.Rows[2].GetParentRow ("R")["Name"]); p.Columns.Add ("Total", typeof (decimal), "SUM(Child(R).Sum)"); Print (p.Rows[0]["Total"]); p.Rows[0].Delete (); Print (o.Rows[0].RowState); o.Rows.Add (99, 1m); });
        Check ("Merge and copy", () => { var a = Table (); var b = a.Copy (); b.Rows[0]["Age"] = 99; b.Rows.Add (null, "Extra", 1, DateTime.MinValue); a.Merge (b); Rows (a.Rows); Print (a.Clone ().Rows.Count); });
        Check ("Events", () => { var t = Table (); t.RowChanging += (o, e) => Print ("changing", e.Action); t.ColumnChanged += (o, e) => Print (e.Column.ColumnName, e.ProposedValue); t.RowDeleted += (o, e) => Print ("deleted"); t.Rows[0]["Age"] = 4; t.Rows[1].BeginEdit (); t.Rows[1]["Age"] = 6; t.Rows[1].CancelEdit (); Print (t.Rows[1]["Age"]); t.Rows[2].Delete (); });
        Check ("Xml", () => { var s = new DataSet ("S"); s.Tables.Add (Table ()); var w = new StringWriter (); s.WriteXml (w); Print (w); w = new StringWriter (); s.WriteXmlSchema (w); Print (w); var d = new DataSet (); d.ReadXmlSchema (new StringReader (w.ToString ())); Print (d.Tables[0].Columns.Count); w = new StringWriter (); s.WriteXml (w, XmlWriteMode.WriteSchema); d = new DataSet (); d.ReadXml (new StringReader (w.ToString ())); Rows (d.Tables[0].Rows); s.Tables[0].Rows[0]["Age"] = 3; w = new StringWriter (); s.WriteXml (w, XmlWriteMode.DiffGram); Print (w); });
        Check ("Xml inference", () => { var d = new DataSet (); d.ReadXml (new StringReader ("<r><p n='1'><c>x</c><c>y</c></p><p n='2'/></r>")); foreach (DataTable t in d.Tables) { Print (t.TableName, t.Columns.Cast<DataColumn> ().Select (c => c.ColumnName)); Rows (t.Rows); } });
        Check ("Binary", () => { var s = new DataSet ("S") { RemotingFormat = SerializationFormat.Binary }; s.Tables.Add (Table ()); var m = new MemoryStream (); var f = new System.Runtime.Serialization.Formatters.Binary.BinaryFormatter (); f.Serialize (m, s); m.Position = 0; Rows (((DataSet) f.Deserialize (m)).Tables[0].Rows); });
        Check ("LINQ to DataSet", () => Print (Table ().AsEnumerable ().Where (r => r.Field<int> ("Age") > 35).OrderBy (r => r.Field<string> ("Name")).Select (r => r.Field<string> ("Name")), Table ().AsEnumerable ().Take (2).CopyToDataTable ().Rows.Count));
        Check ("DataTableReader", () => { using (var r = Table ().CreateDataReader ()) { Print (r.FieldCount, r.HasRows, r.GetName (1), r.GetDataTypeName (2), r.GetOrdinal ("Born")); while (r.Read ()) Print (r.GetInt32 (0), r.GetString (1), r["Age"], r.IsDBNull (3)); var t = new DataTable (); t.Load (Table ().CreateDataReader ()); Print (t.Rows.Count); } });
        Check ("SqlTypes", () => { Print (SqlInt32.Null + 1, (SqlInt32) 5 + 6, new SqlString ("a") + "b", SqlDecimal.Parse ("1.50") * 2, new SqlDateTime (2009, 1, 2), SqlBoolean.True & SqlBoolean.Null, SqlGuid.Null, new SqlBinary (new byte[] { 1 }).Length, new SqlMoney (1.23456m)); int x = (int) SqlInt32.Null; });
        Check ("Connection strings", () => { var b = new DbConnectionStringBuilder { ConnectionString = "A=1;B='x;y';C=\"q\"" }; b["D"] = "z z"; Print (b.ConnectionString, b["b"], b.Keys); var q = new System.Data.SqlClient.SqlConnectionStringBuilder ("Data Source=h;Integrated Security=true"); Print (q.DataSource, q.IntegratedSecurity, q.ConnectTimeout); b.ConnectionString = "bad"; });
        Check ("Provider factories", () => Print (DbProviderFactories.GetFactoryClasses ().Rows.Count, DbProviderFactories.GetFactory ("System.Data.SqlClient").GetType ().FullName));
        Check ("Sqlite", () => {
            File.Delete ("sweep.db"); using (var c = new SqliteConnection ("Data Source=sweep.db")) { c.Open (); Print (c.State, c.ServerVersion.Length > 0); Action<string> run = q => { using (var k = c.CreateCommand ()) { k.CommandText = q; Print (k.ExecuteNonQuery ()); } };
                run ("create table t (i integer primary key, s text, r real, b blob, d datetime)"); using (var tx = c.BeginTransaction ()) { using (var k = c.CreateCommand ()) { k.CommandText = "insert into t (s,r,b,d) values (@s,@r,@b,@d)"; k.Parameters.Add (new SqliteParameter ("@s", DbType.String)); k.Parameters.Add (new SqliteParameter ("@r", 1.5)); k.Parameters.Add (new SqliteParameter ("@b", new byte[] { 1, 2, 3 })); k.Parameters.Add (new SqliteParameter ("@d", new DateTime (2009, 3, 7))); foreach (var s in new[] { "ä", "b", null }) { k.Parameters["@s"].Value = (object) s ?? DBNull.Value; k.ExecuteNonQuery (); } } tx.Commit (); }
                using (var tx = c.BeginTransaction ()) { run ("delete from t"); tx.Rollback (); } using (var k = c.CreateCommand ()) { k.CommandText = "select * from t order by i"; using (var r = k.ExecuteReader ()) { Print (r.FieldCount, r.GetName (1), r.GetFieldType (2)); while (r.Read ()) Print (Enumerable.Range (0, 5).Select (i => r.GetValue (i))); } k.CommandText = "select count(*), sum(r) from t where s > 'a'"; Print (k.ExecuteScalar ()); }
                var ad = new SqliteDataAdapter ("select i, s from t", c); new SqliteCommandBuilder (ad); var t = new DataTable (); ad.Fill (t); t.Rows[0]["s"] = "changed"; Print (ad.Update (t)); Print (c.GetSchema ("Tables").Rows.Count); run ("select nonsense from nowhere"); } File.Delete ("sweep.db");
        });
        Check ("SqlConnection refused", () => { using (var c = new System.Data.SqlClient.SqlConnection ("Server=127.0.0.1,1;User Id=a;Password=b;Connect Timeout=2")) try { c.Open (); } catch (System.Data.SqlClient.SqlException e) { Print (e.GetType (), c.State); } });
    }
}
