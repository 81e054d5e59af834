// The thread ring on Boost.Fiber: fibers with stacks on one kernel thread, round robin.
//
// A link is an unbuffered_channel; a buffered_channel takes more than twice as long, and a mutex with a condition
// variable longer still.
#include "../c/ring.h"
#include <boost/fiber/all.hpp>
#include <exception>
#include <memory>
#include <vector>

namespace fibers = boost::fibers;

// malloc'ed without a guard page, so that the number of mappings is no limit.
static const std::size_t STACK_BYTES = 16 * 1024;

using mailbox = fibers::unbuffered_channel<long>;

// What the only member of a ring of one has to put somewhere before it can take it. It is the smallest one there
// is: a capacity is a power of two, and one value less fits in.
struct mailbox_of_one : fibers::buffered_channel<long> {
    mailbox_of_one() : buffered_channel(2) {}
};

template <class link> [[noreturn]] static void run(struct ring_args args)
{
    long n = args.threads, *order = ring_order(args);
    std::vector<std::unique_ptr<link>> links;
    for (long i = 0; i < n; i++)
        links.push_back(std::make_unique<link>());
    fibers::promise<long> answer;
    for (long k = 0; k < n; k++) {
        long id = order[k];
        auto member = [&answer, id, &in = *links[id], &out = *links[(id + 1) % n]] {
            while (long token = in.value_pop())
                out.push(token - 1);
            answer.set_value(id + 1);
        };
        fibers::fiber(std::allocator_arg, fibers::fixedsize_stack(STACK_BYTES), member).detach();
    }
    free(order);
    links[0]->push(args.hops);
    printf("%ld\n", answer.get_future().get());
    fflush(stdout);
    _Exit(0); // the other members wait for ever; do not destroy links under them
}

int main(int argc, char **argv)
{
    try {
        struct ring_args args = ring_parse(argc, argv);
        if (args.threads == 1)
            run<mailbox_of_one>(args);
        run<mailbox>(args);
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
        _Exit(1);
    }
}
