/* The thread ring on POSIX threads: one kernel thread a member, one semaphore a mailbox.
 *
 * The seed of 2008 used a locked mutex as the baton, which is undefined (the unlocker is not the
 * owner).  A semaphore says the same legally and costs one futex wake and one futex wait a hop;
 * a mutex with a condition variable needs more of both.  Stacks are the system's minimum and
 * without guard pages, so that neighbours share one mapping and the map limit is not the limit. */
#include "ring.h"
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

static long ring_size;
static long *data;
static sem_t *signals;
static sem_t finished;
static long answer;

static void *member(void *argument)
{
    long id = (long)(intptr_t)argument;
    long right = id + 1 == ring_size ? 0 : id + 1;
    while (1) {
        while (sem_wait(&signals[id]) != 0)
            ;
        long token = data[id];
        if (token == 0) {
            answer = id + 1;
            sem_post(&finished);
            return NULL;
        }
        data[right] = token - 1;
        sem_post(&signals[right]);
    }
}

int main(int argc, char **argv)
{
    struct ring_args args = ring_parse(argc, argv);
    ring_size = args.threads;
    long *order = ring_order(args);
    pthread_attr_t attributes;
    data = ring_alloc(ring_size, sizeof *data);
    signals = ring_alloc(ring_size, sizeof *signals);
    sem_init(&finished, 0, 0);
    for (long i = 0; i < ring_size; i++)
        sem_init(&signals[i], 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    pthread_attr_setguardsize(&attributes, 0);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (long k = 0; k < ring_size; k++) {
        pthread_t handle;
        int error = pthread_create(&handle, &attributes, member, (void *)(intptr_t)order[k]);
        if (error != 0) {
            fprintf(stderr, "thread %ld of %ld: %s\n", k + 1, ring_size, strerror(error));
            exit(1);
        }
    }
    free(order);
    data[0] = args.hops;
    sem_post(&signals[0]);
    while (sem_wait(&finished) != 0)
        ;
    printf("%ld\n", answer);
    fflush(stdout);
    _Exit(0); /* the other members wait for ever; do not run destructors under them */
}
