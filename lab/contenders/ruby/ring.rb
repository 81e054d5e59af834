# The thread ring in Ruby: one Thread a member, a Queue a link.
#
# A Thread has been a kernel thread since Ruby 1.9, and one lock lets one of them run at a time.

def fail_with(what, given)
  warn "#{what}: #{given}"
  exit!(2)
end

def parse(words)
  ring = { "--threads" => 503, "--hops" => 10_000_000, "--order" => "forward" }
  fail_with("expected", "ring [--option value]...") unless words[0] == "ring" && words.size.odd?
  words.drop(1).each_slice(2) do |option, value|
    fail_with("unknown option", option) unless ring.key?(option)
    if option == "--order"
      known = %w[forward reverse shuffled].include?(value)
      fail_with("unknown order (forward, reverse, shuffled)", value) unless known
    else
      least = option == "--threads" ? 1 : 0
      number = Integer(value, 10, exception: false)
      fail_with("expected a larger whole number, got", value) if number.nil? || number < least
      value = number
    end
    ring[option] = value
  end
  ring.values
end

# Fisher-Yates over splitmix64 with the seed that all contenders use.
def creation_order(size, name)
  order = (0...size).to_a
  order.reverse! if name == "reverse"
  return order unless name == "shuffled"
  word = 2**64 - 1
  state = 503
  (size - 1).downto(1) do |k|
    state = (state + 0x9e3779b97f4a7c15) & word
    z = ((state ^ (state >> 30)) * 0xbf58476d1ce4e5b9) & word
    z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & word
    j = (z ^ (z >> 31)) % (k + 1)
    order[k], order[j] = order[j], order[k]
  end
  order
end

def member(number, input, output, answer)
  while (token = input.pop) != 0
    output.push(token - 1)
  end
  answer.push(number)
end

begin
  threads, hops, order = parse(ARGV)
  links = Array.new(threads) { Queue.new }
  answer = Queue.new
  creation_order(threads, order).each do |i|
    Thread.new { member(i + 1, links[i], links[(i + 1) % threads], answer) }
  end
  links[0].push(hops)
  number = answer.pop
  stat = GC.stat
  known = stat.slice(:count, :minor_gc_count, :major_gc_count, :time) # time is there since Ruby 3.1
  warn "gc: " + known.map { |name, value| "#{name}=#{value}" }.join(" ")
  puts number
  $stdout.flush
  exit!(0) # the other threads wait for ever; they need not be killed one by one
rescue StandardError, NoMemoryError => error
  warn error.message.lines.first
  exit!(1)
end
