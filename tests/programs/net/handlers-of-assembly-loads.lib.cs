using System.Collections.Generic;

namespace Library
{
    public class Parent
    {
        public LinkedList<int> Numbers = new(new[] { 1, 2, 3 });
    }
}
