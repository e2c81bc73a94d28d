// Integers and small arrays: pancake flips over all permutations.
using System;

static class Fannkuch
{
    static void Main()
    {
        const int n = 10;
        int[] permutation = new int[n], flipped = new int[n], count = new int[n];
        for (int i = 0; i < n; i++)
            permutation[i] = i;
        int maxFlips = 0, checksum = 0, round = 0, r = n;
        while (true)
        {
            for (; r != 1; r--)
                count[r - 1] = r;
            for (int i = 0; i < n; i++)
                flipped[i] = permutation[i];
            int flips = 0;
            for (int first = flipped[0]; first != 0; first = flipped[0])
            {
                for (int low = 0, high = first; low < high; low++, high--)
                {
                    int t = flipped[low];
                    flipped[low] = flipped[high];
                    flipped[high] = t;
                }
                flips++;
            }
            if (flips > maxFlips)
                maxFlips = flips;
            checksum += (round & 1) == 0 ? flips : -flips;
            while (true)
            {
                if (r == n)
                {
                    Console.WriteLine("{0}\nPfannkuchen({1}) = {2}", checksum, n, maxFlips);
                    return;
                }
                int moved = permutation[0];
                for (int i = 0; i < r; i++)
                    permutation[i] = permutation[i + 1];
                permutation[r] = moved;
                if (--count[r] > 0)
                    break;
                r++;
            }
            round++;
        }
    }
}
