/* The thread ring on bare Protothreads: no run queue, the scheduler is a loop over all threads.
 *
 * --kind optimum sweeps in ring order, so that the thread it comes to next is always the one
 * that was just signalled; --kind pessimum sweeps backwards, so that it visits all the others
 * first.  These two kinds *are* an order: --order is accepted and changes nothing. */
#include "ring.h"
#include "pt.h"

static long ring_size;
static struct pt *contexts;
static struct pt_sem *signals;
static long *data;

static inline enum pt_result thread(struct pt *pt, long id)
{
    long token, right;
    PT_BEGIN(pt);
    while (1) {
        PT_SEM_WAIT(pt, &signals[id]);
        token = data[id];
        if (token == 0) {
            printf("%ld\n", id + 1);
            exit(0);
        }
        right = id + 1 == ring_size ? 0 : id + 1;
        data[right] = token - 1;
        PT_SEM_SIGNAL(&signals[right]);
    }
    PT_END(pt);
}

int main(int argc, char **argv)
{
    struct ring_args args = ring_parse(argc, argv);
    ring_size = args.threads;
    contexts = ring_alloc(ring_size, sizeof *contexts);
    signals = ring_alloc(ring_size, sizeof *signals);
    data = ring_alloc(ring_size, sizeof *data);
    for (long i = 0; i < ring_size; i++) {
        PT_INIT(&contexts[i]);
        PT_SEM_INIT(&signals[i], 0);
    }
    data[0] = args.hops;
    PT_SEM_SIGNAL(&signals[0]);
    if (strcmp(args.kind, "optimum") == 0)
        while (1)
            for (long i = 0; i < ring_size; i++)
                thread(&contexts[i], i);
    if (strcmp(args.kind, "pessimum") == 0)
        while (1)
            for (long i = ring_size - 1; i >= 0; i--)
                thread(&contexts[i], i);
    ring_die("unknown kind (optimum, pessimum)", args.kind);
}
