"""The thread ring on gevent: one greenlet a member, a Queue of one a link.

A Channel, which holds nothing, would make a ring of one wait for itself.
"""

import gc
import os
import sys

import gevent
from gevent.event import AsyncResult
from gevent.queue import Queue


def fail(what, given):
    end(2, f"{what}: {given}", sys.stderr)


def end(status, line, file):
    """Ends at once: greenlets that wait for ever need not be torn down one by one."""
    print(line, file=file, flush=True)
    os._exit(status)


def parse(words):
    ring = {"--threads": 503, "--hops": 10_000_000, "--order": "forward"}
    if words[:1] != ["ring"] or len(words) % 2 == 0:
        fail("expected", "ring [--option value]...")
    for option, value in zip(words[1::2], words[2::2]):
        if option not in ring:
            fail("unknown option", option)
        if option == "--order":
            if value not in ("forward", "reverse", "shuffled"):
                fail("unknown order (forward, reverse, shuffled)", value)
        elif not value.isdecimal() or int(value) < (option == "--threads"):
            fail("expected a larger whole number, got", value)
        else:
            value = int(value)
        ring[option] = value
    return ring["--threads"], ring["--hops"], ring["--order"]


def creation_order(n, name):
    """Fisher-Yates over splitmix64 with the seed that all contenders use."""
    order = list(range(n))
    if name == "reverse":
        order.reverse()
    if name == "shuffled":
        word = 2**64 - 1
        state = 503
        for k in range(n - 1, 0, -1):
            state = (state + 0x9E3779B97F4A7C15) & word
            z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & word
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
            j = (z ^ (z >> 31)) % (k + 1)
            order[k], order[j] = order[j], order[k]
    return order


def member(number, get, put, answer):
    while True:
        token = get()
        if token == 0:
            answer.set(number)
            return
        put(token - 1)


def main():
    threads, hops, order = parse(sys.argv[1:])
    links = [Queue(1) for _ in range(threads)]
    answer = AsyncResult()
    for i in creation_order(threads, order):
        gevent.spawn(member, i + 1, links[i].get, links[(i + 1) % threads].put, answer)
    links[0].put(hops)
    number = answer.get()
    collections = sum(generation["collections"] for generation in gc.get_stats())
    collected = sum(generation["collected"] for generation in gc.get_stats())
    print(f"gc: collections={collections} collected={collected}", file=sys.stderr, flush=True)
    end(0, number, sys.stdout)


try:
    main()
except Exception as error:
    end(1, f"{type(error).__name__}: {error}", sys.stderr)
