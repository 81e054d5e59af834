/* Parked protothreads: two bytes each, and four for the semaphore that each waits on.
 *
 * The scheduler sweeps over all: once, so that each waits; once more when all have been signalled.  What a thread
 * is sent is its own number, for which it needs no memory. */
#include "ring.h"
#include "pt.h"

static struct pt *contexts;
static struct pt_sem *signals;
static unsigned long long parked, sum;

static inline enum pt_result thread(struct pt *pt, long id)
{
    PT_BEGIN(pt);
    ++parked;
    PT_SEM_WAIT(pt, &signals[id]);
    sum += (unsigned long long)id;
    PT_END(pt);
}

int main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[1], "park") != 0 || strcmp(argv[2], "--threads") != 0)
        ring_die("expected park --threads N, got", argc < 2 ? "nothing" : argv[1]);
    long threads = ring_number(argv[3], 1);
    contexts = ring_alloc(threads, sizeof *contexts);
    signals = ring_alloc(threads, sizeof *signals);
    for (long i = 0; i < threads; i++) {
        PT_INIT(&contexts[i]);
        PT_SEM_INIT(&signals[i], 0);
    }
    for (long i = 0; i < threads; i++)
        thread(&contexts[i], i);
    if (parked != (unsigned long long)threads)
        ring_fail("not all of them wait", argv[3]);
    for (long i = 0; i < threads; i++)
        PT_SEM_SIGNAL(&signals[i]);
    for (long i = 0; i < threads; i++)
        thread(&contexts[i], i);
    printf("%llu\n", sum);
    return 0;
}
