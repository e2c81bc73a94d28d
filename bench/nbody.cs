// Floating point and field access: planets attract each other, step by step.
using System;
using System.Globalization;

sealed class Body
{
    public double X, Y, Z, VX, VY, VZ, Mass;
}

static class NBody
{
    const double Days = 365.24;
    const double SolarMass = 4 * Math.PI * Math.PI;

    static Body Planet(double x, double y, double z, double vx, double vy, double vz, double mass)
    {
        return new Body { X = x, Y = y, Z = z, VX = vx * Days, VY = vy * Days, VZ = vz * Days, Mass = mass * SolarMass };
    }

    static void Advance(Body[] bodies, double dt)
    {
        for (int i = 0; i < bodies.Length; i++)
        {
            Body a = bodies[i];
            for (int j = i + 1; j < bodies.Length; j++)
            {
                Body b = bodies[j];
                double dx = a.X - b.X, dy = a.Y - b.Y, dz = a.Z - b.Z;
                double square = dx * dx + dy * dy + dz * dz;
                double magnitude = dt / (square * Math.Sqrt(square));
                a.VX -= dx * b.Mass * magnitude;
                a.VY -= dy * b.Mass * magnitude;
                a.VZ -= dz * b.Mass * magnitude;
                b.VX += dx * a.Mass * magnitude;
                b.VY += dy * a.Mass * magnitude;
                b.VZ += dz * a.Mass * magnitude;
            }
        }
        foreach (Body b in bodies)
        {
            b.X += dt * b.VX;
            b.Y += dt * b.VY;
            b.Z += dt * b.VZ;
        }
    }

    static double Energy(Body[] bodies)
    {
        double energy = 0;
        for (int i = 0; i < bodies.Length; i++)
        {
            Body a = bodies[i];
            energy += 0.5 * a.Mass * (a.VX * a.VX + a.VY * a.VY + a.VZ * a.VZ);
            for (int j = i + 1; j < bodies.Length; j++)
            {
                Body b = bodies[j];
                double dx = a.X - b.X, dy = a.Y - b.Y, dz = a.Z - b.Z;
                energy -= a.Mass * b.Mass / Math.Sqrt(dx * dx + dy * dy + dz * dz);
            }
        }
        return energy;
    }

    static void Main()
    {
        Body[] bodies =
        {
            Planet(0, 0, 0, 0, 0, 0, 1),
            Planet(4.84143144246472090, -1.16032004402742839, -0.103622044471123109,
                0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023, 0.000954791938424326609),
            Planet(8.34336671824457987, 4.12479856412430479, -0.403523417114321381,
                -0.00276742510726411899, 0.00499852801234917238, 0.0000230417297573763929, 0.000285885980666130812),
            Planet(12.8943695621391310, -15.1111514016986312, -0.223307578892655734,
                0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556, 0.0000436624404335156298),
            Planet(15.3796971148509165, -25.9193146099879641, 0.179258772950371181,
                0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870, 0.0000515138902046611451),
        };
        double px = 0, py = 0, pz = 0;
        foreach (Body b in bodies)
        {
            px += b.VX * b.Mass;
            py += b.VY * b.Mass;
            pz += b.VZ * b.Mass;
        }
        bodies[0].VX = -px / SolarMass;
        bodies[0].VY = -py / SolarMass;
        bodies[0].VZ = -pz / SolarMass;
        Console.WriteLine(Energy(bodies).ToString("F9", CultureInfo.InvariantCulture));
        for (int i = 0; i < 5000000; i++)
            Advance(bodies, 0.01);
        Console.WriteLine(Energy(bodies).ToString("F9", CultureInfo.InvariantCulture));
    }
}
