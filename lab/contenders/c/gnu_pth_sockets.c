/* Servers with a GNU Pth thread a connection. A thread waits until there is something to read and then uses the buffer
 * that all share: nothing else runs between reading and writing. Pth waits with select, so it has 1,024 descriptors. */
#include "socket_server.h"
#include <pth.h>
#include <stdint.h>

enum { STACK = 16 * 1024 };

static enum talk talk;
static char buffer[BUFFER_SIZE];

static void *serve(void *argument)
{
    int socket = (int)(intptr_t)argument;
    unsigned char seen = 0;
    int goes_on = 1;
    struct pollfd readable = {.fd = socket, .events = POLLIN};
    while (goes_on && pth_poll(&readable, 1, -1) == 1) {
        ssize_t count = read(socket, buffer, sizeof buffer);
        if (count <= 0) {
            goes_on = count < 0 && errno == EINTR;
            continue;
        }
        if (talk == TALK_ECHO) {
            goes_on = pth_write(socket, buffer, count) == count;
            continue;
        }
        for (int ends = server_ends(buffer, count, &seen); ends > 0 && goes_on; ends--)
            goes_on = pth_write(socket, response, RESPONSE_SIZE) == RESPONSE_SIZE && talk != TALK_CONNECT;
    }
    close(socket);
    return NULL;
}

int main(int argc, char **argv)
{
    talk = server_talk(argc, argv);
    if (!pth_init())
        server_fail("pth_init");
    pth_attr_t attributes = pth_attr_new();
    pth_attr_set(attributes, PTH_ATTR_JOINABLE, FALSE);
    pth_attr_set(attributes, PTH_ATTR_STACK_SIZE, STACK);
    int listener = server_listen();
    while (1) {
        int socket = pth_accept(listener, NULL, NULL);
        if (socket < 0)
            server_fail("accept");
        server_no_delay(socket);
        if (pth_spawn(attributes, serve, (void *)(intptr_t)socket) == NULL)
            server_fail("no stack");
    }
}
