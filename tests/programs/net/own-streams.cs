// Asynchronous reads and writes of streams whose classes have synchronous methods, or only the older asynchronous ones.
using System;
using System.IO;
using System.Threading.Tasks;

class Synchronous : Stream
{
    public override bool CanRead => true;
    public override bool CanSeek => false;
    public override bool CanWrite => true;
    public override long Length => 0;
    public override long Position { get; set; }
    public override void Flush() { }
    public override int Read(byte[] buffer, int offset, int count)
    {
        buffer[offset] = 7;
        return 1;
    }
    public override long Seek(long offset, SeekOrigin origin) => 0;
    public override void SetLength(long value) { }
    public override void Write(byte[] buffer, int offset, int count) => Console.WriteLine($"{GetType().Name} writes {count}");
}

class OwnBegin : Synchronous
{
    public override IAsyncResult BeginRead(byte[] buffer, int offset, int count, AsyncCallback callback, object state)
    {
        Console.WriteLine("begins to read");
        return base.BeginRead(buffer, offset, count, callback, state);
    }
    public override IAsyncResult BeginWrite(byte[] buffer, int offset, int count, AsyncCallback callback, object state)
    {
        Console.WriteLine("begins to write");
        return base.BeginWrite(buffer, offset, count, callback, state);
    }
}

static class Program
{
    static async Task Main()
    {
        var buffer = new byte[4];
        foreach (Stream stream in new Stream[] { new Synchronous(), new OwnBegin() })
        {
            Console.WriteLine($"{await stream.ReadAsync(buffer, 0, 4)} {buffer[0]}");
            await stream.WriteAsync(buffer, 0, 4);
            await stream.WriteAsync(buffer.AsMemory(1));
            Console.WriteLine(await stream.ReadAsync(buffer.AsMemory(2)));
        }
    }
}
