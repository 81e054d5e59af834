/* Message ports of GNU Pth, as its contenders use them: one message, which a port does not copy. */
#ifndef GNU_PTH_H
#define GNU_PTH_H
#include "ring.h"
#include <errno.h>
#include <pth.h>

struct message { pth_message_t head; long value; };

static inline pth_msgport_t port(void)
{
    pth_msgport_t created = pth_msgport_create(NULL);
    if (created == NULL)
        ring_fail("pth_msgport_create failed", strerror(errno));
    return created;
}

static inline pth_event_t arrival(pth_msgport_t from)
{
    pth_event_t event = pth_event(PTH_EVENT_MSG, from);
    if (event == NULL)
        ring_fail("pth_event failed", strerror(errno));
    return event;
}

static inline struct message *take(pth_msgport_t from, pth_event_t arrived)
{
    pth_message_t *message;
    while ((message = pth_msgport_get(from)) == NULL)
        pth_wait(arrived);
    return (struct message *)message;
}
#endif
