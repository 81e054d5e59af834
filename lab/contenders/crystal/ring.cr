# The thread ring in Crystal: one fiber a member, one channel a link.
#
# Channels hold one value: with unbuffered ones a ring of one member would wait for itself. A receiver
# that already waits gets the value directly, so the buffer is not touched in the steady state.

def refuse(what : String, given : String) : NoReturn
  STDERR.puts "#{what}: #{given}"
  exit 2
end

def number(least : Int64, text : String) : Int64
  value = text.to_i64?(whitespace: false)
  refuse "expected a whole number of at least #{least}, got", text if value.nil? || value < least
  value
end

# The order in which members are created, over splitmix64 with the seed that all contenders use.
def creation_order(n : Int32, name : String) : Array(Int32)
  places = Array(Int32).new(n) { |k| name == "reverse" ? n - 1 - k : k }
  return places unless name == "shuffled"
  state = 503_u64
  (n - 1).downto(1) do |k|
    state &+= 0x9e3779b97f4a7c15_u64
    z = (state ^ (state >> 30)) &* 0xbf58476d1ce4e5b9_u64
    z = (z ^ (z >> 27)) &* 0x94d049bb133111eb_u64
    places.swap(k, ((z ^ (z >> 31)) % (k + 1)).to_i32)
  end
  places
end

# A method of its own, so that each fiber has variables of its own.
def start_member(number : Int32, from : Channel(Int64), to : Channel(Int64), answer : Channel(Int32))
  spawn do
    loop do
      token = from.receive
      if token == 0
        answer.send number
        break
      end
      to.send token - 1
    end
  end
end

def ring(threads : Int32, hops : Int64, order : String) : Int32
  links = Array.new(threads) { Channel(Int64).new(1) }
  answer = Channel(Int32).new(1)
  creation_order(threads, order).each do |i|
    start_member i + 1, links[i], links[(i + 1) % threads], answer
  end
  links[0].send hops
  answer.receive
end

# Crystal's collector is libgc; these are its own counters.
def collections
  s = GC.prof_stats
  STDERR.puts "gc: gc_no=#{s.gc_no} heap_size=#{s.heap_size} " \
              "bytes_before_gc=#{s.bytes_before_gc} bytes_since_gc=#{s.bytes_since_gc}"
end

require "./waiting"

threads, hops, order = 503, 10_000_000_i64, "forward"
if ARGV.first? != "ring"
  begin
    waiting ARGV
    STDOUT.flush
  rescue problem
    STDERR.puts problem.message
    exit 1
  end
  collections
  exit 0
end
ARGV[1..].each_slice(2) do |words|
  refuse "option without a value", words[0] if words.size < 2
  case words[0]
  when "--threads"
    refuse "expected at most #{Int32::MAX}, got", words[1] if number(1, words[1]) > Int32::MAX
    threads = words[1].to_i32
  when "--hops"  then hops = number(0, words[1])
  when "--order" then order = words[1]
  else                refuse "unknown option", words[0]
  end
end
unless {"forward", "reverse", "shuffled"}.includes? order
  refuse "unknown order (forward, reverse, shuffled)", order
end

begin
  puts ring(threads, hops, order)
  STDOUT.flush
rescue problem
  STDERR.puts problem.message
  exit 1
end
collections
exit 0 # the other members wait for ever
