// The process ends with its last foreground thread while background threads start and end others all the time; a thread that
// has ended counts for nothing, whatever its IsBackground is set to then.
using System;
using System.Threading;

static class BackgroundThreadsAtExit
{
    static void Breed()
    {
        for (;;)
        {
            var brief = new Thread(() => { }) { IsBackground = true };
            brief.Start();
            brief.Join();
        }
    }

    static void Main()
    {
        for (int i = 0; i < 8; i++)
            new Thread(Breed) { IsBackground = true }.Start();
        var goOn = new ManualResetEvent(false);
        var foreground = new Thread(() =>
        {
            goOn.WaitOne();
            Thread.Sleep(100);
            Console.WriteLine("foreground thread");
        });
        foreground.Start();
        Console.WriteLine("main");
        var ended = new Thread(() => { });
        ended.Start();
        ended.Join();
        try
        {
            ended.IsBackground = false;
        }
        catch (ThreadStateException)
        {
            Console.WriteLine("too late");
        }
        goOn.Set();
    }
}
