/* Holds up the calling thread: what `waiting/` is to the contenders in Rust. */
#define _GNU_SOURCE
#include "hold.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#endif

struct later {
    int milliseconds, file;
    uint64_t page, size;
};

static void pass(int milliseconds)
{
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Runs `answer` on a thread of its own. */
static int start(pthread_t *thread, void *(*answer)(void *), struct later *later)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    int error = pthread_create(thread, &small, answer, later);
    pthread_attr_destroy(&small);
    return error;
}

static void *writes(void *given)
{
    struct later *later = given;
    pass(later->milliseconds);
    return write(later->file, "x", 1) == 1 ? NULL : given;
}

int hold_read(int milliseconds)
{
    int ends[2];
    char byte;
    pthread_t thread;
    if (pipe(ends) != 0)
        return errno;
    struct later later = {.milliseconds = milliseconds, .file = ends[1]};
    int error = start(&thread, writes, &later);
    if (error == 0) {
        ssize_t got;
        while ((got = read(ends[0], &byte, 1)) < 0 && errno == EINTR)
            ; /* the runtime's own signals */
        error = got == 1 ? 0 : errno;
        pthread_join(thread, NULL);
    }
    close(ends[0]);
    close(ends[1]);
    return error;
}

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int hold_spin(int milliseconds)
{
    long long until = now_ns() + milliseconds * 1000000LL;
    while (now_ns() < until)
        ;
    return 0;
}

#ifdef __linux__
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static void *brings(void *given)
{
    struct later *later = given;
    struct uffdio_zeropage zero = {.range = {later->page, later->size}};
    pass(later->milliseconds);
    return ioctl(later->file, UFFDIO_ZEROPAGE, &zero) == 0 ? NULL : given;
}

int hold_fault(int milliseconds)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    pthread_t thread;
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return errno;
    int error = 0, file = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register all = {.range = {(uintptr_t)page, size}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (file < 0 || ioctl(file, UFFDIO_API, &api) != 0 || ioctl(file, UFFDIO_REGISTER, &all) != 0)
        error = errno;
    struct later later = {milliseconds, file, (uintptr_t)page, size};
    if (error == 0 && (error = start(&thread, brings, &later)) == 0) {
        (void)*(volatile char *)page;
        pthread_join(thread, NULL);
    }
    if (file >= 0)
        close(file);
    munmap(page, size);
    return error;
}
#else
int hold_fault(int milliseconds)
{
    (void)milliseconds;
    return ENOSYS;
}
#endif
