public class Library
{
    public int Five() { return 5; }
}
