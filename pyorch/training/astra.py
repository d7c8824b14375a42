# SPDX-License-Identifier: GPL-2.0-only
"""System files of ASTRA-sim (JSON): how its collectives are cut, and what each step costs.

A vector is cut into `preferred-dataset-splits` parts, of which `active-chunks-per-dimension` are
under way at a time. `endpoint-delay` [ns] passes before the first message and after each that has
come. What has to be reduced is read twice and written once at `local-mem-bw` [10^9 B/s]; each time
is cut to whole ns.

With several dimensions a part goes through one after the other: an all-reduce is reduced up to the
last dimension and gathered on the way back (`localBWAware`), or is one in each. In a dimension,
parts follow each other in their order, and gathering follows reducing. A `direct` all-reduce is a
direct reduce-scatter, and on each rank that has its part a direct all-gather.

Source: ASTRA-sim 518bd51, system/Sys.cc, PacketBundle.cc, MemBus.cc, Ring.cc and AllToAll.cc.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pyorch import plugins
from pyorch.collective._graph import Call, Graph
from pyorch.errors import quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import decimal, json_value
from pyorch.spec.limits import LONGEST_PS

_PS_PER_NS, _MEMORY_PASSES = 1000, 3
#: Names there to modules of `pyorch.collective`, by operation.
_OPERATIONS = {
    "all-reduce": "all_reduce", "all-gather": "all_gather", "reduce-scatter": "reduce_scatter",
    "all-to-all": "all_to_all",
}  # fmt: skip
ALGORITHMS = {
    "ring": "ring", "oneRing": "ring", "direct": "direct", "oneDirect": "direct",
    "halvingDoubling": "halving_doubling", "oneHalvingDoubling": "halving_doubling",
}  # fmt: skip
#: Whole numbers, with the least and the most that they may be.
_NUMBERS = {
    "endpoint-delay": (0, 10**9), "preferred-dataset-splits": (1, 2**20),
    "active-chunks-per-dimension": (1, 2**20),
}  # fmt: skip
#: Rates are 0 or at least this: 1 kB/s and a million operations a second.
_LEAST_RATE = Decimal("1e-6")
_OPTIMIZATION, _MOST_DIMENSIONS = "collective-optimization", 8
#: Keys that change nothing for one collective at a time, or only what is printed.
_IDLE = (
    "scheduling-policy", "boost-mode", "track-local-mem",
    "local-mem-trace-filename", "trace-enabled", "L", "o", "g", "G", "local-reduction-delay",
    "intra-dimension-scheduling", "inter-dimension-scheduling",
)  # fmt: skip


class Phase(NamedTuple):
    """What the ranks of one dimension do one after the other, and the module that does it."""

    stages: tuple[Call, ...]
    axis: int
    module: ModuleType


class System(NamedTuple):
    """What a file says.

    Attributes
    ----------
    endpoint_ps : int
        Before the first message, and after each that has come [ps].
    memory_gbps : float
        Of the memory of a rank [10^9 B/s]; 0: it costs nothing.
    splits, active : int
        Parts of a vector; how many of them are under way at a time.
    algorithms : tuple of (str, tuple of str)
        Of each operation that has some: one, or one for each dimension.
    is_local : bool
        An all-reduce of several dimensions is reduced on the way up, and gathered on the way back.
    peak_flops : int
        Of the roofline [1/s]; 0: it is off.
    unused : tuple of str
        Keys that decide nothing.
    """

    endpoint_ps: int = 0
    memory_gbps: float = 0
    splits: int = 1
    active: int = 1
    algorithms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    is_local: bool = False
    peak_flops: int = 0
    unused: tuple[str, ...] = ()

    def flat(self) -> dict[str, str]:
        """Return the algorithm of each operation of a part of the ranks: a ring for several."""
        return {name: its[0] if len(its) == 1 else "ring" for name, its in self.algorithms}

    def phases(self, call: Call, sizes: Sequence[int], axes: Sequence[int]) -> list[Phase]:
        """Return the operations of a part, one dimension after the other.

        Parameters
        ----------
        call : Call
            Of all ranks of the dimensions.
        sizes : sequence of int
            Ranks of each dimension; those of one rank do nothing.
        axes : sequence of int
            Dimensions that take part, the first one first.
        """
        names = dict(self.algorithms)[call.operation]
        axes = [axis for axis in axes if sizes[axis] > 1]
        found: list[Phase] = []

        def add(operation: str, axis: int, data_bytes: int) -> None:
            module = plugins.load("pyorch.collective", names[axis])
            own = Call(operation, sizes[axis], data_bytes)
            found.append(Phase(stages(own, names[axis]), axis, module))

        size = call.data_bytes
        if call.operation == "all_to_all" or call.operation == "all_reduce" and not self.is_local:
            for axis in axes:
                add(call.operation, axis, size)
            return found
        if call.operation != "all_gather":
            last = axes[-1:] if call.operation == "all_reduce" else []
            for axis in axes[: len(axes) - len(last)]:
                add("reduce_scatter", axis, size)
                size = max(size // sizes[axis], 1)
            for axis in last:
                add("all_reduce", axis, size)
        else:
            size = max(size // math.prod(sizes[axis] for axis in axes), 1)
        if call.operation != "reduce_scatter":
            for axis in reversed(axes[:-1] if call.operation == "all_reduce" else axes):
                size *= sizes[axis]
                add("all_gather", axis, size)
        return found

    def part(self, call: Call) -> Call:
        """Return the operation on one part of the vector."""
        return call._replace(data_bytes=max(call.data_bytes // self.splits, 1))

    def arrived_ps(self, messages: Graph) -> np.ndarray:
        """Return how long each message occupies its receiver when it has come [ps]."""
        reduction_ps = np.zeros(len(messages.bytes), dtype=np.int64)
        if self.memory_gbps:
            once_ns = messages.bytes * messages.reduced / self.memory_gbps
            if (longest_ns := once_ns.max(initial=0)) * _MEMORY_PASSES * _PS_PER_NS > LONGEST_PS:
                raise FieldError(
                    "system", f"local-mem-bw: {self.memory_gbps}: a pass through memory lasts"
                    f" {longest_ns:.3g} ns; three of them at most ten days.",
                )  # fmt: skip
            reduction_ps = _MEMORY_PASSES * once_ns.astype(np.int64) * _PS_PER_NS
        return self.endpoint_ps + reduction_ps


def stages(call: Call, algorithm: str) -> tuple[Call, ...]:
    """Return what an algorithm does one after the other: `direct` reduces, and then gathers.

    Examples
    --------
    >>> [stage.operation for stage in stages(Call("all_reduce", 8, 800), "direct")]
    ['reduce_scatter', 'all_gather']
    """
    if (call.operation, algorithm) != ("all_reduce", "direct"):
        return (call,)
    return call._replace(operation="reduce_scatter"), call._replace(operation="all_gather")


def read(text: str, where: str, key: str = "system") -> System:
    """Return what a file says; FieldError names the key of what is wrong.

    Examples
    --------
    >>> read('{"endpoint-delay": 10, "all-reduce-implementation": ["ring"]}', "x.json").endpoint_ps
    10000
    """
    found = json_value(text, where, key)
    if not isinstance(found, dict):
        raise FieldError(key, f"{where}: is no object with keys of a system.")
    numbers = {
        name: _number(found.get(name, least), least, most, f"{where}: {name}", key)
        for name, (least, most) in _NUMBERS.items()
    }
    memory_gbps = _rate(found.get("local-mem-bw", 0), f"{where}: local-mem-bw", key)
    peak_tflops = 0.0
    if found.get("roofline-enabled"):
        peak_tflops = _rate(found.get("peak-perf", 0), f"{where}: peak-perf", key)
        if not (peak_tflops and memory_gbps):
            raise FieldError(key, f"{where}: a roofline needs peak-perf and local-mem-bw.")
    if found.get("model-shared-bus") or found.get("replay-only"):
        name = "model-shared-bus" if found.get("model-shared-bus") else "replay-only"
        raise FieldError(key, f"{where}: {name} is not simulated. Write 0.")
    is_local = found.get(_OPTIMIZATION, "baseline")
    if is_local not in ("baseline", "localBWAware"):
        raise FieldError(
            key, f"{where}: {_OPTIMIZATION}: {quoted(is_local)} is neither baseline nor"
            " localBWAware.",
        )  # fmt: skip
    algorithms: dict[str, tuple[str, ...]] = {}
    for name, operation in _OPERATIONS.items():
        if (given := found.get(f"{name}-implementation")) is not None:
            algorithms[operation] = _algorithms(given, f"{where}: {name}-implementation", key)
    lengths = {len(its) for its in algorithms.values()}
    if len(lengths) > 1:
        raise FieldError(
            key, f"{where}: implementations of {min(lengths)} and of {max(lengths)} dimensions."
            " Write as many for each operation.",
        )  # fmt: skip
    known = {*_NUMBERS, "local-mem-bw", "roofline-enabled", "model-shared-bus", "replay-only",
             *(f"{name}-implementation" for name in _OPERATIONS)}  # fmt: skip
    if peak_tflops:
        known.add("peak-perf")
    if max(lengths, default=1) > 1:
        known.add(_OPTIMIZATION)
    if unknown := [
        name for name in found if name not in {*known, "peak-perf", _OPTIMIZATION, *_IDLE}
    ]:
        raise FieldError(
            key, f"{where}: {quoted(unknown[0])} is not read; known are"
            f" {', '.join(sorted({*known, _OPTIMIZATION, *_IDLE}))}.",
        )  # fmt: skip
    return System(
        numbers["endpoint-delay"] * _PS_PER_NS, memory_gbps, numbers["preferred-dataset-splits"],
        numbers["active-chunks-per-dimension"], tuple(sorted(algorithms.items())),
        is_local == "localBWAware", round(peak_tflops * 10**12),
        tuple(sorted(found.keys() - known)),
    )  # fmt: skip


def _number(value: Any, least: int, most: int, where: str, key: str) -> int:
    if type(value) is not int or not least <= value <= most:
        raise FieldError(key, f"{where}: {quoted(value)} is no whole number, {least} to {most}.")
    return value


def _rate(value: Any, where: str, key: str) -> float:
    found = decimal(value, where, key)
    if found and found < _LEAST_RATE:
        raise FieldError(key, f"{where}: {quoted(value)} is less than {_LEAST_RATE}, and not 0.")
    return float(found)


def _algorithms(given: Any, where: str, key: str) -> tuple[str, ...]:
    """Return the algorithm of each dimension, or one of all of them together."""
    if not isinstance(given, list) or not all(isinstance(n, str) for n in given):
        raise FieldError(key, f"{where}: write a list of names.")
    if not 1 <= len(given) <= _MOST_DIMENSIONS:
        raise FieldError(key, f"{where}: {len(given)} dimensions; 1 to {_MOST_DIMENSIONS}.")
    for name in given:
        if name not in ALGORITHMS:
            raise FieldError(key, f"{where}: {quoted(name)} is none of {', '.join(ALGORITHMS)}.")
        if len(given) > 1 and name.startswith("one"):
            raise FieldError(
                key, f"{where}: {quoted(name)} is of all dimensions together. Write it alone."
            )
    return tuple(ALGORITHMS[name] for name in given)
