/* GNU Pth in spawn, yield and pingpong. A place is a message port, as in the ring. */
#include "gnu_pth.h"
#include "options.h"

static pth_attr_t attributes;

static pth_t start(void *(*run)(void *), void *argument)
{
    pth_t thread = pth_spawn(attributes, run, argument);
    if (thread == NULL)
        ring_fail("pth_spawn failed", strerror(errno));
    return thread;
}

static long result_of(pth_t thread)
{
    void *result;
    if (!pth_join(thread, &result))
        ring_fail("pth_join failed", strerror(errno));
    return (long)(intptr_t)result;
}

static void *same(void *number) { return number; }

static long spawn(int argc, char **argv)
{
    struct number given[] = {{"--spawns", 1000}, {"--batch", 1}};
    options_read(argc, argv, given, 2);
    long spawns = given[0].value, batch = given[1].value;
    pth_t *threads = ring_alloc(batch, sizeof *threads);
    uint32_t sum = 0;
    for (long next = 0; next < spawns;) {
        long count = batch < spawns - next ? batch : spawns - next;
        for (long i = 0; i < count; i++)
            threads[i] = start(same, (void *)(intptr_t)next++);
        for (long i = 0; i < count; i++)
            sum += (uint32_t)result_of(threads[i]);
    }
    return sum;
}

static void *yielding(void *argument)
{
    long times = (long)(intptr_t)argument, done = 0;
    for (; done < times; done++)
        pth_yield(NULL);
    return (void *)(intptr_t)done;
}

static long yield(int argc, char **argv)
{
    struct number given[] = {{"--yields", 1000}, {"--tasks", 20}};
    options_read(argc, argv, given, 2);
    long tasks = given[1].value, all = 0;
    pth_t *threads = ring_alloc(tasks, sizeof *threads);
    for (long i = 0; i < tasks; i++)
        threads[i] = start(yielding, (void *)(intptr_t)part(given[0].value, tasks, i));
    for (long i = 0; i < tasks; i++)
        all += result_of(threads[i]);
    return all;
}

/* A pair has one number under way, so one message is enough. */
struct pair { pth_msgport_t ping, pong; struct message message; long trips; };

static void *answering(void *argument)
{
    struct pair *own = argument;
    pth_event_t arrived = arrival(own->ping);
    for (long i = 0; i < own->trips; i++) {
        struct message *message = take(own->ping, arrived);
        message->value++;
        pth_msgport_put(own->pong, &message->head);
    }
    return NULL;
}

static void *asking(void *argument)
{
    struct pair *own = argument;
    pth_event_t arrived = arrival(own->pong);
    struct message *message = &own->message;
    for (long i = 0; i < own->trips; i++) {
        pth_msgport_put(own->ping, &message->head);
        message = take(own->pong, arrived);
        message->value++;
    }
    return (void *)(intptr_t)message->value;
}

static long pingpong(int argc, char **argv)
{
    struct number given[] = {{"--trips", 1000}, {"--pairs", 1}};
    options_read(argc, argv, given, 2);
    long pairs = given[1].value, all = 0;
    struct pair *places = ring_alloc(pairs, sizeof *places);
    pth_t *asked = ring_alloc(pairs, sizeof *asked);
    for (long i = 0; i < pairs; i++) {
        places[i].ping = port();
        places[i].pong = port();
        places[i].trips = part(given[0].value, pairs, i);
        start(answering, &places[i]);
        asked[i] = start(asking, &places[i]);
    }
    for (long i = 0; i < pairs; i++)
        all += result_of(asked[i]);
    return all;
}

int main(int argc, char **argv)
{
    static const struct workload known[] = {
        {"spawn", spawn}, {"yield", yield}, {"pingpong", pingpong}, {NULL, NULL}};
    if (!pth_init())
        ring_fail("pth_init failed", strerror(errno));
    attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, 16 * 1024);
    return workloads_run(known, argc, argv);
}
