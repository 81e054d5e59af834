/* Holds up the calling thread, for contenders whose language cannot do so by itself. */
#ifndef HOLD_H
#define HOLD_H

/* In a read of a pipe to which a thread writes when the time is over; 0, or an error's number. */
int hold_read(int milliseconds);
/* By looking at the clock. */
int hold_spin(int milliseconds);
/* In a page fault that a thread answers when the time is over (Linux 5.11: userfaultfd). */
int hold_fault(int milliseconds);
#endif
