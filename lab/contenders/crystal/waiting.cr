# The workloads about waiting in Crystal: fibers, channels, its Mutex. A part of the ring's program, as each build
# takes half a minute.

# the build links it: ../c/hold.c.
lib Hold
  fun hold_read(milliseconds : LibC::Int) : LibC::Int
  fun hold_fault(milliseconds : LibC::Int) : LibC::Int
end

OPTIONS = {} of String => String

def only(*known)
  OPTIONS.each_key { |name| refuse "unknown option", name unless known.includes? name }
end

def option(name : String, usual : Int64) : Int64
  return usual unless text = OPTIONS[name]?
  number 1, text
end

def part(total : Int64, parts : Int64, index : Int64) : Int64
  total // parts + (index < total % parts ? 1 : 0)
end

# Each fiber waits on a channel of one; the counts are plain, or atomic with several workers.
def park : Int64
  only "--threads"
  threads = option "--threads", 1000
  parked, woken, sum = Atomic(Int64).new(0), Atomic(Int64).new(0), Atomic(Int64).new(0)
  all_parked, all_woken = Channel(Nil).new(1), Channel(Nil).new(1)
  shots = Array.new(threads) { Channel(Int64).new(1) }
  shots.each do |shot|
    spawn do
      all_parked.send nil if parked.add(1) + 1 == threads
      sum.add shot.receive
      all_woken.send nil if woken.add(1) + 1 == threads
    end
  end
  all_parked.receive
  shots.each_with_index { |shot, index| shot.send index.to_i64 }
  all_woken.receive
  sum.get
end

class Guarded
  property number = 0_i64
  getter lock = Mutex.new
end

def mutex : Int64
  only "--section", "--sections", "--tasks"
  sections, tasks = option("--sections", 1000), option("--tasks", 4)
  section = OPTIONS["--section"]? || "short"
  refuse "unknown section (short, yield)", section unless {"short", "yield"}.includes? section
  guarded, ended = Guarded.new, Channel(Nil).new(tasks.to_i)
  tasks.times do |task|
    start_sections guarded, part(sections, tasks, task), section == "yield", ended
  end
  tasks.times { ended.receive }
  guarded.number
end

# A method of its own, so that each fiber has variables of its own.
def start_sections(guarded : Guarded, times : Int64, yields : Bool, ended : Channel(Nil))
  spawn do
    if yields
      times.times do
        guarded.lock.synchronize do
          read = guarded.number
          Fiber.yield
          guarded.number = read + 1
        end
      end
    else
      times.times { guarded.lock.synchronize { guarded.number += 1 } }
    end
    ended.send nil
  end
end

# What holds a fiber up, and how late the ticker was.
class Hostages
  getter late = [] of Float64
  getter back = Atomic(Int64).new(0)

  def initialize(@by : String, @count : Int64, @stuck : Int64, @times : Int64)
  end

  def run
    ended = Channel(Nil).new(1)
    spawn do
      50.times { tick }
      @count.times do
        spawn do
          @times.times do
            hold
            Fiber.yield
          end
          @back.add 1
        end
      end
      finish = Time.monotonic + (@stuck * @times + 450).milliseconds
      while Time.monotonic < finish || @back.get < @count
        tick
      end
      ended.send nil
    end
    ended.receive
  end

  # Sleeps once; the deadline counts from now on, so that one long hole is one late tick.
  def tick
    deadline = Time.monotonic + 1.milliseconds
    sleep 1.milliseconds
    @late << (Time.monotonic - deadline).total_milliseconds
  end

  def hold
    status = case @by
             when "read"  then Hold.hold_read(@stuck.to_i)
             when "fault" then Hold.hold_fault(@stuck.to_i)
             else
               finish = Time.monotonic + @stuck.milliseconds
               while Time.monotonic < finish
               end
               0
             end
    return if status == 0
    STDERR.puts "cannot be held up: errno #{status}"
    exit 1
  end

  def say
    @late.sort!
    at = ->(share : Float64) { "%.4f" % @late[(share * @late.size).ceil.to_i - 1] }
    STDERR.puts "figures: ticks=#{@late.size} late_ms_p50=#{at.call(0.5)} " \
                "late_ms_p99=#{at.call(0.99)} late_ms_max=#{at.call(1.0)}"
  end
end

def hostage : Int64
  only "--by", "--hostages", "--stuck-ms", "--times"
  by = OPTIONS["--by"]? || "read"
  refuse "unknown way to hold up (read, spin, fault)", by unless {"read", "spin", "fault"}.includes? by
  hostages = Hostages.new(by, option("--hostages", 2), option("--stuck-ms", 1000), option("--times", 1))
  hostages.run
  hostages.say
  hostages.back.get
end

require "./tasks"

# Runs the workload that the command line names, unless it is the ring.
def waiting(words : Array(String)) : Nil
  (words[1..]? || [] of String).each_slice(2) do |pair|
    refuse "option without a value", pair[0] if pair.size < 2
    OPTIONS[pair[0]] = pair[1]
  end
  case words.first?
  when "park"     then puts park
  when "mutex"    then puts mutex
  when "hostage"  then puts hostage
  when "spawn"    then puts spawns
  when "yield"    then puts yields
  when "pingpong" then puts pingpong
  when "spsc"     then puts spsc
  when "mpsc"     then puts mpsc
  when "skynet"   then puts skynet
  else                 refuse "unknown workload", words.first? || "none"
  end
end
