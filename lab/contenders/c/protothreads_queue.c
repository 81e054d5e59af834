/* The thread ring on Protothreads with what the bare ones lack: a run queue (FIFO, intrusive),
 * a wait queue on each mailbox (FIFO, intrusive), and data of its own for each thread.
 *
 * Nothing is polled: a thread runs only when it is runnable, so the creation order matters only
 * through where its memory lies. */
#include "ring.h"
#include "pt.h"

struct thread {
    struct pt pt;
    enum pt_result (*run)(struct thread *);
    struct thread *next; /* in the run queue or in one wait queue, never in both */
    struct mailbox *in, *out;
    long id, token; /* the thread's own data, which a bare protothread has no place for */
};

struct queue { struct thread *first, **last; };
struct mailbox { int full; long value; struct queue waiters; };

static struct queue runnable;

static void queue_init(struct queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

static inline void queue_push(struct queue *queue, struct thread *thread)
{
    thread->next = NULL;
    *queue->last = thread;
    queue->last = &thread->next;
}

static inline struct thread *queue_pop(struct queue *queue)
{
    struct thread *thread = queue->first;
    if (thread != NULL && (queue->first = thread->next) == NULL)
        queue->last = &queue->first;
    return thread;
}

/* A value put wakes one waiter, which then finds the mailbox full: nobody can take it between,
 * since only runnable threads run and the ring has one reader a mailbox. */
static inline void put(struct mailbox *mailbox, long value)
{
    struct thread *reader = queue_pop(&mailbox->waiters);
    mailbox->value = value;
    mailbox->full = 1;
    if (reader != NULL)
        queue_push(&runnable, reader);
}

static enum pt_result member(struct thread *self)
{
    PT_BEGIN(&self->pt);
    while (1) {
        while (!self->in->full) {
            queue_push(&self->in->waiters, self);
            PT_SUSPEND(&self->pt);
        }
        self->in->full = 0;
        self->token = self->in->value;
        if (self->token == 0) {
            printf("%ld\n", self->id + 1);
            exit(0);
        }
        put(self->out, self->token - 1);
    }
    PT_END(&self->pt);
}

static void spawn(long id, struct mailbox *in, struct mailbox *out)
{
    struct thread *thread = ring_alloc(1, sizeof *thread);
    PT_INIT(&thread->pt);
    thread->run = member;
    thread->id = id;
    thread->in = in;
    thread->out = out;
    queue_push(&runnable, thread);
}

int main(int argc, char **argv)
{
    struct ring_args args = ring_parse(argc, argv);
    long n = args.threads, *order = ring_order(args);
    struct mailbox *mailboxes = ring_alloc(n, sizeof *mailboxes);
    struct thread *thread;
    queue_init(&runnable);
    for (long i = 0; i < n; i++)
        queue_init(&mailboxes[i].waiters);
    for (long k = 0; k < n; k++)
        spawn(order[k], &mailboxes[order[k]], &mailboxes[(order[k] + 1) % n]);
    free(order);
    put(&mailboxes[0], args.hops);
    while ((thread = queue_pop(&runnable)) != NULL)
        thread->run(thread);
    ring_fail("the ring stopped", "nobody is runnable");
}
