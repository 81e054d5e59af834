/* What every C contender shares: the command line and the creation order.
 *
 * `PROGRAM ring --threads N --hops H --order forward|reverse|shuffled [--kind K]`.
 * Only parsing and set-up live here; everything that is measured per hop is in the contender. */
#ifndef RING_H
#define RING_H
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ring_args {
    long threads;
    long hops;
    const char *order;
    const char *kind;
};

/* A bad command line: status 2. */
static void ring_die(const char *what, const char *given)
{
    fprintf(stderr, "%s: %s\n", what, given);
    exit(2);
}

/* Trouble at run time: status 1. */
static inline void ring_fail(const char *what, const char *given)
{
    fprintf(stderr, "%s: %s\n", what, given);
    exit(1);
}

static long ring_number(const char *text, long least)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0)
        ring_die("expected a whole number, got", text);
    if (errno == ERANGE || value < least)
        ring_die(value < least ? "expected a larger number, got" : "expected a smaller number, got", text);
    return value;
}

static inline struct ring_args ring_parse(int argc, char **argv)
{
    struct ring_args args = {503, 10000000, "forward", ""};
    if (argc < 2 || strcmp(argv[1], "ring") != 0)
        ring_die("unknown workload (this program knows: ring)", argc < 2 ? "none" : argv[1]);
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 == argc)
            ring_die("option without a value", argv[i]);
        if (strcmp(argv[i], "--threads") == 0)
            args.threads = ring_number(argv[i + 1], 1);
        else if (strcmp(argv[i], "--hops") == 0)
            args.hops = ring_number(argv[i + 1], 0);
        else if (strcmp(argv[i], "--order") == 0)
            args.order = argv[i + 1];
        else if (strcmp(argv[i], "--kind") == 0)
            args.kind = argv[i + 1];
        else
            ring_die("unknown option", argv[i]);
    }
    if (strcmp(args.order, "forward") && strcmp(args.order, "reverse") &&
        strcmp(args.order, "shuffled"))
        ring_die("unknown order (forward, reverse, shuffled)", args.order);
    return args;
}

static inline void *ring_alloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        ring_fail("out of memory for the ring", "calloc");
    return memory;
}

/* order[k] is the index of the thread created k-th.  Shuffled is Fisher-Yates over splitmix64
 * with a fixed seed: the same order in every language and on every machine. */
static inline long *ring_order(struct ring_args args)
{
    long n = args.threads;
    long *order = (long *)ring_alloc(n, sizeof *order); /* C++ includes this, too, and asks for the cast */
    uint64_t state = 503;
    for (long k = 0; k < n; k++)
        order[k] = strcmp(args.order, "reverse") == 0 ? n - 1 - k : k;
    if (strcmp(args.order, "shuffled") != 0)
        return order;
    for (long k = n - 1; k > 0; k--) {
        uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        long j = (long)((z ^ (z >> 31)) % (uint64_t)(k + 1));
        long swap = order[k];
        order[k] = order[j];
        order[j] = swap;
    }
    return order;
}
#endif
