/* State Threads (libst) in the workloads beside the ring.
 *
 * A channel is a ring buffer with two condition variables. Threads are not preempted and share one kernel thread, so
 * there is no lock. Giving way is st_usleep(0): libst has no other call for it. */
#include "options.h"
#include <st.h>

#define STACK_BYTES (16 * 1024)
#define CHILDREN 10
/* Who starts or wakes many threads gives way after so many. */
#define AT_ONCE 1000

static st_thread_t start(void *(*run)(void *), void *argument, int joinable)
{
    st_thread_t thread = st_thread_create(run, argument, joinable, STACK_BYTES);
    if (thread == NULL)
        ring_fail("st_thread_create failed", "no stack");
    return thread;
}

static long result_of(st_thread_t thread)
{
    void *result;
    if (st_thread_join(thread, &result) != 0)
        ring_fail("st_thread_join failed", strerror(errno));
    return (long)(intptr_t)result;
}

static st_cond_t condition(void)
{
    st_cond_t created = st_cond_new();
    if (created == NULL)
        ring_fail("st_cond_new failed", "no memory");
    return created;
}

/* spawn */

static void *same(void *number) { return number; }

static long spawn(int argc, char **argv)
{
    struct number given[] = {{"--spawns", 1000}, {"--batch", 1}};
    options_read(argc, argv, given, 2);
    long spawns = given[0].value, batch = given[1].value;
    st_thread_t *threads = ring_alloc(batch, sizeof *threads);
    uint32_t sum = 0;
    for (long next = 0; next < spawns;) {
        long count = batch < spawns - next ? batch : spawns - next;
        for (long i = 0; i < count; i++)
            threads[i] = start(same, (void *)(intptr_t)next++, 1);
        for (long i = 0; i < count; i++)
            sum += (uint32_t)result_of(threads[i]);
    }
    return sum;
}

/* yield */

static void *yielding(void *argument)
{
    long times = (long)(intptr_t)argument, done = 0;
    for (; done < times; done++)
        st_usleep(0);
    return (void *)(intptr_t)done;
}

static long yield(int argc, char **argv)
{
    struct number given[] = {{"--yields", 1000}, {"--tasks", 20}};
    options_read(argc, argv, given, 2);
    long tasks = given[1].value, all = 0;
    st_thread_t *threads = ring_alloc(tasks, sizeof *threads);
    for (long i = 0; i < tasks; i++)
        threads[i] = start(yielding, (void *)(intptr_t)part(given[0].value, tasks, i), 1);
    for (long i = 0; i < tasks; i++)
        all += result_of(threads[i]);
    return all;
}

/* park */

struct shot { int sent; long number; st_cond_t filled; };

static struct { long threads, parked, woken, sum; st_cond_t all; } parking;

static void *parked(void *argument)
{
    struct shot *own = argument;
    if (++parking.parked == parking.threads)
        st_cond_signal(parking.all);
    while (!own->sent)
        st_cond_wait(own->filled);
    parking.sum += own->number;
    if (++parking.woken == parking.threads)
        st_cond_signal(parking.all);
    return NULL;
}

static long park(int argc, char **argv)
{
    struct number given[] = {{"--threads", 1000}};
    options_read(argc, argv, given, 1);
    long threads = parking.threads = given[0].value;
    parking.all = condition();
    struct shot *shots = ring_alloc(threads, sizeof *shots);
    for (long i = 0; i < threads; i++) {
        shots[i].filled = condition();
        start(parked, &shots[i], 0);
        if (i % AT_ONCE == 0)
            st_usleep(0);
    }
    while (parking.parked < threads)
        st_cond_wait(parking.all);
    for (long i = 0; i < threads; i++) {
        shots[i].number = i;
        shots[i].sent = 1;
        st_cond_signal(shots[i].filled);
        if (i % AT_ONCE == 0)
            st_usleep(0);
    }
    while (parking.woken < threads)
        st_cond_wait(parking.all);
    return parking.sum;
}

/* Channels. */

struct channel { long capacity, first, held, senders; long *messages; st_cond_t filled, emptied; };

static struct channel channel(long capacity, long senders)
{
    struct channel created = {.capacity = capacity, .senders = senders};
    created.messages = ring_alloc(capacity, sizeof *created.messages);
    created.filled = condition();
    created.emptied = condition();
    return created;
}

static void put(struct channel *to, long message)
{
    while (to->held == to->capacity)
        st_cond_wait(to->emptied);
    long place = to->first + to->held++;
    to->messages[place < to->capacity ? place : place - to->capacity] = message;
    st_cond_signal(to->filled);
}

/* Whether there is a message; there is none when all senders have ended. */
static int take(struct channel *from, long *message)
{
    while (from->held == 0) {
        if (from->senders == 0)
            return 0;
        st_cond_wait(from->filled);
    }
    *message = from->messages[from->first];
    from->first = from->first + 1 == from->capacity ? 0 : from->first + 1;
    from->held--;
    st_cond_signal(from->emptied);
    return 1;
}

/* pingpong */

struct pair { struct channel ping, pong; long trips; };

static void *answering(void *argument)
{
    struct pair *own = argument;
    long number;
    for (long i = 0; i < own->trips && take(&own->ping, &number); i++)
        put(&own->pong, number + 1);
    return NULL;
}

static void *asking(void *argument)
{
    struct pair *own = argument;
    long number = 0;
    for (long i = 0; i < own->trips; i++) {
        put(&own->ping, number);
        take(&own->pong, &number);
        number++;
    }
    return (void *)(intptr_t)number;
}

static long pingpong(int argc, char **argv)
{
    struct number given[] = {{"--trips", 1000}, {"--pairs", 1}};
    options_read(argc, argv, given, 2);
    long pairs = given[1].value, all = 0;
    struct pair *places = ring_alloc(pairs, sizeof *places);
    st_thread_t *asked = ring_alloc(pairs, sizeof *asked);
    for (long i = 0; i < pairs; i++) {
        places[i] = (struct pair){channel(1, 1), channel(1, 1), part(given[0].value, pairs, i)};
        start(answering, &places[i], 0);
        asked[i] = start(asking, &places[i], 1);
    }
    for (long i = 0; i < pairs; i++)
        all += result_of(asked[i]);
    return all;
}

/* spsc, mpsc */

struct sender { struct channel *to; long first, step, below; };

static void *sending(void *argument)
{
    struct sender *own = argument;
    for (long message = own->first; message < own->below; message += own->step)
        put(own->to, message);
    if (--own->to->senders == 0)
        st_cond_signal(own->to->filled);
    return NULL;
}

static void *receiving(void *argument)
{
    long sum = 0, message;
    while (take(argument, &message))
        sum += message;
    return (void *)(intptr_t)sum;
}

static long through(long messages, long senders, long capacity)
{
    struct channel link = channel(capacity, senders);
    struct sender *all = ring_alloc(senders, sizeof *all);
    for (long i = 0; i < senders; i++) {
        all[i] = (struct sender){&link, i, senders, messages};
        start(sending, &all[i], 0);
    }
    return result_of(start(receiving, &link, 1));
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

/* skynet */

struct node { long first, leaves; };

static void *tree(void *argument)
{
    struct node own = *(struct node *)argument, children[CHILDREN];
    if (own.leaves == 1)
        return (void *)(intptr_t)own.first;
    st_thread_t threads[CHILDREN];
    long each = own.leaves / CHILDREN, sum = 0;
    for (long i = 0; i < CHILDREN; i++) {
        children[i] = (struct node){own.first + i * each, each};
        threads[i] = start(tree, &children[i], 1);
    }
    for (long i = 0; i < CHILDREN; i++)
        sum += result_of(threads[i]);
    return (void *)(intptr_t)sum;
}

static long skynet(int argc, char **argv)
{
    struct number given[] = {{"--leaves", 1000}};
    options_read(argc, argv, given, 1);
    struct node root = {0, given[0].value};
    return result_of(start(tree, &root, 1));
}

int main(int argc, char **argv)
{
    static const struct workload known[] = {{"spawn", spawn}, {"yield", yield}, {"park", park},
                                            {"pingpong", pingpong}, {"spsc", spsc}, {"mpsc", mpsc},
                                            {"skynet", skynet}, {NULL, NULL}};
    if (st_init() != 0)
        ring_fail("st_init failed", "no event system");
    return workloads_run(known, argc, argv);
}
