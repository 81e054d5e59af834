import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread ring in Java: one virtual thread a member, one mailbox a link, or with {@code --kind queue} one queue.
 *
 * <p>A mailbox has one reader and holds one value, so it needs no lock: the writer publishes the value and unparks
 * the reader. {@code unpark} before {@code park} is not lost, and {@code park} may return for no reason, hence the
 * loop in {@link Mailbox#take}.
 */
final class Ring {
    private interface Link {
        void put(long token) throws InterruptedException;

        long take() throws InterruptedException;

        /** Told before anything is put. */
        default void readBy(Thread reader) {}
    }

    /** What {@code java.util.concurrent} has for it. */
    private static final class QueueOfOne implements Link {
        private final ArrayBlockingQueue<Long> queue = new ArrayBlockingQueue<>(1);

        @Override
        public void put(long token) throws InterruptedException {
            queue.put(token);
        }

        @Override
        public long take() throws InterruptedException {
            return queue.take();
        }
    }

    private static final class Mailbox implements Link {
        private static final long EMPTY = -1;

        private volatile long value = EMPTY;
        private Thread reader;

        @Override
        public void readBy(Thread reader) {
            this.reader = reader;
        }

        /** There is only one token, so that a full mailbox is never put into. */
        @Override
        public void put(long token) {
            value = token;
            LockSupport.unpark(reader);
        }

        @Override
        public long take() {
            long token;
            while ((token = value) == EMPTY) {
                LockSupport.park(this);
            }
            value = EMPTY;
            return token;
        }
    }

    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refused(String what, String given) {
            super(what + ": " + given);
        }
    }

    private record Options(int threads, long hops, String order, String kind) {}

    private static volatile int answer;

    public static void main(String[] words) {
        try {
            var options = parse(words);
            System.out.println(ring(options));
            System.out.flush();
            collections();
            Runtime.getRuntime().halt(0); // the other members wait for ever
        } catch (Refused refused) {
            System.err.println(refused.getMessage());
            System.exit(2);
        } catch (Throwable problem) {
            System.err.println(problem);
            System.exit(1);
        }
    }

    private static Options parse(String[] words) {
        if (words.length % 2 == 0 || !words[0].equals("ring")) {
            throw new Refused("expected ring [--option value]..., got", String.join(" ", words));
        }
        var options = new Options(503, 10_000_000, "forward", "mailbox");
        for (int i = 1; i < words.length; i += 2) {
            String text = words[i + 1];
            options = switch (words[i]) {
                case "--threads" ->
                    new Options((int) number(1, Integer.MAX_VALUE, text), options.hops, options.order, options.kind);
                case "--hops" ->
                    new Options(options.threads, number(0, Long.MAX_VALUE, text), options.order, options.kind);
                case "--order" -> new Options(options.threads, options.hops, text, options.kind);
                case "--kind" -> new Options(options.threads, options.hops, options.order, text);
                default -> throw new Refused("unknown option", words[i]);
            };
        }
        return options;
    }

    private static long number(long least, long most, String text) {
        try {
            long value = Long.parseLong(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException problem) {
            // said below
        }
        throw new Refused("expected a whole number of at least " + least + ", got", text);
    }

    /** The order in which members are created, over splitmix64 with the seed that all contenders use. */
    private static int[] creationOrder(int n, String name) {
        var order = new int[n];
        for (int k = 0; k < n; k++) {
            order[k] = name.equals("reverse") ? n - 1 - k : k;
        }
        switch (name) {
            case "forward", "reverse" -> {}
            case "shuffled" -> {
                long state = 503;
                for (int k = n - 1; k > 0; k--) {
                    state += 0x9e3779b97f4a7c15L;
                    long z = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L;
                    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
                    int j = (int) Long.remainderUnsigned(z ^ (z >>> 31), k + 1);
                    int here = order[k];
                    order[k] = order[j];
                    order[j] = here;
                }
            }
            default -> throw new Refused("unknown order (forward, reverse, shuffled)", name);
        }
        return order;
    }

    private static int ring(Options options) throws InterruptedException {
        int n = options.threads;
        var links = new Link[n];
        for (int i = 0; i < n; i++) {
            links[i] = switch (options.kind) {
                case "mailbox" -> new Mailbox();
                case "queue" -> new QueueOfOne();
                default -> throw new Refused("unknown kind (mailbox, queue)", options.kind);
            };
        }
        var finished = new CountDownLatch(1);
        for (int i : creationOrder(n, options.order)) {
            var from = links[i];
            var to = links[(i + 1) % n];
            // Starting a thread publishes what was written before; nothing is put before all are started.
            var member = Thread.ofVirtual().unstarted(() -> member(i + 1, from, to, finished));
            from.readBy(member);
            member.start();
        }
        links[0].put(options.hops);
        finished.await();
        return answer;
    }

    private static void member(int number, Link from, Link to, CountDownLatch finished) {
        try {
            while (true) {
                long token = from.take();
                if (token == 0) {
                    answer = number;
                    finished.countDown();
                    return;
                }
                to.put(token - 1);
            }
        } catch (InterruptedException problem) {
            throw new IllegalStateException("nobody interrupts a member", problem);
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
