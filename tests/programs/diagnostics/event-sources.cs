// The sources and listeners of Mono's class library, which never write anything; what it leaves out, it says it does not implement.
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;


[EventSource (Name = "Saki-Test", Guid = "8e9f5090-2d75-4d03-8a81-e5afbf85daf1")]
sealed class TestSource : EventSource {
	public static readonly TestSource Log = new TestSource ();
	public class Keywords { public const EventKeywords A = (EventKeywords) 1; public const EventKeywords B = (EventKeywords) 2; }
	public class Tasks { public const EventTask Work = (EventTask) 1; }

	[Event (1, Level = EventLevel.Informational, Keywords = Keywords.A, Message = "hello {0}")]
	public void Hello (string who) { WriteEvent (1, who); }
	[Event (2, Level = EventLevel.Warning, Keywords = Keywords.B)]
	public void Numbers (int a, long b) { WriteEvent (2, (long) a, b); }
	[Event (3, Level = EventLevel.Verbose)]
	public void Many (int a, string b, bool c, double d, Guid e, DayOfWeek f) { WriteEvent (3, a, b, c, d, e, f); }
	[Event (4, Opcode = EventOpcode.Start, Task = Tasks.Work)]
	public void WorkStart (int id) { WriteEvent (4, id); }
	[Event (5, Opcode = EventOpcode.Stop, Task = Tasks.Work)]
	public void WorkStop (int id) { WriteEvent (5, id); }
	[Event (6)]
	public void Nothing () { WriteEvent (6); }
	[Event (7, Level = EventLevel.Critical)]
	public void Bytes (byte[] data) { WriteEvent (7, data); }
	[NonEvent] public void NotOne () {}
	protected override void OnEventCommand (EventCommandEventArgs command) {
		Console.WriteLine ("command {0} {1}", command.Command, command.Arguments == null ? "null" : string.Join (",", command.Arguments.Select (p => p.Key + "=" + p.Value)));
	}
}

sealed class Listener : EventListener {
	readonly string name;
	public Listener (string name) { this.name = name; }
	protected override void OnEventSourceCreated (EventSource source) { if (source.Name.StartsWith ("Saki")) Console.WriteLine ("created {0}", source.Name); }
	protected override void OnEventWritten (EventWrittenEventArgs e) {
		Console.WriteLine ("{0}: {1} {2} {3} {4} {5} {6} [{7}] {8} names {9} {10}", name, e.EventId, e.EventName, e.Level, e.Keywords, e.Opcode, e.Task,
			e.Payload == null ? "null" : string.Join ("|", e.Payload.Select (p => p == null ? "null" : p is byte[] ? "bytes" + ((byte[]) p).Length : p + ":" + p.GetType ().Name)), e.Message, e.PayloadNames == null ? "null" : string.Join (",", e.PayloadNames), e.ActivityId == Guid.Empty);
	}
}

class P {
	static void Try (string what, Action a) { try { a (); } catch (Exception e) { Console.WriteLine ("{0}: {1}: {2}", what, e.GetType ().Name, e.Message); } }
	static void Main () {
		var log = TestSource.Log;
		Console.WriteLine ("{0} {1} {2}", log.Name, log.Guid, log.ConstructionException == null ? "ok" : log.ConstructionException.ToString ());
		Console.WriteLine (log.IsEnabled ());
		log.Hello ("nobody");
		var one = new Listener ("one");
		one.EnableEvents (log, EventLevel.Informational, TestSource.Keywords.A);
		Console.WriteLine ("{0} {1} {2}", log.IsEnabled (), log.IsEnabled (EventLevel.Informational, TestSource.Keywords.A), log.IsEnabled (EventLevel.Verbose, TestSource.Keywords.B));
		log.Hello ("world"); log.Numbers (1, 2); log.Many (1, "b", true, 2.5, Guid.Empty, DayOfWeek.Friday); log.Nothing ();
		var two = new Listener ("two");
		two.EnableEvents (log, EventLevel.Verbose, (EventKeywords) (-1), new Dictionary<string, string> { { "k", "v" } });
		log.Hello (null); log.Numbers (1, 2); log.Many (1, "b", true, 2.5, Guid.Empty, DayOfWeek.Friday); log.Nothing (); log.Bytes (new byte [3]);
		log.WorkStart (1); Console.WriteLine (EventSource.CurrentThreadActivityId == Guid.Empty); log.WorkStop (1);
		Try ("write", () => log.Write ("Dynamic", new { A = 1, B = "x" }));
		Try ("write2", () => log.Write ("Plain"));
		one.DisableEvents (log); log.Hello ("again");
		two.Dispose (); log.Hello ("gone");
		Console.WriteLine (log.IsEnabled ());
		Try ("sources", () => Console.WriteLine (string.Join (",", EventSource.GetSources ().Select (s => s.Name).OrderBy (s => s))));
		Try ("name", () => Console.WriteLine (EventSource.GetName (typeof (TestSource)) + " " + EventSource.GetGuid (typeof (TestSource))));
		Try ("manifest", () => { var m = EventSource.GenerateManifest (typeof (TestSource), "x.dll"); Console.WriteLine (m == null ? "null" : m.Length > 100 ? "long" : m); });
		Try ("self", () => { using (var s = new EventSource ("Saki-Self")) { var l = new Listener ("three"); l.EnableEvents (s, EventLevel.Verbose); s.Write ("E", new EventSourceOptions { Level = EventLevel.Error }, new { N = 4 }); Console.WriteLine (s + " " + s.Settings); } });
		Try ("activity", () => { var g = Guid.NewGuid (); Guid old; EventSource.SetCurrentThreadActivityId (g, out old); Console.WriteLine ("{0} {1}", old == Guid.Empty, EventSource.CurrentThreadActivityId == g); });
		Try ("trait", () => Console.WriteLine (log.GetTrait ("x") ?? "null"));
		Try ("command", () => EventSource.SendCommand (log, EventCommand.Update, new Dictionary<string, string> { { "a", "b" } }));
	}
}
