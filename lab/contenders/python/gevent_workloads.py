"""gevent in the workloads beside the ring: a place and a channel are a Queue, a one-shot is an AsyncResult."""

import gc
import os
import sys

import gevent
from gevent.event import AsyncResult
from gevent.queue import Queue

CHILDREN = 10
# Who starts or wakes many greenlets gives way after so many.
AT_ONCE = 1_000
# No message is this: the last one of a channel.
END = -1


def end(status, line, file):
    """Ends at once: greenlets need not be torn down one by one."""
    print(line, file=file, flush=True)
    os._exit(status)


def part(total, parts, index):
    return total // parts + (index < total % parts)


def total_of(greenlets):
    return sum(greenlet.get() for greenlet in greenlets)


def spawn(spawns=1_000, batch=1):
    total = 0
    for first in range(0, spawns, batch):
        numbers = range(first, min(spawns, first + batch))
        total += total_of([gevent.spawn(lambda number: number, number) for number in numbers])
    return total % 2**32


def yields(yields=1_000, tasks=20):
    def one(times):
        for _ in range(times):
            gevent.sleep(0)
        return times

    return total_of([gevent.spawn(one, part(yields, tasks, task)) for task in range(tasks)])


def park(threads=1_000):
    counts = {"parked": 0, "woken": 0, "sum": 0}
    parked, woken = AsyncResult(), AsyncResult()

    def one(shot):
        counts["parked"] += 1
        if counts["parked"] == threads:
            parked.set()
        number = shot.get()
        counts["sum"] += number
        counts["woken"] += 1
        if counts["woken"] == threads:
            woken.set()

    shots = [AsyncResult() for _ in range(threads)]
    for index, shot in enumerate(shots):
        gevent.spawn(one, shot)
        if index % AT_ONCE == 0:
            gevent.sleep(0)
    parked.get()
    for index, shot in enumerate(shots):
        shot.set(index)
        if index % AT_ONCE == 0:
            gevent.sleep(0)
    woken.get()
    return counts["sum"]


def pingpong(trips=1_000, pairs=1):
    def answering(ping, pong, trips):
        for _ in range(trips):
            pong(ping() + 1)

    def asking(ping, pong, trips):
        number = 0
        for _ in range(trips):
            ping(number)
            number = pong() + 1
        return number

    firsts = []
    for pair in range(pairs):
        ping, pong, own = Queue(1), Queue(1), part(trips, pairs, pair)
        gevent.spawn(answering, ping.get, pong.put, own)
        firsts.append(gevent.spawn(asking, ping.put, pong.get, own))
    return total_of(firsts)


def through(messages, senders, capacity):
    link = Queue(capacity)
    left = senders

    def sending(first):
        nonlocal left
        for message in range(first, messages, senders):
            link.put(message)
        left -= 1
        if left == 0:
            link.put(END)

    def receiving():
        total = 0
        while (message := link.get()) != END:
            total += message
        return total

    for first in range(senders):
        gevent.spawn(sending, first)
    return gevent.spawn(receiving).get()


def spsc(messages=1_000, capacity=1_024):
    return through(messages, 1, capacity)


def mpsc(messages=1_000, senders=1, capacity=1_024, receive="one"):
    return through(messages, senders, capacity)


def skynet(leaves=1_000):
    def tree(first, leaves):
        if leaves == 1:
            return first
        each = leaves // CHILDREN
        return total_of([gevent.spawn(tree, first + child * each, each) for child in range(CHILDREN)])

    return gevent.spawn(tree, 0, leaves).get()


WORKLOADS = {
    "spawn": spawn,
    "yield": yields,
    "park": park,
    "pingpong": pingpong,
    "spsc": spsc,
    "mpsc": mpsc,
    "skynet": skynet,
}


def asked(words):
    """The workload, and its options by name."""
    if words[:1] == [] or words[0] not in WORKLOADS or len(words) % 2 == 0:
        raise ValueError(f"expected one of {', '.join(WORKLOADS)} [--option value]...")
    workload = WORKLOADS[words[0]]
    known = workload.__code__.co_varnames[: workload.__code__.co_argcount]
    given = {}
    for option, value in zip(words[1::2], words[2::2]):
        name = option.removeprefix("--")
        if name not in known:
            raise ValueError(f"unknown option: {option}")
        if name == "receive":
            if value != "one":
                raise ValueError(f"a queue gives one at a time, not {value}")
        elif value.isdecimal() and int(value) > 0:
            value = int(value)
        else:
            raise ValueError(f"{option}: expected a whole number of at least 1, got {value}")
        given[name] = value
    return workload, given


def main():
    try:
        workload, given = asked(sys.argv[1:])
    except ValueError as error:
        end(2, error, sys.stderr)
    answer = workload(**given)
    collections = sum(generation["collections"] for generation in gc.get_stats())
    collected = sum(generation["collected"] for generation in gc.get_stats())
    print(f"gc: collections={collections} collected={collected}", file=sys.stderr, flush=True)
    end(0, answer, sys.stdout)


try:
    main()
except Exception as error:
    end(1, f"{type(error).__name__}: {error}", sys.stderr)
