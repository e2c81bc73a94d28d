// Bytes through pipes and files.
using System;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Threading;

static class Transfers
{
    const int Rounds = 3;
    const int Hops = 50000;
    const int CopiedBytes = 256 << 20;
    const int ChunkBytes = 64 << 10;

    sealed class Pipe
    {
        public readonly AnonymousPipeServerStream Writer = new AnonymousPipeServerStream(PipeDirection.Out);
        public readonly AnonymousPipeClientStream Reader;
        public Pipe() { Reader = new AnonymousPipeClientStream(PipeDirection.In, Writer.ClientSafePipeHandle); }
    }

    // Two threads hand a byte to and fro.
    public static void PipePingPong()
    {
        Pipe there = new Pipe(), back = new Pipe();
        var echo = new Thread(() =>
        {
            var one = new byte[1];
            while (there.Reader.Read(one, 0, 1) == 1)
                back.Writer.Write(one, 0, 1);
        }) { IsBackground = true };
        echo.Start();
        var token = new byte[1];
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            var watch = Stopwatch.StartNew();
            for (int i = 0; i < Hops; i++)
            {
                there.Writer.Write(token, 0, 1);
                if (back.Reader.Read(token, 0, 1) != 1)
                    throw new EndOfStreamException();
            }
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e3 / (2 * Hops));
        }
        Program.Print("pipe", best);
    }

    public static void CopyFile()
    {
        string from = Path.GetTempFileName(), to = Path.GetTempFileName();
        try
        {
            var chunk = new byte[ChunkBytes];
            using (var source = File.Create(from))
                for (int i = 0; i < CopiedBytes / ChunkBytes; i++)
                    source.Write(chunk, 0, chunk.Length);
            double best = double.MaxValue;
            for (int round = 0; round < Rounds; round++)
            {
                var watch = Stopwatch.StartNew();
                using (var source = new FileStream(from, FileMode.Open, FileAccess.Read, FileShare.Read, 1))
                using (var target = new FileStream(to, FileMode.Create, FileAccess.Write, FileShare.None, 1))
                    for (int got; (got = source.Read(chunk, 0, chunk.Length)) > 0; )
                        target.Write(chunk, 0, got);
                best = Math.Min(best, watch.Elapsed.TotalMilliseconds);
            }
            Program.Print("copy", best);
        }
        finally
        {
            File.Delete(from);
            File.Delete(to);
        }
    }
}
