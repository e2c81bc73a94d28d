// The pool begins with as many workers for each processor as MONO_THREADS_PER_CPU says.
// env: MONO_THREADS_PER_CPU=3

using System;
using System.Threading;

class PoolThreadsPerCpu {
	static void Main ()
	{
		int workers, io;
		ThreadPool.GetMinThreads (out workers, out io);
		Console.WriteLine (workers == 3 * Environment.ProcessorCount);
		ThreadPool.GetMaxThreads (out workers, out io);
		Console.WriteLine (workers == 300 * Environment.ProcessorCount);
	}
}
