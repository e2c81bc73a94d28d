// A picture blurred by a 3×3 kernel, with Mono.Simd. Where the runtime has no such assembly its managed code runs.
using System;
using Mono.Simd;

static class ImageBlur
{
    const int Width = 256;
    const int Height = 256;

    static void Blur(Vector4f[] from, Vector4f[] to)
    {
        var half = new Vector4f(0.25f);
        var quarter = new Vector4f(0.125f);
        var eighth = new Vector4f(0.0625f);
        for (int y = 1; y < Height - 1; y++)
            for (int i = y * Width + 1; i < (y + 1) * Width - 1; i++)
            {
                var sides = from[i - 1] + from[i + 1] + from[i - Width] + from[i + Width];
                var corners = from[i - Width - 1] + from[i - Width + 1] + from[i + Width - 1] + from[i + Width + 1];
                to[i] = from[i] * half + sides * quarter + corners * eighth;
            }
    }

    static void Main()
    {
        var picture = new Vector4f[Width * Height];
        var other = new Vector4f[Width * Height];
        for (int i = 0; i < picture.Length; i++)
            picture[i] = new Vector4f(i % 256, i / 256, (i * 7) % 256, 255);
        for (int round = 0; round < 400; round++)
        {
            Blur(picture, other);
            var last = picture;
            picture = other;
            other = last;
        }
        double total = 0;
        foreach (var pixel in picture)
            total += pixel.X + pixel.Y + pixel.Z + pixel.W;
        Console.WriteLine((long)total);
    }
}
