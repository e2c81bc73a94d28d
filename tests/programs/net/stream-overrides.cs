// What the asynchronous calls of Stream do in classes that override Read and Write alone, or BeginRead and EndRead, too.
using System;
using System.IO;
using System.Threading.Tasks;

class Plain : Stream
{
    public override bool CanRead => true;
    public override bool CanSeek => false;
    public override bool CanWrite => true;
    public override long Length => throw new NotSupportedException();
    public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }
    public override void Flush() { }
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
    public override void SetLength(long value) => throw new NotSupportedException();
    public override int Read(byte[] buffer, int offset, int count) { Console.WriteLine("read " + count); return count; }
    public override void Write(byte[] buffer, int offset, int count) => Console.WriteLine("write " + count);
}

class Older : Plain
{
    public override IAsyncResult BeginRead(byte[] buffer, int offset, int count, AsyncCallback callback, object state)
    {
        Console.WriteLine("begin " + count);
        var source = new TaskCompletionSource<int>(state);
        source.SetResult(count);
        callback?.Invoke(source.Task);
        return source.Task;
    }

    public override int EndRead(IAsyncResult result)
    {
        Console.WriteLine("end");
        return ((Task<int>)result).Result;
    }
}

class Derived : Older { }

static class Test
{
    static async Task Main()
    {
        var buffer = new byte[8];
        foreach (Stream stream in new Stream[] { new Plain(), new Older(), new Derived() })
        {
            Console.WriteLine(stream.GetType().Name);
            Console.WriteLine(await stream.ReadAsync(buffer, 0, 3));
            Console.WriteLine(await stream.ReadAsync(buffer.AsMemory(0, 4)));
            await stream.WriteAsync(buffer, 0, 5);
            Console.WriteLine(stream.EndRead(stream.BeginRead(buffer, 0, 2, null, null)));
        }
    }
}
