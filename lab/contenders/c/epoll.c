/* Servers as a bare loop over epoll on one thread: the floor. Nothing is kept of a connection but a byte. */
#define _GNU_SOURCE
#include "socket_server.h"
#include <fcntl.h>
#include <sys/epoll.h>

enum { EVENTS = 1024, DESCRIPTORS = 1 << 20 };

static unsigned char seen[DESCRIPTORS];
static char buffer[BUFFER_SIZE];

static void add(int epoll, int socket)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
    if (socket >= DESCRIPTORS || epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0)
        server_fail("cannot wait for a socket");
}

static void accept_all(int epoll, int listener)
{
    int socket;
    while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        server_no_delay(socket);
        seen[socket] = 0;
        add(epoll, socket);
    }
    if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        server_fail("accept");
}

/* Whether the connection goes on. A reply is so short that the socket always has room for it. */
static int serve(int socket, enum talk talk)
{
    ssize_t count = read(socket, buffer, sizeof buffer);
    if (count <= 0)
        return count < 0 && (errno == EAGAIN || errno == EINTR);
    if (talk == TALK_ECHO)
        return write(socket, buffer, count) == count;
    for (int ends = server_ends(buffer, count, &seen[socket]); ends > 0; ends--)
        if (write(socket, response, RESPONSE_SIZE) != RESPONSE_SIZE || talk == TALK_CONNECT)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    enum talk talk = server_talk(argc, argv);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = server_listen();
    fcntl(listener, F_SETFL, O_NONBLOCK);
    add(epoll, listener);
    static struct epoll_event events[EVENTS];
    while (1) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int socket = events[i].data.fd;
            if (socket == listener)
                accept_all(epoll, listener);
            else if (!serve(socket, talk))
                close(socket);
        }
    }
}
