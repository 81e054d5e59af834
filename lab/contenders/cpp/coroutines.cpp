// C++20 coroutines under a queue of our own: the ring, yielding, ping-pong.
//
// The least that would do: a ring buffer of runnable coroutines, and a slot for one value and one waiter. Nothing can be joined, cancelled or moved to another thread, and a coroutine
// that waits for ever stays where it is. Whoever waits or gives way continues the next runnable coroutine itself
// (symmetric transfer), so no loop stands between two coroutines.
#include "../c/ring.h"
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

using handle = std::coroutine_handle<>;

// Runnable coroutines, first in, first out. A coroutine is in it once at most, so room for all is room enough.
class run_queue {
  public:
    void reserve(std::size_t coroutines)
    {
        std::size_t room = 1;
        while (room < coroutines + 1)
            room *= 2;
        ring.reset(new handle[room]);
        mask = room - 1;
    }
    void push(handle runnable) { ring[tail++ & mask] = runnable; }
    // The next one; when there is none, what called the first one goes on.
    handle pop() { return head == tail ? handle(std::noop_coroutine()) : ring[head++ & mask]; }

  private:
    std::unique_ptr<handle[]> ring;
    std::size_t head = 0, tail = 0, mask = 0;
};

static run_queue runnable;

// A coroutine that nobody waits for: it is put into the queue when it is made, and freed when it ends.
struct task {
    struct finish {
        bool await_ready() noexcept { return false; }
        handle await_suspend(std::coroutine_handle<> ended) noexcept
        {
            ended.destroy();
            return runnable.pop();
        }
        void await_resume() noexcept {}
    };
    struct promise_type {
        task get_return_object()
        {
            runnable.push(std::coroutine_handle<promise_type>::from_promise(*this));
            return {};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        finish final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct give_way {
    bool await_ready() { return false; }
    handle await_suspend(handle self)
    {
        runnable.push(self);
        return runnable.pop();
    }
    void await_resume() {}
};

// One value or none. A slot has one taker and one putter, of which one waits at most: the taker while it is empty, or
// the putter while it is full. Whoever is woken finds what it has waited for, as nobody else can take it meanwhile.
class slot {
  public:
    struct taking {
        slot &from;
        bool await_ready() { return from.full; }
        handle await_suspend(handle self)
        {
            from.waiter = self;
            return runnable.pop();
        }
        long await_resume()
        {
            from.full = false;
            from.wake();
            return from.value;
        }
    };
    struct putting {
        slot &into;
        long value;
        bool await_ready() { return !into.full; }
        handle await_suspend(handle self)
        {
            into.waiter = self;
            return runnable.pop();
        }
        void await_resume()
        {
            into.value = value;
            into.full = true;
            into.wake();
        }
    };
    taking take() { return {*this}; }
    putting put(long value) { return {*this, value}; }

  private:
    void wake()
    {
        if (waiter)
            runnable.push(std::exchange(waiter, nullptr));
    }
    long value = 0;
    handle waiter;
    bool full = false;
};

// Runs until nothing is runnable.
static void run() { runnable.pop().resume(); }

static task member(slot &in, slot &out, long id, long &answer)
{
    while (long token = co_await in.take())
        co_await out.put(token - 1);
    answer = id + 1;
}

static task begin(slot &first, long hops) { co_await first.put(hops); }

static long ring(int argc, char **argv)
{
    struct ring_args args = ring_parse(argc, argv);
    long n = args.threads, *order = ring_order(args), answer = 0;
    runnable.reserve(n + 1);
    std::vector<slot> slots(n);
    for (long k = 0; k < n; k++)
        member(slots[order[k]], slots[(order[k] + 1) % n], order[k], answer);
    free(order);
    begin(slots[0], args.hops);
    run();
    // The other members wait for ever; nobody walks over them.
    printf("%ld\n", answer);
    fflush(stdout);
    _Exit(0);
}

// The value of each option, in order.
static std::vector<long> numbers(int argc, char **argv, std::vector<const char *> names)
{
    std::vector<long> values(names.size(), 1);
    for (int i = 2; i < argc; i += 2) {
        std::size_t known = 0;
        while (known < names.size() && strcmp(argv[i], names[known]) != 0)
            known++;
        if (known == names.size())
            ring_die("unknown option", argv[i]);
        if (i + 1 == argc)
            ring_die("option without a value", argv[i]);
        values[known] = ring_number(argv[i + 1], 1);
    }
    return values;
}

// What one of `parts` gets of `total`: equal parts, the first ones one more.
static long part(long total, long parts, long index) { return total / parts + (index < total % parts); }

static task yielder(long times, long &all)
{
    long count = 0;
    while (count < times) {
        co_await give_way{};
        count++;
    }
    all += count;
}

static long yield(int argc, char **argv)
{
    std::vector<long> given = numbers(argc, argv, {"--yields", "--tasks"});
    long all = 0;
    runnable.reserve(given[1]);
    for (long k = 0; k < given[1]; k++)
        yielder(part(given[0], given[1], k), all);
    run();
    return all;
}

struct pair {
    slot ping, pong;
};

static task answering(pair &between, long trips)
{
    while (trips-- > 0)
        co_await between.pong.put(co_await between.ping.take() + 1);
}

static task asking(pair &between, long trips, long &all)
{
    long number = 0;
    while (trips-- > 0) {
        co_await between.ping.put(number);
        number = co_await between.pong.take() + 1;
    }
    all += number;
}

static long pingpong(int argc, char **argv)
{
    std::vector<long> given = numbers(argc, argv, {"--trips", "--pairs"});
    long all = 0;
    runnable.reserve(2 * given[1]);
    std::vector<pair> pairs(given[1]);
    for (long k = 0; k < given[1]; k++) {
        long trips = part(given[0], given[1], k);
        answering(pairs[k], trips);
        asking(pairs[k], trips, all);
    }
    run();
    return all;
}

int main(int argc, char **argv)
{
    try {
        const char *workload = argc < 2 ? "none" : argv[1];
        long answer = 0;
        if (strcmp(workload, "ring") == 0)
            answer = ring(argc, argv);
        else if (strcmp(workload, "yield") == 0)
            answer = yield(argc, argv);
        else if (strcmp(workload, "pingpong") == 0)
            answer = pingpong(argc, argv);
        else
            ring_die("unknown workload (this program knows: ring, yield, pingpong)", workload);
        printf("%ld\n", answer);
        return 0;
    } catch (const std::exception &error) {
        ring_fail("trouble", error.what());
    }
}
