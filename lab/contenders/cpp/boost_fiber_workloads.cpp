// Boost.Fiber in the workloads beside the ring: fibers with stacks on one kernel thread, round robin.
//
// A place of a pair is an unbuffered_channel; a channel and a one-shot are each a buffered_channel. A fiber leaves its
// number in a variable of the fiber that joins it.
#include "../c/options.h"
#include <algorithm>
#include <boost/fiber/all.hpp>
#include <exception>
#include <utility>
#include <vector>

namespace fibers = boost::fibers;

// malloc'ed without a guard page, as in the ring.
static const std::size_t STACK_BYTES = 16 * 1024;
static const long CHILDREN = 10;
// Who starts or wakes many fibers gives way after so many.
static const long AT_ONCE = 1000;

// Post: the new fiber waits for its turn. Dispatch: it runs at once.
template <class function> static fibers::fiber start(function run, fibers::launch when = fibers::launch::post)
{
    return fibers::fiber(when, std::allocator_arg, fibers::fixedsize_stack(STACK_BYTES), std::move(run));
}

// Runs that many fibers, of which each adds what it returns, and joins all.
template <class function>
static long sum_of(long count, function run, fibers::launch when = fibers::launch::post)
{
    std::vector<fibers::fiber> started;
    long all = 0;
    for (long i = 0; i < count; i++)
        started.push_back(start(
            [&all, run, i] {
                long own = run(i);
                all += own;
            },
            when));
    for (fibers::fiber &one : started)
        one.join();
    return all;
}

static long spawn(int argc, char **argv)
{
    struct number given[] = {{"--spawns", 1000}, {"--batch", 1}};
    options_read(argc, argv, given, 2);
    long spawns = given[0].value, batch = given[1].value;
    // Stacks that are kept for the next fibers: with a batch, malloc would give them back to the system each time.
    fibers::pooled_fixedsize_stack stacks(STACK_BYTES);
    std::vector<fibers::fiber> begun(batch);
    std::vector<uint32_t> results(batch);
    uint32_t sum = 0;
    for (long next = 0; next < spawns;) {
        long count = std::min(batch, spawns - next);
        for (long i = 0; i < count; i++, next++)
            begun[i] = fibers::fiber(std::allocator_arg, stacks,
                                     [&result = results[i], next] { result = uint32_t(next); });
        for (long i = 0; i < count; i++) {
            begun[i].join();
            sum += results[i];
        }
    }
    return sum;
}

static long yield(int argc, char **argv)
{
    struct number given[] = {{"--yields", 1000}, {"--tasks", 20}};
    options_read(argc, argv, given, 2);
    long yields = given[0].value, tasks = given[1].value;
    return sum_of(tasks, [=](long task) {
        long times = part(yields, tasks, task), done = 0;
        for (; done < times; done++)
            boost::this_fiber::yield();
        return done;
    });
}

// A channel of one.
struct one_shot : fibers::buffered_channel<long> {
    one_shot() : buffered_channel(2) {}
};

static long park(int argc, char **argv)
{
    struct number given[] = {{"--threads", 1000}};
    options_read(argc, argv, given, 1);
    long threads = given[0].value, parked = 0, woken = 0, sum = 0;
    fibers::promise<void> all_parked, all_woken;
    std::vector<one_shot> shots(threads);
    for (long i = 0; i < threads; i++) {
        start([&, i] {
            if (++parked == threads)
                all_parked.set_value();
            sum += shots[i].value_pop();
            if (++woken == threads)
                all_woken.set_value();
        }).detach();
        if (i % AT_ONCE == 0)
            boost::this_fiber::yield();
    }
    all_parked.get_future().get();
    for (long i = 0; i < threads; i++) {
        shots[i].push(i);
        if (i % AT_ONCE == 0)
            boost::this_fiber::yield();
    }
    all_woken.get_future().get();
    return sum;
}

struct pair {
    fibers::unbuffered_channel<long> ping, pong;
};

static long pingpong(int argc, char **argv)
{
    struct number given[] = {{"--trips", 1000}, {"--pairs", 1}};
    options_read(argc, argv, given, 2);
    long all_trips = given[0].value, pairs = given[1].value;
    std::vector<pair> places(pairs);
    return sum_of(pairs, [&places, all_trips, pairs](long index) {
        pair &own = places[index];
        long trips = part(all_trips, pairs, index), number = 0;
        fibers::fiber answering = start([&own, trips] {
            for (long i = 0; i < trips; i++)
                own.pong.push(own.ping.value_pop() + 1);
        });
        for (long i = 0; i < trips; i++) {
            own.ping.push(number);
            number = own.pong.value_pop() + 1;
        }
        answering.join();
        return number;
    });
}

// A buffered_channel takes a power of two, and holds one message less; so this one holds no more than asked, but one
// at least.
static std::size_t slots(long capacity)
{
    std::size_t slots = 2;
    while (slots * 2 <= std::size_t(capacity))
        slots *= 2;
    return slots;
}

static long through(long messages, long senders, long capacity)
{
    fibers::buffered_channel<long> link(slots(capacity));
    long sending = senders, sum = 0;
    for (long first = 0; first < senders; first++)
        start([&, first] {
            for (long message = first; message < messages; message += senders)
                link.push(message);
            if (--sending == 0)
                link.close();
        }).detach();
    start([&] {
        long message;
        while (link.pop(message) == fibers::channel_op_status::success)
            sum += message;
    }).join();
    return sum;
}

static long spsc(int argc, char **argv)
{
    struct number given[] = {{"--messages", 1000}, {"--capacity", 1024}};
    options_read(argc, argv, given, 2);
    return through(given[0].value, 1, given[1].value);
}

static long mpsc(int argc, char **argv)
{
    struct number given[] = {{"--messages", 1000}, {"--senders", 1}, {"--capacity", 1024}, {"--receive", 0}};
    options_read(argc, argv, given, 4);
    return through(given[0].value, given[1].value, given[2].value);
}

// Each child runs at once, so that fewer stacks are in use than with the whole tree's fibers in the queue.
static long tree(long first, long leaves)
{
    if (leaves == 1)
        return first;
    long each = leaves / CHILDREN;
    auto child = [=](long index) { return tree(first + index * each, each); };
    return sum_of(CHILDREN, child, fibers::launch::dispatch);
}

static long skynet(int argc, char **argv)
{
    struct number given[] = {{"--leaves", 1000}};
    options_read(argc, argv, given, 1);
    return sum_of(1, [leaves = given[0].value](long) { return tree(0, leaves); });
}

int main(int argc, char **argv)
{
    static const struct workload known[] = {{"spawn", spawn}, {"yield", yield}, {"park", park},
                                            {"pingpong", pingpong}, {"spsc", spsc}, {"mpsc", mpsc},
                                            {"skynet", skynet}, {nullptr, nullptr}};
    try {
        return workloads_run(known, argc, argv);
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
        _Exit(1);
    }
}
