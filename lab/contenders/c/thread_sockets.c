/* Servers with a kernel thread a connection, which blocks in read. The buffer is on its stack: nobody says that there
 * is something to read before a thread has been given a place for it. */
#include "socket_server.h"
#include <limits.h>
#include <pthread.h>
#include <stdint.h>

static enum talk talk;

static int write_all(int socket, const char *bytes, ssize_t count)
{
    while (count > 0) {
        ssize_t written = write(socket, bytes, count);
        if (written < 0 && errno != EINTR)
            return 0;
        if (written > 0)
            bytes += written, count -= written;
    }
    return 1;
}

static void *serve(void *argument)
{
    int socket = (int)(intptr_t)argument;
    char buffer[BUFFER_SIZE];
    unsigned char seen = 0;
    ssize_t count;
    int goes_on = 1;
    while (goes_on && ((count = read(socket, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))) {
        if (talk == TALK_ECHO) {
            goes_on = write_all(socket, buffer, count);
            continue;
        }
        for (int ends = server_ends(buffer, count, &seen); ends > 0 && goes_on; ends--)
            goes_on = write_all(socket, response, RESPONSE_SIZE) && talk != TALK_CONNECT;
    }
    close(socket);
    return NULL;
}

int main(int argc, char **argv)
{
    talk = server_talk(argc, argv);
    int listener = server_listen();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + 16 * 1024);
    pthread_attr_setguardsize(&attributes, 0);
    while (1) {
        int socket = accept(listener, NULL, NULL);
        if (socket < 0) {
            if (errno == ECONNABORTED || errno == EINTR)
                continue;
            server_fail("accept");
        }
        server_no_delay(socket);
        pthread_t thread;
        errno = pthread_create(&thread, &attributes, serve, (void *)(intptr_t)socket);
        if (errno != 0)
            server_fail("cannot start a thread");
    }
}
