/* Servers with a State Thread a connection, on the library's event system for epoll. A thread waits until there is
 * something to read and then uses the buffer that all share: nothing else runs between reading and writing. */
#include "socket_server.h"
#include <st.h>

enum { STACK = 16 * 1024 };

static enum talk talk;
static char buffer[BUFFER_SIZE];

static void *serve(void *argument)
{
    st_netfd_t socket = argument;
    unsigned char seen = 0;
    int goes_on = 1;
    while (goes_on && st_netfd_poll(socket, POLLIN, ST_UTIME_NO_TIMEOUT) == 0) {
        ssize_t count = read(st_netfd_fileno(socket), buffer, sizeof buffer);
        if (count <= 0) {
            goes_on = count < 0 && (errno == EAGAIN || errno == EINTR);
            continue;
        }
        if (talk == TALK_ECHO) {
            goes_on = st_write(socket, buffer, count, ST_UTIME_NO_TIMEOUT) == count;
            continue;
        }
        for (int ends = server_ends(buffer, count, &seen); ends > 0 && goes_on; ends--)
            goes_on = st_write(socket, response, RESPONSE_SIZE, ST_UTIME_NO_TIMEOUT) == RESPONSE_SIZE &&
                      talk != TALK_CONNECT;
    }
    st_netfd_close(socket);
    return NULL;
}

int main(int argc, char **argv)
{
    talk = server_talk(argc, argv);
    if (st_set_eventsys(ST_EVENTSYS_ALT) != 0 || st_init() != 0)
        server_fail("st_init");
    st_netfd_t listener = st_netfd_open_socket(server_listen());
    if (listener == NULL)
        server_fail("cannot wait for a socket");
    while (1) {
        st_netfd_t socket = st_accept(listener, NULL, NULL, ST_UTIME_NO_TIMEOUT);
        if (socket == NULL)
            server_fail("accept");
        server_no_delay(st_netfd_fileno(socket));
        if (st_thread_create(serve, socket, 0, STACK) == NULL)
            server_fail("no stack");
    }
}
