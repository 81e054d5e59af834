/* The command line of the workloads beside the ring, `PROGRAM WORKLOAD --option value ...`, for C and C++. */
#ifndef OPTIONS_H
#define OPTIONS_H
#include "ring.h"

/* An option, and its value if none is given. */
struct number { const char *option; long value; };

/* Reads the options; one that is not among the known ones ends the process. `--receive` is no number: a contender
 * that has it takes one message at a time. */
static inline void options_read(int argc, char **argv, struct number *known, int count)
{
    for (int i = 2; i < argc; i += 2) {
        int at = 0;
        while (at < count && strcmp(argv[i], known[at].option) != 0)
            at++;
        if (at == count)
            ring_die("unknown option", argv[i]);
        if (i + 1 == argc)
            ring_die("option without a value", argv[i]);
        if (strcmp(argv[i], "--receive") != 0)
            known[at].value = ring_number(argv[i + 1], 1);
        else if (strcmp(argv[i + 1], "one") != 0)
            ring_die("it takes one message at a time, not", argv[i + 1]);
    }
}

/* What one of `parts` gets of `total`: equal parts, the first ones one more. */
static inline long part(long total, long parts, long index)
{
    return total / parts + (index < total % parts);
}

struct workload { const char *name; long (*run)(int argc, char **argv); };

/* Runs the workload that the command line names, and prints its answer; the list ends with a null. */
static inline int workloads_run(const struct workload *known, int argc, char **argv)
{
    const char *asked = argc < 2 ? "none" : argv[1];
    while (known->name != NULL && strcmp(known->name, asked) != 0)
        known++;
    if (known->name == NULL)
        ring_die("unknown workload", asked);
    printf("%ld\n", known->run(argc, argv));
    fflush(stdout);
    return 0;
}
#endif
