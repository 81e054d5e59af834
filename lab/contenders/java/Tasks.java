import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The workloads of virtual threads that are joined or that send; {@link Waiting} reads the options. */
final class Tasks {
    private static final int CHILDREN = 10;

    /** What ends a channel: no message is this, as a queue cannot be closed. */
    private static final Long END = -1L;

    private interface Work {
        long run() throws InterruptedException;
    }

    /** A virtual thread that returns a number. Joining it publishes the number. */
    private static final class Task implements Runnable {
        private final Work work;
        private final Thread thread;
        private long result;

        private Task(Work work) {
            this.work = work;
            thread = Thread.ofVirtual().unstarted(this);
        }

        static Task start(Work work) {
            var task = new Task(work);
            task.thread.start();
            return task;
        }

        @Override
        public void run() {
            try {
                result = work.run();
            } catch (InterruptedException problem) {
                throw new IllegalStateException("nobody interrupts a task", problem);
            }
        }

        long join() throws InterruptedException {
            thread.join();
            return result;
        }
    }

    private static long sum(Task[] tasks, int count) throws InterruptedException {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += tasks[i].join();
        }
        return sum;
    }

    static long spawn() throws InterruptedException {
        Waiting.only("--spawns", "--batch");
        long spawns = Waiting.number("--spawns", 1_000);
        int batch = Math.toIntExact(Waiting.number("--batch", 1));
        return Task.start(() -> spawns(spawns, batch)).join();
    }

    private static long spawns(long spawns, int batch) throws InterruptedException {
        long sum = 0;
        var tasks = new Task[batch];
        for (long next = 0; next < spawns; ) {
            int count = (int) Math.min(batch, spawns - next);
            for (int i = 0; i < count; i++) {
                long number = next++;
                tasks[i] = Task.start(() -> number);
            }
            sum += sum(tasks, count);
        }
        return sum & 0xffff_ffffL;
    }

    static long yields() throws InterruptedException {
        Waiting.only("--yields", "--tasks");
        long yields = Waiting.number("--yields", 1_000);
        int count = Math.toIntExact(Waiting.number("--tasks", 20));
        var tasks = new Task[count];
        for (int i = 0; i < count; i++) {
            long times = Waiting.part(yields, count, i);
            tasks[i] = Task.start(() -> {
                for (long done = 0; done < times; done++) {
                    Thread.yield();
                }
                return times;
            });
        }
        return sum(tasks, count);
    }

    /** One value, one writer, and one reader: as the ring's mailbox. Those of a pair write by turns. */
    private static final class Place {
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
            value = EMPTY;
            return number;
        }
    }

    static long pingpong() throws InterruptedException {
        Waiting.only("--trips", "--pairs");
        long trips = Waiting.number("--trips", 1_000);
        int pairs = Math.toIntExact(Waiting.number("--pairs", 1));
        var asking = new Task[pairs];
        for (int i = 0; i < pairs; i++) {
            long own = Waiting.part(trips, pairs, i);
            var ping = new Place();
            var pong = new Place();
            var second = new Task(() -> {
                for (long trip = 0; trip < own; trip++) {
                    pong.put(ping.take() + 1);
                }
                return 0;
            });
            asking[i] = new Task(() -> {
                long number = 0;
                for (long trip = 0; trip < own; trip++) {
                    ping.put(number);
                    number = pong.take() + 1;
                }
                return number;
            });
            ping.reader = second.thread;
            pong.reader = asking[i].thread;
            second.thread.start();
            asking[i].thread.start();
        }
        return sum(asking, pairs);
    }

    static long spsc() throws InterruptedException {
        Waiting.only("--messages", "--capacity");
        return through(1);
    }

    static long mpsc() throws InterruptedException {
        Waiting.only("--messages", "--senders", "--capacity", "--receive");
        String receive = Waiting.options.getOrDefault("--receive", "one");
        if (!receive.equals("one")) {
            throw new Waiting.Refused("one message at a time, not", receive);
        }
        return through(Math.toIntExact(Waiting.number("--senders", 1)));
    }

    private static long through(int senders) throws InterruptedException {
        long messages = Waiting.number("--messages", 1_000);
        BlockingQueue<Long> link = new ArrayBlockingQueue<>(Math.toIntExact(Waiting.number("--capacity", 1_024)));
        var left = new AtomicLong(senders);
        for (int i = 0; i < senders; i++) {
            long first = i;
            Task.start(() -> {
                for (long message = first; message < messages; message += senders) {
                    link.put(message);
                }
                if (left.decrementAndGet() == 0) {
                    link.put(END);
                }
                return 0;
            });
        }
        return Task.start(() -> {
            long sum = 0;
            for (long message = link.take(); message != END; message = link.take()) {
                sum += message;
            }
            return sum;
        }).join();
    }

    static long skynet() throws InterruptedException {
        Waiting.only("--leaves");
        long leaves = Waiting.number("--leaves", 1_000);
        return Task.start(() -> tree(0, leaves)).join();
    }

    private static long tree(long first, long leaves) throws InterruptedException {
        if (leaves == 1) {
            return first;
        }
        long each = leaves / CHILDREN;
        var children = new Task[CHILDREN];
        for (int i = 0; i < CHILDREN; i++) {
            long start = first + i * each;
            children[i] = Task.start(() -> tree(start, each));
        }
        return sum(children, CHILDREN);
    }
}
