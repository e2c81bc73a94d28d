// Ends after some reports, with an exit code of its own.
static class Program {
    static int Main () {
        System.Threading.Thread.Sleep (700);
        System.Console.WriteLine (1);
        return 7;
    }
}
