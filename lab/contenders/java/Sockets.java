import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Servers with a virtual thread a connection. */
final class Sockets {
    private static final byte[] REPLY = ascii(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\nThe same 32 bytes for everybody\n");
    private static final byte[] END = ascii("\r\n\r\n");
    private static final byte[] STUCK = ascii("GET /stuck");
    private static final int BACKLOG = 1024;

    private static String talk;
    private static Holder holder;

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Prints its port and serves until a signal ends it. */
    static String serve(String asked) throws Exception {
        talk = asked;
        if (talk.equals("stuck")) {
            holder = new Holder(Waiting.number("--stuck-ms", 1_000));
            // Read when the first virtual thread is made.
            System.setProperty("jdk.virtualThreadScheduler.parallelism", Long.toString(Waiting.number("--workers", 2)));
        }
        try (var listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress())) {
            System.out.println("port " + listener.getLocalPort());
            System.out.flush();
            while (true) {
                Socket socket = listener.accept();
                socket.setTcpNoDelay(true);
                Thread.ofVirtual().start(() -> serve(socket));
            }
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            // Nobody says that there is something to read before it has been given a place.
            byte[] buffer = new byte[4096];
            int seen = 0;
            int count;
            while ((count = in.read(buffer)) > 0) {
                if (talk.equals("echo")) {
                    out.write(buffer, 0, count);
                    continue;
                }
                if (holder != null && begins(buffer, count)) {
                    holder.hold();
                }
                for (int i = 0; i < count; i++) {
                    seen = buffer[i] == END[seen] ? seen + 1 : buffer[i] == END[0] ? 1 : 0;
                    if (seen == END.length) {
                        seen = 0;
                        out.write(REPLY);
                        if (talk.equals("connect")) {
                            return;
                        }
                    }
                }
            }
        } catch (Exception end) {
            // Whatever goes wrong with a connection is its end, and nobody else's.
        }
    }

    /**
     * Holds a thread up in a read from a named pipe, which a thread of the system writes to when the time is over. A read
     * from a process that was started would not do: for that one JDK 25 runs one more thread meanwhile, for files none.
     */
    private static final class Holder {
        private final RandomAccessFile pipe;
        private final FileInputStream in;
        private final long stuck;
        private final ScheduledExecutorService waker = Executors.newSingleThreadScheduledExecutor();

        Holder(long stuck) throws Exception {
            this.stuck = stuck;
            Path name = Files.createTempDirectory("lab").resolve("pipe");
            new ProcessBuilder("mkfifo", name.toString()).inheritIO().start().waitFor();
            // With both ends, so that nobody waits for the other one to open it.
            pipe = new RandomAccessFile(name.toFile(), "rw");
            in = new FileInputStream(name.toFile());
            Files.delete(name);
            Files.delete(name.getParent());
        }

        void hold() throws IOException {
            waker.schedule(this::release, stuck, TimeUnit.MILLISECONDS);
            in.read();
        }

        private void release() {
            try {
                pipe.write(1);
            } catch (IOException problem) {
                System.err.println(problem);
            }
        }
    }

    private static boolean begins(byte[] buffer, int count) {
        for (int i = 0; i < STUCK.length; i++) {
            if (i >= count || buffer[i] != STUCK[i]) {
                return false;
            }
        }
        return true;
    }
}
