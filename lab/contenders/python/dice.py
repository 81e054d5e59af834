"""The workload dice on libraries for distributions: icepool or dyce, which is the first word of the command.

A run evaluates one distribution for the first time, and times that alone: start and import are over, and no library has
anything in its caches.
"""

import gc
import sys
import time

# The answer is modulo this prime, and the generating function is evaluated at this point.
PRIME = 2**61 - 1
POINT = 1_000_003


def of_icepool():
    """How to evaluate each distribution, and the counts of one by outcome with their sum."""
    import icepool

    def paths(dice, sides, kept):
        return icepool.map(lambda *roll: sum(roll), *[icepool.d(sides)] * dice)

    ways = {
        "sum": lambda dice, sides, kept: dice @ icepool.d(sides),
        "keep": lambda dice, sides, kept: icepool.d(sides).pool(dice).highest(kept).sum(),
        "paths": paths,
    }
    return ways, lambda die: (die.items(), die.denominator())


def of_dyce():
    """The same of dyce."""
    import warnings

    from dyce import H, P
    from dyce.evaluation import expand
    from dyce.lifecycle import ExperimentalWarning

    warnings.simplefilter("ignore", ExperimentalWarning)

    def paths(dice, sides, kept):
        return expand(lambda *roll: sum(die.outcome for die in roll), *[H(sides)] * dice)

    ways = {
        "sum": lambda dice, sides, kept: dice @ H(sides),
        "keep": lambda dice, sides, kept: (dice @ P(sides)).at(slice(-kept, None)),
        "paths": paths,
    }
    return ways, lambda histogram: (histogram.items(), histogram.total)


LIBRARIES = {"icepool": of_icepool, "dyce": of_dyce}


def generating_function(counts, total):
    """The sum of each probability times POINT to the power of its outcome: the same for equal fractions."""
    terms = (count * pow(POINT, outcome, PRIME) for outcome, count in counts)
    return sum(terms) * pow(total, -1, PRIME) % PRIME


def asked(words):
    """The library, which distribution, and the numbers that it takes."""
    if len(words) % 2 == 1 or words[0:1] == [] or words[0] not in LIBRARIES or words[1] != "dice":
        raise ValueError(f"expected one of {', '.join(LIBRARIES)}, and dice [--option value]...")
    what, numbers = "sum", {"dice": 8, "sides": 6, "kept": 10}
    for option, value in zip(words[2::2], words[3::2]):
        name = option.removeprefix("--")
        if name == "what" and value in ("sum", "keep", "paths"):
            what = value
        elif name in numbers and value.isdecimal() and int(value) > 0:
            numbers[name] = int(value)
        else:
            raise ValueError(f"there is no {option} {value}")
    return words[0], what, numbers


def main():
    try:
        library, what, numbers = asked(sys.argv[1:])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    ways, parts = LIBRARIES[library]()
    evaluation = ways[what]
    start = time.perf_counter()
    distribution = evaluation(**numbers)
    took = time.perf_counter() - start
    collections = sum(generation["collections"] for generation in gc.get_stats())
    collected = sum(generation["collected"] for generation in gc.get_stats())
    print(f"figures: evaluation_us={took * 1e6}", file=sys.stderr)
    print(f"gc: collections={collections} collected={collected}", file=sys.stderr)
    print(generating_function(*parts(distribution)))
    return 0


try:
    sys.exit(main())
except Exception as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1)
