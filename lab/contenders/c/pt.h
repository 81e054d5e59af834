/* Protothreads: a thread is a function that jumps back to where it waited.
 *
 * Own macros after the idea of Adam Dunkels' Protothreads: `switch` jumps into the middle of a
 * block, so `case __LINE__:` inside a loop is a place to resume at.  A thread's whole state is
 * the line it waits on; locals do not survive a wait. */
#ifndef PT_H
#define PT_H

struct pt { unsigned short line; };
struct pt_sem { unsigned count; };

enum pt_result { PT_WAITING, PT_ENDED };

#define PT_INIT(pt)  ((pt)->line = 0)
#define PT_BEGIN(pt) switch ((pt)->line) { case 0:
#define PT_END(pt)   } PT_INIT(pt); return PT_ENDED

/* Come back here until `condition` holds; every call in between returns at once. */
#define PT_WAIT_UNTIL(pt, condition)          \
    do {                                      \
        (pt)->line = __LINE__;                \
        __attribute__((fallthrough));         \
    case __LINE__:                            \
        if (!(condition))                     \
            return PT_WAITING;                \
    } while (0)

/* Give up the processor once; whoever wakes the thread makes it go on after this line. */
#define PT_SUSPEND(pt)                        \
    do {                                      \
        (pt)->line = __LINE__;                \
        return PT_WAITING;                    \
    case __LINE__:;                           \
    } while (0)

#define PT_SEM_INIT(sem, n)  ((sem)->count = (n))
#define PT_SEM_SIGNAL(sem)   (++(sem)->count)
#define PT_SEM_WAIT(pt, sem)                  \
    do {                                      \
        PT_WAIT_UNTIL(pt, (sem)->count > 0);  \
        --(sem)->count;                       \
    } while (0)
#endif
