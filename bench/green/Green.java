// The benchmarks of Program.cs for Java: virtual threads, synchronized with wait and notify, java.util.concurrent's semaphores.
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

final class Green {
    interface Body { void run() throws Throwable; }
    interface Counted { void run(long count) throws Throwable; }

    static void print(String name, double value) { System.out.printf(Locale.ROOT, "%s %.3f%n", name, value); }

    static double secondsOf(Counted run, long count) throws Throwable {
        long start = System.nanoTime();
        run.run(count);
        return (System.nanoTime() - start) / 1e9;
    }

    // Nanoseconds an operation: see Figures.Nanoseconds. Some more rounds of full length, until the compiler is through.
    static double nanoseconds(long first, Counted run) throws Throwable {
        final double targetSeconds = 0.5;
        final int rounds = 6;
        long count = first;
        for (;;) {
            double seconds = secondsOf(run, count);
            if (seconds >= targetSeconds / 3) break;
            count *= (long) Math.max(2, Math.min(10, targetSeconds / (seconds + 1e-6)));
        }
        double best = Double.MAX_VALUE;
        for (int round = 0; round < rounds; round++) best = Math.min(best, secondsOf(run, count));
        return best * 1e9 / count;
    }

    static double statusBytes(String name) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith(name + ":"))
                return 1024.0 * Long.parseLong(line.substring(name.length() + 1).replace("kB", "").trim());
        throw new IllegalStateException(name);
    }

    static Thread start(Body body) {
        return Thread.startVirtualThread(() -> {
            try {
                body.run();
            } catch (Throwable e) {
                e.printStackTrace();
                System.exit(1);
            }
        });
    }

    static void runAll(Body... bodies) throws Throwable {
        Thread[] threads = new Thread[bodies.length];
        for (int i = 0; i < bodies.length; i++) threads[i] = start(bodies[i]);
        for (Thread thread : threads) thread.join();
    }

    interface Cell {
        void take() throws Throwable;
        void give();
    }

    static final class MonitorCell implements Cell {
        boolean hasToken;
        public synchronized void take() throws Throwable {
            while (!hasToken) wait();
            hasToken = false;
        }
        public synchronized void give() {
            hasToken = true;
            notify();
        }
    }

    static final class SemaphoreCell implements Cell {
        final Semaphore semaphore = new Semaphore(0);
        public void take() throws Throwable { semaphore.acquire(); }
        public void give() { semaphore.release(); }
    }

    static final class Ring {
        final Cell[] cells;
        final Thread[] members;
        final Semaphore isDone = new Semaphore(0);
        long hopsLeft;
        int last;

        Ring(boolean withMonitors, int size, int depth) {
            cells = new Cell[size];
            members = new Thread[size];
            for (int i = 0; i < size; i++) cells[i] = withMonitors ? new MonitorCell() : new SemaphoreCell();
            for (int i = 0; i < size; i++) {
                int member = i;
                members[i] = Green.start(() -> descend(depth, member));
            }
        }

        int descend(int depth, int member) throws Throwable {
            if (depth == 0) {
                loop(member);
                return 0;
            }
            return descend(depth - 1, member) + 1;
        }

        void loop(int member) throws Throwable {
            int next = member + 1 == cells.length ? 0 : member + 1;
            for (;;) {
                cells[member].take();
                long left = hopsLeft;
                if (left > 0) {
                    hopsLeft = left - 1;
                    cells[next].give();
                } else if (left == 0) {
                    last = member;
                    isDone.release();
                } else {
                    if (next != 0) cells[next].give();
                    return;
                }
            }
        }

        void pass(long hops) throws Throwable {
            hopsLeft = hops;
            cells[0].give();
            isDone.acquire();
        }

        void stop() throws Throwable {
            hopsLeft = -1;
            cells[0].give();
            for (Thread member : members) member.join();
        }
    }

    static void ring(boolean withMonitors, int size, int depth) throws Throwable {
        Ring ring = new Ring(withMonitors, size, depth);
        print("hop", nanoseconds(size, ring::pass));
        print("at", size);
        ring.stop();
    }

    static void threadRing(int size, int hops) throws Throwable {
        long start = System.nanoTime();
        Ring ring = new Ring(true, size, 0);
        ring.pass(hops);
        double seconds = (System.nanoTime() - start) / 1e9;
        if (ring.last != hops % size) throw new IllegalStateException("the token ended at " + ring.last);
        print("seconds", seconds * 50e6 / hops);
        print("at", hops);
        ring.stop();
    }

    static void create() throws Throwable {
        print("create", nanoseconds(100, count -> {
            for (long i = 0; i < count; i++) start(() -> { }).join();
        }));
    }

    static CountDownLatch gate;

    static Thread[] gather(int count) throws Throwable {
        CountDownLatch gate = Green.gate = new CountDownLatch(1);
        AtomicInteger parked = new AtomicInteger();
        Body body = () -> {
            parked.incrementAndGet();
            gate.await();
        };
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) threads[i] = start(body);
        while (parked.get() < count) Thread.sleep(1);
        return threads;
    }

    static void release(Thread[] threads) throws Throwable {
        gate.countDown();
        for (Thread thread : threads) thread.join();
    }

    static void park(int count, int rounds) throws Throwable {
        release(gather(10));
        System.gc();
        double resident = statusBytes("VmRSS"), tables = statusBytes("VmPTE"), next = Double.MAX_VALUE;
        for (int round = 0; round < rounds; round++) {
            long start = System.nanoTime();
            Thread[] threads = gather(count);
            long spent = System.nanoTime() - start;
            if (round == 0) {
                System.gc();
                print("resident", (statusBytes("VmRSS") - resident) / count);
                print("tables", (statusBytes("VmPTE") - tables) / count);
            }
            start = System.nanoTime();
            release(threads);
            double microseconds = (spent + System.nanoTime() - start) / 1e3 / count;
            if (round == 0) print("first", microseconds);
            else next = Math.min(next, microseconds);
        }
        if (rounds > 1) print("next", next);
        print("at", count);
    }

    static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(b -> b.getCollectionCount()).sum();
    }

    static void pauses(int count) throws Throwable {
        final int wanted = 60, objectsPerStep = 500;
        Thread[] threads = gather(count);
        System.gc();
        ArrayList<Double> gaps = new ArrayList<>();
        byte[][] kept = new byte[1000][];
        long seen = collections(), begun = System.nanoTime();
        int place = 0;
        while (gaps.size() < wanted && System.nanoTime() - begun < 20e9) {
            long start = System.nanoTime();
            for (int i = 0; i < objectsPerStep; i++) kept[place++ % kept.length] = new byte[100];
            long end = System.nanoTime(), now = collections();
            if (now != seen) gaps.add((end - start) / 1e6);
            seen = now;
        }
        if (gaps.size() < 3) throw new IllegalStateException("only " + gaps.size() + " collections");
        Collections.sort(gaps);
        print("p50", gaps.get(gaps.size() / 2));
        print("max", gaps.get(gaps.size() - 1));
        print("at", count);
        release(threads);
    }

    static void yields() throws Throwable {
        print("switch", nanoseconds(10000, count -> {
            Body body = () -> { for (long i = 0; i < count / 2; i++) Thread.yield(); };
            runAll(body, body);
        }));
    }

    static final class Game {
        int turn;
        synchronized void play(int me, long count) throws Throwable {
            for (long i = 0; i < count; i++) {
                while (turn != me) wait();
                turn = 1 - me;
                notify();
            }
        }
    }

    static void pingPong() throws Throwable {
        print("hand-over", nanoseconds(1000, count -> {
            Game game = new Game();
            runAll(() -> game.play(0, count / 2), () -> game.play(1, count / 2));
        }));
    }

    static long shared;

    static void contendedLock(int threads) throws Throwable {
        Object gate = new Object();
        print("lock", nanoseconds(100000, count -> {
            shared = 0;
            Body[] bodies = new Body[threads];
            for (int t = 0; t < threads; t++)
                bodies[t] = () -> { for (long i = 0; i < count / threads; i++) synchronized (gate) { shared++; } };
            runAll(bodies);
            if (shared != count / threads * threads) throw new IllegalStateException("lost updates");
        }));
    }

    static final class BoundedBuffer {
        final long[] items;
        int first, count;
        BoundedBuffer(int capacity) { items = new long[capacity]; }
        synchronized void put(long item) throws Throwable {
            while (count == items.length) wait();
            items[(first + count) % items.length] = item;
            if (++count == 1) notifyAll();
        }
        synchronized long take() throws Throwable {
            while (count == 0) wait();
            long item = items[first];
            first = (first + 1) % items.length;
            if (count-- == items.length) notifyAll();
            return item;
        }
    }

    static void boundedQueue(int capacity) throws Throwable {
        print("item", nanoseconds(10000, count -> {
            BoundedBuffer buffer = new BoundedBuffer(capacity);
            AtomicLong sum = new AtomicLong();
            long half = count / 2;
            Body produce = () -> { for (long i = 0; i < half; i++) buffer.put(i); };
            Body consume = () -> {
                long mine = 0;
                for (long i = 0; i < half; i++) mine += buffer.take();
                sum.addAndGet(mine);
            };
            runAll(produce, consume, produce, consume);
            if (sum.get() != half * (half - 1)) throw new IllegalStateException("wrong sum");
        }));
    }

    static void sleepers(int count) throws Throwable {
        long start = System.nanoTime();
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) threads[i] = start(() -> Thread.sleep(100));
        for (Thread thread : threads) thread.join();
        print("seconds", (System.nanoTime() - start) / 1e9);
        print("at", count);
    }

    static volatile boolean stop;
    static final AtomicLong sink = new AtomicLong();
    static double worst;

    static void ticker(int hogs) throws Throwable {
        final double measuredSeconds = 3;
        for (int i = 0; i < hogs; i++)
            start(() -> {
                long mine = 1;
                while (!stop) mine = mine * 31 + 7;
                sink.addAndGet(mine);
            });
        runAll(() -> {
            long begun = System.nanoTime(), before = begun;
            while (before - begun < measuredSeconds * 1e9) {
                Thread.sleep(1);
                long now = System.nanoTime();
                worst = Math.max(worst, (now - before) / 1e6);
                before = now;
            }
        });
        stop = true;
        print("gap", worst);
    }

    static long compute(long value) {
        for (int i = 0; i < 100000; i++) value = value * 6364136223846793005L + 1442695040888963407L;
        return value;
    }

    static void scale(int count) throws Throwable {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < 4; round++)
            best = Math.min(best, secondsOf(total -> {
                Thread[] threads = new Thread[(int) total];
                for (int i = 0; i < total; i++) {
                    int seed = i;
                    threads[i] = start(() -> sink.addAndGet(compute(seed)));
                }
                for (Thread thread : threads) thread.join();
            }, count));
        print("seconds", best);
    }

    static void blocking(int count, int milliseconds) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle usleep = linker.downcallHandle(linker.defaultLookup().find("usleep").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        double best = Double.MAX_VALUE;
        for (int round = 0; round < 3; round++)
            best = Math.min(best, 1000 * secondsOf(total -> {
                Thread[] threads = new Thread[(int) total];
                for (int i = 0; i < total; i++)
                    threads[i] = start(() -> { int ignored = (int) usleep.invokeExact(milliseconds * 1000); });
                for (Thread thread : threads) thread.join();
            }, count));
        print("milliseconds", best);
    }

    static int number(String[] arguments, int place) { return Integer.parseInt(arguments[place]); }

    public static void main(String[] arguments) throws Throwable {
        switch (arguments[0]) {
            case "switch" -> yields();
            case "ring" -> ring(arguments[1].equals("monitor"), number(arguments, 2), number(arguments, 3));
            case "thread-ring" -> threadRing(number(arguments, 1), number(arguments, 2));
            case "create" -> create();
            case "park" -> park(number(arguments, 1), number(arguments, 3));
            case "pause" -> pauses(number(arguments, 1));
            case "ping-pong" -> pingPong();
            case "lock" -> contendedLock(number(arguments, 1));
            case "queue" -> boundedQueue(number(arguments, 1));
            case "sleepers" -> sleepers(number(arguments, 1));
            case "ticker" -> ticker(number(arguments, 1));
            case "scale" -> scale(number(arguments, 1));
            case "blocking" -> blocking(number(arguments, 1), number(arguments, 2));
            default -> {
                System.err.println("no such benchmark: " + arguments[0]);
                System.exit(2);
            }
        }
    }
}
