/* Starts one program and reports what it cost; the lab runs every contender through this.
 *
 * Why a program of its own: on Linux a process's peak memory (ru_maxrss) counts what it had
 * between fork and exec too, so a child of a harness of 100 MB would show 100 MB.  This launcher
 * stays below 1 MB, so its children start from next to nothing.
 *
 * Protocol: `launcher PROGRAM ARGS...`.  File descriptor 0 is where the report goes (the safe
 * half of Rust's std can hand over no other extra descriptor); it moves to 3, closed on exec, and
 * the child gets /dev/null as its input.  The report is one line:
 *     WALL_NS USER_US SYS_US MAXRSS_BYTES SWITCHES exit|signal NUMBER
 * Before it stands `unstarted ERRNO` on a line of its own if the program could not be started;
 * its status, 127, might be the program's own; or, alone, `unforked ERRNO` if there was no process
 * to start it in.
 * No process group is made here: the harness made one for the launcher and kills it whole. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define REPORT_FD 3

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* If the harness is killed outright, nobody else would end a contender that hangs. */
static void die_with_parent(void)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static long long microseconds(struct timeval t)
{
    return t.tv_sec * 1000000LL + t.tv_usec;
}

int main(int argc, char **argv)
{
    if (argc < 2 || dup2(0, REPORT_FD) < 0 || fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC) < 0)
        return 125;
    close(0);
    if (open("/dev/null", O_RDONLY) != 0)
        return 125;
    die_with_parent();

    long long start = now_ns();
    pid_t child = fork();
    if (child < 0) {
        int reason = errno;
        dprintf(REPORT_FD, "unforked %d\n", reason);
        fprintf(stderr, "launcher: fork: %s\n", strerror(reason));
        return 125;
    }
    if (child == 0) {
        die_with_parent();
        execvp(argv[1], argv + 1);
        int reason = errno;
        dprintf(REPORT_FD, "unstarted %d\n", reason);
        fprintf(stderr, "cannot start %s: %s\n", argv[1], strerror(reason));
        _exit(127);
    }
    int status;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return 125;
    long long wall = now_ns() - start;
#ifdef __APPLE__
    long long peak = usage.ru_maxrss;
#else
    long long peak = usage.ru_maxrss * 1024LL;
#endif
    dprintf(REPORT_FD, "%lld %lld %lld %lld %lld %s %d\n", wall, microseconds(usage.ru_utime),
            microseconds(usage.ru_stime), peak, (long long)usage.ru_nvcsw + usage.ru_nivcsw,
            WIFSIGNALED(status) ? "signal" : "exit",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return 0;
}
