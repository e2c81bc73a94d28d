// EventSource and its counters, ActivitySource, DiagnosticListener, Meter, and what the runtime counts for System.Runtime.
using System;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
[EventSource(Name="My-Source")] class My : EventSource { public static readonly My Log = new(); EventCounter c; PollingCounter p; IncrementingEventCounter ic;
  public My() { c = new EventCounter("req", this){DisplayName="Requests"}; p = new PollingCounter("poll", this, ()=>7); ic=new IncrementingEventCounter("inc", this); }
  [Event(1, Level=EventLevel.Warning)] public void A(int x, string s, Guid g, long l, double d, byte[] b) => WriteEvent(1,x,s,g,l,d,b);
  [Event(2)] public void AStart(int x)=>WriteEvent(2,x); [Event(3)] public void AStop(int x)=>WriteEvent(3,x);
  public void M(double d){ c.WriteMetric(d); ic.Increment(3);} }
class L : EventListener { public List<string> o = new(); public HashSet<string> counters=new(), again=new();
  public bool CameTwice(string source) { lock(o) return again.Any(x=>x.StartsWith(source)); }
  protected override void OnEventSourceCreated(EventSource s) { if (s.Name=="My-Source") EnableEvents(s, EventLevel.Verbose, EventKeywords.All, new Dictionary<string,string?>{["EventCounterIntervalSec"]="0.2"}); if (s.Name=="System.Runtime") EnableEvents(s, EventLevel.Verbose, EventKeywords.All, new Dictionary<string,string?>{["EventCounterIntervalSec"]="0.2"}); if (s.Name=="Dyn") EnableEvents(s, EventLevel.LogAlways);}
  protected override void OnEventWritten(EventWrittenEventArgs e) { lock(o) { if (e.EventName=="EventCounters") { var d=(IDictionary<string,object>)e.Payload[0]; var x=e.EventSource.Name+"/"+d["Name"]+"/"+d["CounterType"]; if (!counters.Add(x)) again.Add(x); } else o.Add($"{e.EventSource.Name} {e.EventName} {e.EventId} {e.Level} {e.Opcode} {e.Task} {e.Keywords} {string.Join(",", e.PayloadNames)} {string.Join(",", e.Payload.Select(x=>x is byte[] b?b.Length+"b":x is IDictionary<string,object> dd?string.Join(";",dd.Select(q=>q.Key+"="+q.Value)):x))} {e.ActivityId!=Guid.Empty}"); } } }
class P { static void Main(){
  var l=new L(); My.Log.A(1,"s",Guid.Empty,5,1.5,new byte[]{1,2}); My.Log.AStart(1); My.Log.A(2,null,Guid.Empty,5,1.5,null); My.Log.AStop(1); My.Log.M(2); My.Log.M(4);
  var dyn=new EventSource("Dyn"); dyn.Write("Ev", new { X=1, Y="q", Z=new[]{1,2} });
  // All counters of a source came once before one of them came for the second time.
  for (int i = 0; i < 300 && !(l.CameTwice("My-Source") && l.CameTwice("System.Runtime")); i++) Thread.Sleep(100);
  foreach(var x in l.o.Where(x=>!x.StartsWith("System.Runtime"))) Console.WriteLine(x); foreach(var x in l.counters.OrderBy(x=>x, StringComparer.Ordinal)) Console.WriteLine(x); l.Dispose();
  // activities
  using var al=new ActivityListener{ ShouldListenTo=s=>s.Name=="S", Sample=(ref ActivityCreationOptions<ActivityContext> o)=>ActivitySamplingResult.AllDataAndRecorded, ActivityStarted=a=>Console.WriteLine("start "+a.DisplayName+" "+a.Kind+" "+(a.ParentSpanId!=default)), ActivityStopped=a=>Console.WriteLine("stop "+a.DisplayName+" "+string.Join(",",a.TagObjects)+" "+a.Status+" "+string.Join(",",a.Events.Select(e=>e.Name))) };
  ActivitySource.AddActivityListener(al); var src=new ActivitySource("S","1.0");
  using(var a=src.StartActivity("a",ActivityKind.Server)) { a.SetTag("k",1); using(var b=src.StartActivity("b")) { b.AddEvent(new ActivityEvent("e")); b.SetStatus(ActivityStatusCode.Error,"x"); Console.WriteLine(Activity.Current==b); Console.WriteLine(b.TraceId==a.TraceId); } a.AddException(new Exception("q")); }
  Console.WriteLine(Activity.Current==null);
  using var dl = DiagnosticListener.AllListeners.Subscribe(new O<DiagnosticListener>(d=>{ if(d.Name=="D") d.Subscribe(new O<KeyValuePair<string,object>>(k=>Console.WriteLine(k.Key+" "+k.Value)), (n,a,b)=>n!="no"); }));
  var ds=new DiagnosticListener("D"); if(ds.IsEnabled("yes")) ds.Write("yes",new{A=1}); Console.WriteLine(ds.IsEnabled("no")); var act=new Activity("act"); ds.StartActivity(act,1); ds.StopActivity(act,2);
  // meters
  var m=new Meter("M","1"); var c=m.CreateCounter<int>("c","u","d"); var h=m.CreateHistogram<double>("h"); var ud=m.CreateUpDownCounter<long>("ud"); var gg=m.CreateGauge<int>("g"); m.CreateObservableGauge("og",()=>new[]{new Measurement<int>(3,new KeyValuePair<string,object>("t","v"))});
  var sums=new SortedDictionary<string,double>(StringComparer.Ordinal);
  using var ml=new MeterListener{ InstrumentPublished=(i,x)=>{ if(i.Meter.Name is "M" or "System.Runtime") x.EnableMeasurementEvents(i); } };
  void Add(Instrument i, double v, ReadOnlySpan<KeyValuePair<string,object>> t){ var k=i.Meter.Name+"/"+i.Name+"{"+i.Unit+"}"; foreach(var q in t) k+=" "+q.Key+"="+q.Value; lock(sums) sums[k]=(sums.TryGetValue(k,out var o)?o:0)+v; }
  ml.SetMeasurementEventCallback<int>((i,v,t,s)=>Add(i,v,t)); ml.SetMeasurementEventCallback<long>((i,v,t,s)=>Add(i,v,t)); ml.SetMeasurementEventCallback<double>((i,v,t,s)=>Add(i,v,t)); ml.Start();
  c.Add(2); c.Add(3,new KeyValuePair<string,object>("a",1)); h.Record(1.5); ud.Add(-4); gg.Record(9); 
  for(int i=0;i<3;i++) try{ throw new FormatException(); }catch{}
  GC.Collect(); ml.RecordObservableInstruments();
  foreach(var (k,v) in sums) if(k.StartsWith("M/")) Console.WriteLine(k+" "+v); else if (!k.Contains("gen0") && !k.Contains("gen1") && !k.Contains("loh") && !k.Contains("poh") && !k.Contains("heap.size") && !k.Contains("cpu.time") && !k.Contains("lock_contentions") && !k.Contains("thread_pool") && !k.Contains("timer")) Console.WriteLine(k+" "+(v>0));
  long heap=0; foreach (var i in GC.GetGCMemoryInfo().GenerationInfo) heap+=i.SizeAfterBytes; Console.WriteLine("heap "+(heap>50_000));
  Console.WriteLine("compiled "+(System.Runtime.JitInfo.GetCompiledMethodCount()>10)+" "+(System.Runtime.JitInfo.GetCompilationTime()>TimeSpan.Zero)+" "+(System.Runtime.JitInfo.GetCompiledILBytes()>100));
 } }
class O<T>:IObserver<T>{ Action<T> f; public O(Action<T> f){this.f=f;} public void OnNext(T t)=>f(t); public void OnCompleted(){} public void OnError(Exception e){} }
