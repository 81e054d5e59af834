/* The thread ring on State Threads (libst): stackful user threads on one kernel thread.
 *
 * One condition variable a mailbox: libst has no semaphore, and its threads cannot be preempted,
 * so that a flag and st_cond_wait are enough.  Stacks are 16 KiB, libst's own mapping. */
#include "ring.h"
#include <st.h>

struct mailbox { int full; long value; st_cond_t filled; };

static long ring_size;
static struct mailbox *mailboxes;
static st_cond_t finished;
static long answer;

static void *member(void *argument)
{
    long id = (long)(intptr_t)argument;
    struct mailbox *in = &mailboxes[id];
    struct mailbox *out = &mailboxes[id + 1 == ring_size ? 0 : id + 1];
    while (1) {
        while (!in->full)
            st_cond_wait(in->filled);
        in->full = 0;
        if (in->value == 0) {
            answer = id + 1;
            st_cond_signal(finished);
            return NULL;
        }
        out->value = in->value - 1;
        out->full = 1;
        st_cond_signal(out->filled);
    }
}

int main(int argc, char **argv)
{
    struct ring_args args = ring_parse(argc, argv);
    ring_size = args.threads;
    long *order = ring_order(args);
    if (st_init() != 0)
        ring_fail("st_init failed", "no event system");
    mailboxes = ring_alloc(ring_size, sizeof *mailboxes);
    finished = st_cond_new();
    for (long i = 0; i < ring_size; i++)
        mailboxes[i].filled = st_cond_new();
    for (long k = 0; k < ring_size; k++)
        if (st_thread_create(member, (void *)(intptr_t)order[k], 0, 16 * 1024) == NULL) {
            fprintf(stderr, "thread %ld of %ld: no stack\n", k + 1, ring_size);
            exit(1);
        }
    free(order);
    mailboxes[0].value = args.hops;
    mailboxes[0].full = 1;
    st_cond_signal(mailboxes[0].filled);
    while (answer == 0)
        st_cond_wait(finished);
    printf("%ld\n", answer);
    return 0;
}
