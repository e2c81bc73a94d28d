// A collectible context is unloaded while another thread asks for the context of its assembly, and other handles take up what becomes free.
using System;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;

static class Test
{
    sealed class Asking(Assembly assembly, AssemblyLoadContext context)
    {
        public volatile bool HasBegun, IsDone;
        public int Wrong;

        public void Run()
        {
            while (!IsDone)
            {
                try
                {
                    if (!ReferenceEquals(AssemblyLoadContext.GetLoadContext(assembly), context))
                        Wrong++;
                }
                catch (Exception e) when (e is InvalidCastException or NullReferenceException or InvalidOperationException)
                {
                    Wrong++;
                }
                HasBegun = true;
            }
        }
    }

    static void Main()
    {
        byte[] self = File.ReadAllBytes(typeof(Test).Assembly.Location);
        int wrong = 0;
        for (int i = 0; i < 300; i++)
        {
            var context = new AssemblyLoadContext("asked", isCollectible: true);
            Assembly assembly = context.LoadFromStream(new MemoryStream(self));
            var asking = new Asking(assembly, context);
            var thread = new Thread(asking.Run);
            thread.Start();
            while (!asking.HasBegun)
                Thread.Yield();
            context.Unload();
            var handles = new GCHandle[64];
            for (int h = 0; h < handles.Length; h++)
                handles[h] = GCHandle.Alloc("another", GCHandleType.WeakTrackResurrection);
            Thread.Yield();
            asking.IsDone = true;
            thread.Join();
            foreach (GCHandle handle in handles)
                handle.Free();
            wrong += asking.Wrong;
        }
        Console.WriteLine(wrong);
    }
}
