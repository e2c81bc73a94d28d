// io: each
// mcs: -r:System.Core
// Threads that wait for anonymous pipes, more of them than a carrier could hold, hand bytes on; the end of a pipe ends a wait.
using System;
using System.IO.Pipes;
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
    }
}
