/* What servers in C share: `PROGRAM http|connect|echo ...`, a socket that listens, and the end of a request's head.
 *
 * A server prints `port N` and serves until a signal ends it.  Of a connection nothing is kept while nothing comes but
 * how much of the end of a head has been seen: a head may come in pieces, and a buffer belongs to the handler only
 * while there is something to read. */
#ifndef SOCKET_SERVER_H
#define SOCKET_SERVER_H
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER_SIZE = 4096, BACKLOG = 1024 };
enum talk { TALK_HTTP, TALK_CONNECT, TALK_ECHO };

static const char response[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\nThe same 32 bytes for everybody\n";
enum { RESPONSE_SIZE = sizeof response - 1 };

static inline void server_fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static inline enum talk server_talk(int argc, char **argv)
{
    const char *names[] = {"http", "connect", "echo"};
    for (int i = 0; argc > 1 && i < 3; i++)
        if (strcmp(argv[1], names[i]) == 0)
            return (enum talk)i;
    fprintf(stderr, "expected http, connect or echo\n");
    exit(2);
}

/* A socket that listens, whose port has been printed. */
static inline int server_listen(void)
{
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, BACKLOG) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        server_fail("cannot listen");
    printf("port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static inline void server_no_delay(int socket)
{
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* How many requests end in these bytes; `*seen` is how much of the end of a head there was before them. */
static inline int server_ends(const char *bytes, ssize_t count, unsigned char *seen)
{
    int ends = 0;
    unsigned char at = *seen;
    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] == "\r\n\r\n"[at])
            at++;
        else
            at = bytes[i] == '\r';
        if (at == 4) {
            ends++;
            at = 0;
        }
    }
    *seen = at;
    return ends;
}
#endif
