using System;
using System.Runtime.InteropServices;

namespace Plugin
{
    public static class Entry
    {
        [DllImport("asset", EntryPoint = "SystemNative_GetPid")]
        static extern int Own();

        [DllImport("missing-asset")]
        static extern int Missing();

        public static bool CallsAsset() => Own() == Environment.ProcessId;

        public static string CallsMissing()
        {
            try { return Missing().ToString(); }
            catch (DllNotFoundException e) { return e.GetType().Name; }
        }
    }
}
