/* The thread ring on GNU Pth: user threads with stacks and priorities on one kernel thread.
 *
 * A message port a mailbox, which is Pth's own. Whenever a thread waits, Pth's scheduler looks at what every
 * waiting thread waits for, so a hop costs in proportion to the ring. */
#include "gnu_pth.h"

static long ring_size;
static pth_msgport_t *ports;
static pth_msgport_t answer;

static void *member(void *argument)
{
    long id = (long)(intptr_t)argument;
    pth_msgport_t in = ports[id], out = ports[id + 1 == ring_size ? 0 : id + 1];
    pth_event_t arrived = arrival(in);
    for (;;) {
        struct message *token = take(in, arrived);
        if (token->value == 0) {
            token->value = id + 1;
            pth_msgport_put(answer, &token->head);
            return NULL;
        }
        token->value--;
        pth_msgport_put(out, &token->head);
    }
}

int main(int argc, char **argv)
{
    struct ring_args args = ring_parse(argc, argv);
    ring_size = args.threads;
    long *order = ring_order(args);
    if (!pth_init())
        ring_fail("pth_init failed", strerror(errno));
    ports = ring_alloc(ring_size, sizeof *ports);
    for (long i = 0; i < ring_size; i++)
        ports[i] = port();
    answer = port();
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, 16 * 1024);
    for (long k = 0; k < ring_size; k++)
        if (pth_spawn(attributes, member, (void *)(intptr_t)order[k]) == NULL) {
            fprintf(stderr, "thread %ld of %ld: %s\n", k + 1, ring_size, strerror(errno));
            exit(1);
        }
    free(order);
    static struct message token;
    token.value = args.hops;
    pth_msgport_put(ports[0], &token.head);
    printf("%ld\n", take(answer, arrival(answer))->value);
    return 0;
}
