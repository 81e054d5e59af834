/* Protothreads: a thread is a function that jumps back to where it waited.
 *
 * Own macros after the idea of Adam Dunkels' Protothreads.  A thread's whole state is the place
 * it waits at; locals do not survive a wait.  There are two ways to jump back:
 *
 * - `switch` jumps into the middle of a block, so `case __LINE__:` inside a loop is a place to
 *   resume at.  It is standard C, two bytes a thread, and a compare and a branch for each place.
 * - With -DPT_GOTO a place is a label's address (GCC's labels as values): eight bytes a thread and
 *   one indirect jump.  GCC never inlines a function with such a jump, so each visit is a call. */
#ifndef PT_H
#define PT_H

struct pt_sem { unsigned count; };

enum pt_result { PT_WAITING, PT_ENDED };

#ifdef PT_GOTO
struct pt { void *place; };
#define PT_JOIN(a, b)    a##b
#define PT_LABEL(line)   PT_JOIN(pt_line_, line)
#define PT_MARK(pt)      ((pt)->place = &&PT_LABEL(__LINE__))
#define PT_PLACE         PT_LABEL(__LINE__)
#define PT_BEGIN(pt)     if ((pt)->place != NULL) goto *(pt)->place; {
#define PT_FALL          ((void)0)
#else
struct pt { unsigned short place; };
#define PT_MARK(pt)      ((pt)->place = __LINE__)
#define PT_PLACE         case __LINE__
#define PT_BEGIN(pt)     switch ((pt)->place) { case 0:
#define PT_FALL          __attribute__((fallthrough))
#endif

#define PT_INIT(pt)      ((pt)->place = 0)
#define PT_END(pt)       } PT_INIT(pt); return PT_ENDED

/* Come back here until `condition` holds; every call in between returns at once. */
#define PT_WAIT_UNTIL(pt, condition)          \
    do {                                      \
        PT_MARK(pt);                          \
        PT_FALL;                              \
    PT_PLACE:                                 \
        if (!(condition))                     \
            return PT_WAITING;                \
    } while (0)

/* Give up the processor once; whoever wakes the thread makes it go on after this line. */
#define PT_SUSPEND(pt)                        \
    do {                                      \
        PT_MARK(pt);                          \
        return PT_WAITING;                    \
    PT_PLACE:;                                \
    } while (0)

#define PT_SEM_INIT(sem, n)  ((sem)->count = (n))
#define PT_SEM_SIGNAL(sem)   (++(sem)->count)
#define PT_SEM_WAIT(pt, sem)                  \
    do {                                      \
        PT_WAIT_UNTIL(pt, (sem)->count > 0);  \
        --(sem)->count;                       \
    } while (0)
#endif
