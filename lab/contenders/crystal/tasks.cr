# The workloads of fibers that are joined or that send, in Crystal. A part of the ring's program, as `waiting.cr` is.

CHILDREN = 10

# Fibers that return a number: a channel is their handle. So many at a time; the sum in 32 bits.
def spawns : Int64
  only "--spawns", "--batch"
  spawns, batch = option("--spawns", 1000), option("--batch", 1)
  results = Channel(Int64).new(batch.to_i)
  sum, first = 0_u32, 0_i64
  while first < spawns
    past = {spawns, first + batch}.min
    first.upto(past - 1) { |number| start_returning number, results }
    (past - first).times { sum &+= results.receive.to_u32! }
    first = past
  end
  sum.to_i64
end

# A method of its own, so that each fiber has variables of its own; so everywhere here.
def start_returning(number : Int64, results : Channel(Int64))
  spawn { results.send number }
end

def yields : Int64
  only "--yields", "--tasks"
  yields, tasks = option("--yields", 1000), option("--tasks", 20)
  results = Channel(Int64).new(tasks.to_i)
  tasks.times { |task| start_yielding part(yields, tasks, task), results }
  received results, tasks
end

def start_yielding(times : Int64, results : Channel(Int64))
  spawn do
    times.times { Fiber.yield }
    results.send times
  end
end

# The sum of what comes.
def received(results : Channel(Int64), count : Int64) : Int64
  sum = 0_i64
  count.times { sum += results.receive }
  sum
end

def pingpong : Int64
  only "--trips", "--pairs"
  trips, pairs = option("--trips", 1000), option("--pairs", 1)
  results = Channel(Int64).new(pairs.to_i)
  pairs.times do |pair|
    ping, pong = Channel(Int64).new(1), Channel(Int64).new(1)
    start_pair ping, pong, part(trips, pairs, pair), results
  end
  received results, pairs
end

def start_pair(ping : Channel(Int64), pong : Channel(Int64), trips : Int64, results : Channel(Int64))
  spawn { trips.times { pong.send ping.receive + 1 } }
  spawn do
    number = 0_i64
    trips.times do
      ping.send number
      number = pong.receive + 1
    end
    results.send number
  end
end

def spsc : Int64
  only "--messages", "--capacity"
  through option("--messages", 1000), 1_i64, option("--capacity", 1024)
end

def mpsc : Int64
  only "--messages", "--senders", "--capacity", "--receive"
  refuse "a channel gives one at a time, not", OPTIONS["--receive"] if OPTIONS.fetch("--receive", "one") != "one"
  through option("--messages", 1000), option("--senders", 1), option("--capacity", 1024)
end

# The channel is closed by the last of the senders.
def through(messages : Int64, senders : Int64, capacity : Int64) : Int64
  link, left, result = Channel(Int64).new(capacity.to_i), Atomic(Int64).new(senders), Channel(Int64).new(1)
  ended = ->{ link.close if left.sub(1) == 1 }
  senders.times { |first| start_sending link, first, messages, senders, ended }
  spawn do
    sum = 0_i64
    while message = link.receive?
      sum += message
    end
    result.send sum
  end
  result.receive
end

def start_sending(link : Channel(Int64), message : Int64, past : Int64, step : Int64, ended)
  spawn do
    while message < past
      link.send message
      message += step
    end
    ended.call
  end
end

def skynet : Int64
  only "--leaves"
  results = Channel(Int64).new(1)
  start_tree 0_i64, option("--leaves", 1000), results
  results.receive
end

# The children of a node share a channel.
def start_tree(first : Int64, leaves : Int64, to : Channel(Int64))
  spawn do
    if leaves == 1
      to.send first
    else
      each, results = leaves // CHILDREN, Channel(Int64).new(CHILDREN)
      CHILDREN.times { |child| start_tree first + child * each, each, results }
      to.send received(results, CHILDREN.to_i64)
    end
  end
end
