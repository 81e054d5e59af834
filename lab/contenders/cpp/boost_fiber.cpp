// The thread ring on Boost.Fiber: fibers with stacks on one kernel thread, round robin.
//
// Its buffered_channel is a mailbox; a mutex with a condition variable takes two thirds longer.
#include "../c/ring.h"
#include <boost/fiber/all.hpp>
#include <exception>
#include <memory>
#include <vector>

namespace fibers = boost::fibers;

// The smallest one there is: a capacity is a power of two, and one value less fits in.
static const std::size_t CAPACITY = 2;
// malloc'ed without a guard page, so that the number of mappings is no limit.
static const std::size_t STACK_BYTES = 16 * 1024;

using mailbox = fibers::buffered_channel<long>;

[[noreturn]] static void run(struct ring_args args)
{
    long n = args.threads, *order = ring_order(args);
    std::vector<std::unique_ptr<mailbox>> mailboxes;
    for (long i = 0; i < n; i++)
        mailboxes.push_back(std::make_unique<mailbox>(CAPACITY));
    fibers::promise<long> answer;
    for (long k = 0; k < n; k++) {
        long id = order[k];
        auto member = [&answer, id, &in = *mailboxes[id], &out = *mailboxes[(id + 1) % n]] {
            while (long token = in.value_pop())
                out.push(token - 1);
            answer.set_value(id + 1);
        };
        fibers::fiber(std::allocator_arg, fibers::fixedsize_stack(STACK_BYTES), member).detach();
    }
    free(order);
    mailboxes[0]->push(args.hops);
    printf("%ld\n", answer.get_future().get());
    fflush(stdout);
    _Exit(0); // the other members wait for ever; do not destroy mailboxes under them
}

int main(int argc, char **argv)
{
    try {
        run(ring_parse(argc, argv));
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
        _Exit(1);
    }
}
