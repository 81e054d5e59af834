import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** The workloads beside the ring, in virtual threads: {@code Waiting WORKLOAD --option value ...}. */
final class Waiting {
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refused(String what, String given) {
            super(what + ": " + given);
        }
    }

    static final Map<String, String> options = new HashMap<>();

    public static void main(String[] words) {
        try {
            if (words.length % 2 == 0) {
                throw new Refused("expected WORKLOAD [--option value]..., got", String.join(" ", words));
            }
            for (int i = 1; i < words.length; i += 2) {
                options.put(words[i], words[i + 1]);
            }
            System.out.println(switch (words[0]) {
                case "park" -> park();
                case "mutex" -> mutex();
                case "timers" -> timers();
                case "hostage" -> hostage();
                case "spawn" -> Tasks.spawn();
                case "yield" -> Tasks.yields();
                case "pingpong" -> Tasks.pingpong();
                case "spsc" -> Tasks.spsc();
                case "mpsc" -> Tasks.mpsc();
                case "skynet" -> Tasks.skynet();
                case "http", "connect", "echo", "stuck" -> Sockets.serve(words[0]);
                default -> throw new Refused("unknown workload", words[0]);
            });
            System.out.flush();
            collections();
            Runtime.getRuntime().halt(0);
        } catch (Refused refused) {
            System.err.println(refused.getMessage());
            System.exit(2);
        } catch (Throwable problem) {
            System.err.println(problem);
            System.exit(1);
        }
    }

    static void only(String... known) {
        for (String name : options.keySet()) {
            if (!Arrays.asList(known).contains(name)) {
                throw new Refused("unknown option", name);
            }
        }
    }

    static long number(String name, long usual) {
        String text = options.get(name);
        try {
            long value = text == null ? usual : Long.parseLong(text);
            if (value >= 1) {
                return value;
            }
        } catch (NumberFormatException problem) {
            // said below
        }
        throw new Refused("expected a whole number of at least 1, got", text);
    }

    static long part(long total, long parts, long index) {
        return total / parts + (index < total % parts ? 1 : 0);
    }

    /** One value for one reader; as little as the ring's mailbox. */
    private static final class OneShot {
        private static final long EMPTY = -1;

        private volatile long value = EMPTY;
        private Thread reader;

        void put(long number) {
            value = number;
            LockSupport.unpark(reader);
        }

        long take() {
            long number;
            while ((number = value) == EMPTY) {
                LockSupport.park(this);
            }
            return number;
        }
    }

    private static long park() throws InterruptedException {
        only("--threads");
        int threads = Math.toIntExact(number("--threads", 1_000));
        var parked = new CountDownLatch(threads);
        var woken = new CountDownLatch(threads);
        var sum = new AtomicLong();
        var all = new OneShot[threads];
        for (int i = 0; i < threads; i++) {
            var own = all[i] = new OneShot();
            own.reader = Thread.ofVirtual().unstarted(() -> {
                parked.countDown();
                sum.addAndGet(own.take());
                woken.countDown();
            });
            own.reader.start();
        }
        parked.await();
        for (int i = 0; i < threads; i++) {
            all[i].put(i);
        }
        woken.await();
        return sum.get();
    }

    private static long guarded;

    private static long mutex() throws InterruptedException {
        only("--section", "--sections", "--tasks");
        long sections = number("--sections", 1_000);
        long tasks = number("--tasks", 4);
        String section = options.getOrDefault("--section", "short");
        if (!section.equals("short") && !section.equals("yield")) {
            throw new Refused("unknown section (short, yield)", section);
        }
        var lock = new ReentrantLock();
        var started = new ArrayList<Thread>();
        for (long task = 0; task < tasks; task++) {
            long times = part(sections, tasks, task);
            Runnable each = section.equals("short") ? () -> shortSections(lock, times) : () -> yielding(lock, times);
            started.add(Thread.ofVirtual().start(each));
        }
        for (Thread one : started) {
            one.join();
        }
        return guarded;
    }

    private static void shortSections(ReentrantLock lock, long times) {
        for (; times > 0; times--) {
            lock.lock();
            guarded++;
            lock.unlock();
        }
    }

    private static void yielding(ReentrantLock lock, long times) {
        for (; times > 0; times--) {
            lock.lock();
            long read = guarded;
            Thread.yield();
            guarded = read + 1;
            lock.unlock();
        }
    }

    private static long step(long state) {
        state ^= state << 13;
        state ^= state >>> 7;
        return state ^ state << 17;
    }

    /** What the library has for timers; who cancels takes them out. */
    private static long timers() throws InterruptedException {
        only("--timers", "--live", "--idle-ms");
        long count = number("--timers", 1_000);
        int live = Math.toIntExact(number("--live", 1_000));
        long idle = number("--idle-ms", 1);
        var timers = new ScheduledThreadPoolExecutor(1);
        timers.setRemoveOnCancelPolicy(true);
        Runnable nothing = () -> {};
        List<ScheduledFuture<?>> pending = new ArrayList<>(live);
        long state = 1;
        for (int i = 0; i < live; i++) {
            state = step(state);
            pending.add(timers.schedule(nothing, ahead(state), TimeUnit.SECONDS));
        }
        long cancelled = 0;
        for (; count > 0; count--) {
            state = step(state);
            int slot = (int) Long.remainderUnsigned(state, live);
            if (pending.get(slot).cancel(false)) {
                cancelled++;
            }
            pending.set(slot, timers.schedule(nothing, ahead(state), TimeUnit.SECONDS));
        }
        Thread.sleep(idle);
        return cancelled;
    }

    private static long ahead(long random) {
        return 60 + (random >>> 32) % 3_600;
    }

    private static final int TICKS_BEFORE = 50;
    private static final long TICK_AFTER_NS = 450_000_000;
    private static final AtomicLong back = new AtomicLong();
    private static volatile Throwable trouble;

    private static long hostage() throws Throwable {
        only("--by", "--hostages", "--stuck-ms", "--times");
        String by = options.getOrDefault("--by", "read");
        if (!by.equals("read") && !by.equals("spin")) {
            throw new Refused("held up by read or spin only: without native code no fault can be made to wait", by);
        }
        long count = number("--hostages", 2);
        long stuck = number("--stuck-ms", 1_000);
        long times = number("--times", 1);
        // Read when the first virtual thread is made.
        System.setProperty("jdk.virtualThreadScheduler.parallelism", Long.toString(count));
        var lateness = new Lateness();
        Thread.ofVirtual().start(() -> tick(lateness, by, count, stuck, times)).join();
        if (trouble != null) {
            throw trouble;
        }
        lateness.say();
        return back.get();
    }

    private static void tick(Lateness lateness, String by, long count, long stuck, long times) {
        try {
            while (lateness.ticks < TICKS_BEFORE) {
                lateness.tick();
            }
            for (long i = 0; i < count; i++) {
                Thread.ofVirtual().start(() -> held(by, stuck, times));
            }
            long until = System.nanoTime() + stuck * times * 1_000_000 + TICK_AFTER_NS;
            while (System.nanoTime() - until < 0 || back.get() < count) {
                lateness.tick();
            }
        } catch (InterruptedException problem) {
            trouble = problem;
        }
    }

    private static void held(String by, long stuck, long times) {
        try {
            for (long round = 0; round < times; round++) {
                if (by.equals("read")) {
                    read(stuck);
                } else {
                    spin(stuck);
                }
                Thread.yield();
            }
        } catch (Throwable problem) {
            trouble = problem;
        }
        back.incrementAndGet();
    }

    /** Reads from a pipe whose other end a process has that does nothing until the time is over. */
    private static void read(long stuck) throws Exception {
        String seconds = String.format(Locale.ROOT, "%.3f", stuck / 1e3);
        var holder = new ProcessBuilder("sleep", seconds).start();
        try (var pipe = holder.getInputStream()) {
            pipe.read();
        }
    }

    private static void spin(long stuck) {
        long until = System.nanoTime() + stuck * 1_000_000;
        while (System.nanoTime() - until < 0) {
            Thread.onSpinWait();
        }
    }

    private static final class Lateness {
        private final long[] late = new long[1_000_000];
        private int ticks;

        /** Sleeps once; the deadline counts from now on, so that one long hole is one late tick. */
        void tick() throws InterruptedException {
            long deadline = System.nanoTime() + 1_000_000;
            Thread.sleep(1);
            late[ticks++] = System.nanoTime() - deadline;
        }

        void say() {
            Arrays.sort(late, 0, ticks);
            System.err.printf(
                Locale.ROOT,
                "figures: ticks=%d late_ms_p50=%.4f late_ms_p99=%.4f late_ms_max=%.4f%n",
                ticks, at(0.5), at(0.99), at(1));
        }

        private double at(double share) {
            return late[(int) Math.ceil(share * ticks) - 1] / 1e6;
        }
    }

    /** The sums over all collectors, under the names of their bean. */
    private static void collections() {
        long count = 0;
        long time = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += Math.max(collector.getCollectionCount(), 0);
            time += Math.max(collector.getCollectionTime(), 0);
        }
        System.err.println("gc: CollectionCount=" + count + " CollectionTime=" + time);
    }
}
