/* The thread ring on GNU Pth: user threads with stacks and priorities on one kernel thread.
 *
 * A mutex and a condition variable a mailbox, as its manual does it; there is no semaphore.
 * Whenever a thread waits, Pth's scheduler looks at what every waiting thread waits for, so a hop
 * costs in proportion to the ring. */
#include "ring.h"
#include <errno.h>
#include <pth.h>

struct mailbox { int full; long value; pth_mutex_t lock; pth_cond_t filled; };

static long ring_size;
static struct mailbox *mailboxes;
static struct mailbox answer;

static void empty(struct mailbox *mailbox)
{
    pth_mutex_init(&mailbox->lock);
    pth_cond_init(&mailbox->filled);
}

static void put(struct mailbox *mailbox, long value)
{
    pth_mutex_acquire(&mailbox->lock, FALSE, NULL);
    mailbox->value = value;
    mailbox->full = 1;
    pth_cond_notify(&mailbox->filled, FALSE);
    pth_mutex_release(&mailbox->lock);
}

static long take(struct mailbox *mailbox)
{
    pth_mutex_acquire(&mailbox->lock, FALSE, NULL);
    while (!mailbox->full)
        pth_cond_await(&mailbox->filled, &mailbox->lock, NULL);
    mailbox->full = 0;
    long value = mailbox->value;
    pth_mutex_release(&mailbox->lock);
    return value;
}

static void *member(void *argument)
{
    long id = (long)(intptr_t)argument;
    struct mailbox *in = &mailboxes[id];
    struct mailbox *out = &mailboxes[id + 1 == ring_size ? 0 : id + 1];
    long token;
    while ((token = take(in)) != 0)
        put(out, token - 1);
    put(&answer, id + 1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct ring_args args = ring_parse(argc, argv);
    ring_size = args.threads;
    long *order = ring_order(args);
    if (!pth_init())
        ring_die("pth_init failed", strerror(errno));
    mailboxes = ring_alloc(ring_size, sizeof *mailboxes);
    for (long i = 0; i < ring_size; i++)
        empty(&mailboxes[i]);
    empty(&answer);
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, 16 * 1024);
    for (long k = 0; k < ring_size; k++)
        if (pth_spawn(attributes, member, (void *)(intptr_t)order[k]) == NULL) {
            fprintf(stderr, "thread %ld of %ld: %s\n", k + 1, ring_size, strerror(errno));
            exit(1);
        }
    free(order);
    put(&mailboxes[0], args.hops);
    printf("%ld\n", take(&answer));
    return 0;
}
