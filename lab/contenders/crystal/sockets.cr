# Servers with a fiber a connection: `crystal_sockets http|connect|echo ...`. It prints its port and serves until a
# signal ends it; the options are the client's own.
#
# A fiber waits until there is something to read and then uses the buffer that all share: nothing else runs between
# reading and writing.
require "socket"

REPLY  = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\nThe same 32 bytes for everybody\n".to_slice
FINISH = "\r\n\r\n".to_slice
BUFFER = Bytes.new(4096)

def serve(socket : TCPSocket, talk : String)
  seen = 0
  loop do
    socket.wait_readable
    count = socket.read(BUFFER)
    return if count == 0
    if talk == "echo"
      socket.write(BUFFER[0, count])
      next
    end
    count.times do |i|
      byte = BUFFER.unsafe_fetch(i)
      seen = byte == FINISH.unsafe_fetch(seen) ? seen + 1 : byte == FINISH.unsafe_fetch(0) ? 1 : 0
      next if seen < 4
      seen = 0
      socket.write(REPLY)
      return if talk == "connect"
    end
  end
rescue IO::Error
  # Whatever goes wrong with a connection is its end, and nobody else's.
ensure
  socket.close
end

talk = ARGV[0]? || ""
unless {"http", "connect", "echo"}.includes?(talk)
  abort "expected http, connect or echo"
end
listener = TCPServer.new("127.0.0.1", 0, backlog: 1024)
puts "port #{listener.local_address.port}"
STDOUT.flush
while socket = listener.accept?
  socket.tcp_nodelay = true
  socket.sync = true
  socket.read_buffering = false
  spawn serve(socket, talk)
end
