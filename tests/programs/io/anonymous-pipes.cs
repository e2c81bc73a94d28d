// io: each
// mcs: -r:System.Core
// Threads that wait for anonymous pipes, more of them than a carrier could hold, hand bytes on; the end of a pipe ends a wait. A write of more than a pipe
// holds sends each byte once. A write to a pipe that nobody reads fails.
using System;
using System.IO;
using System.IO.Pipes;
using System.Linq;
using System.Threading;

class Stage {
    readonly AnonymousPipeServerStream writer = new AnonymousPipeServerStream(PipeDirection.Out);
    readonly AnonymousPipeClientStream reader;
    Thread thread;
    public int Sum;

    public Stage() { reader = new AnonymousPipeClientStream(PipeDirection.In, writer.ClientSafePipeHandle); }

    public void Start(Stage next) {
        thread = new Thread(() => {
            var buffer = new byte[16];
            for (int got; (got = reader.Read(buffer, 0, buffer.Length)) > 0; ) {
                for (int i = 0; i < got; i++) {
                    Sum += buffer[i];
                    if (next != null) next.Send(buffer[i]);
                }
                GC.KeepAlive(new byte[1000]);
            }
            if (next != null) next.End();
        });
        thread.Start();
    }

    public void Send(byte value) { writer.WriteByte(value); }
    public void End() { writer.Dispose(); }
    public void Join() { thread.Join(); }
}

class Program {
    const int Stages = 40, Bytes = 50;

    static void Main() {
        var stages = new Stage[Stages];
        for (int i = 0; i < Stages; i++) stages[i] = new Stage();
        for (int i = 0; i < Stages; i++) stages[i].Start(i + 1 < Stages ? stages[i + 1] : null);
        for (int i = 1; i <= Bytes; i++) {
            stages[0].Send((byte)i);
            if (i % 10 == 0) Thread.Sleep(5);
        }
        stages[0].End();
        int right = 0;
        foreach (Stage stage in stages) {
            stage.Join();
            if (stage.Sum == Bytes * (Bytes + 1) / 2) right++;
        }
        Console.WriteLine(right + " of " + Stages);
        for (int i = 0; i < 5; i++) Console.WriteLine("large write: " + LargeWrite(i));
        Console.WriteLine("nobody reads: " + WriteToNobody());
    }

    static bool LargeWrite(int seed) {
        using (var writer = new AnonymousPipeServerStream(PipeDirection.Out))
        using (var reader = new AnonymousPipeClientStream(PipeDirection.In, writer.ClientSafePipeHandle)) {
            var data = new byte[300000];
            new Random(seed).NextBytes(data);
            var all = new MemoryStream();
            var thread = new Thread(() => {
                var buffer = new byte[20000];
                for (int got; (got = reader.Read(buffer, 0, buffer.Length)) > 0; ) {
                    all.Write(buffer, 0, got);
                    Thread.Sleep(1);
                }
            });
            thread.Start();
            writer.Write(data, 0, data.Length);
            writer.Dispose();
            thread.Join();
            return all.ToArray().SequenceEqual(data);
        }
    }

    static string WriteToNobody() {
        using (var writer = new AnonymousPipeServerStream(PipeDirection.Out)) {
            var reader = new AnonymousPipeClientStream(PipeDirection.In, writer.ClientSafePipeHandle);
            reader.Dispose();
            writer.DisposeLocalCopyOfClientHandle();
            try {
                writer.Write(new byte[100], 0, 100);
                return "written";
            } catch (IOException e) {
                return e.GetType().Name + ", connected: " + writer.IsConnected;
            }
        }
    }
}
