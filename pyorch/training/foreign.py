# SPDX-License-Identifier: GPL-2.0-only
"""What readers of task graphs share: what they are asked, their result, operations made equal."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from pyorch import plugins
from pyorch.collective._graph import Call, Graph, UnequalPartsError
from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef
from pyorch.spec.limits import MOST_FLOWS
from pyorch.training.astra import System
from pyorch.training.graph import TaskGraph

#: The module of `pyorch.collective` that does an operation, and its parameters.
Algorithm = Callable[[str], tuple[Any, Any]]
#: Algorithms that do their operations among any number of ranks.
_ANY_RANKS = ("ring", "direct")


class Trace(NamedTuple):
    """The tasks of a file, and sentences on what it says and they do not."""

    graph: TaskGraph
    remarks: tuple[str, ...]


class Asked(NamedTuple):
    """What a reader of a format is asked.

    Attributes
    ----------
    files : sequence of dict
        Path and SHA-256 of the file that a scenario names, then of those that belong to it.
    algorithm : callable
        Module of `pyorch.collective` that does an operation, and its parameters.
    communicators : mapping
        Ranks of each, by its name.
    dimensions : sequence of int
        How many ranks each has.
    compute : tuple of int, optional
        Rates of an accelerator: arithmetic [1/s], memory [bit/s].
    gpus : int, optional
        How many ranks there are.
    system : System
        Of ASTRA-sim.
    step_ps : int
        Passes before a message of a collective that waits for others, when they are there [ps].
    key : str
        Of the scenario, for messages.
    """

    files: Sequence[FileRef]
    algorithm: Algorithm
    communicators: Mapping[str, Sequence[int]] = {}
    dimensions: Sequence[int] = ()
    compute: tuple[int, int] | None = None
    gpus: int | None = None
    system: System = System()
    step_ps: int = 0
    key: str = "file"

    @property
    def where(self) -> str:
        """The file, for messages."""
        return self.files[0]["path"]


class Padded:
    """Messages of operations, of which some are made larger so that ranks have equal parts.

    So many parts as the algorithm asks for: often one for each rank. NCCL pads them, too. They are
    counted before they are made.

    Parameters
    ----------
    algorithm : callable
        Module of `pyorch.collective` that does an operation, and its parameters.
    where, key : str
        File and key of the scenario, for messages.
    """

    def __init__(self, algorithm: Algorithm, where: str, key: str):
        self._algorithm, self._where, self._key = algorithm, where, key
        self._more_bytes: list[int] = []
        self._n_messages = 0

    def __call__(
        self, call: Call, times: int, where: str = "", module: ModuleType | None = None
    ) -> Graph:
        """Return the messages of an operation that is done so many times, maybe by a given module.

        Raises
        ------
        FieldError
            At `where`: the algorithm cannot do that, or there are too many messages.
        """
        chosen = (module, module.Params()) if module else self._algorithm(call.operation)
        try:
            return self._in_equal_parts(call, times, *chosen)
        except FieldError as error:
            message = _with_algorithm(call.operation, error)
            raise FieldError(self._key, f"{where or self._where}: {message}") from None

    def _in_equal_parts(self, call: Call, times: int, module: Any, params: Any) -> Graph:
        """Return the messages of the operation, or of the least larger one that has equal parts."""
        whole, parts = call, 1
        while True:
            try:
                found = self._messages(whole, times, module, params)
                break
            except UnequalPartsError as error:
                if parts % error.parts == 0:  # the algorithm refuses what it has asked for
                    raise
                parts = math.lcm(parts, error.parts)
                whole = call._replace(data_bytes=-(-call.data_bytes // parts) * parts)
        if whole.data_bytes > call.data_bytes:
            self._more_bytes.append(whole.data_bytes - call.data_bytes)
        return found

    def _messages(self, call: Call, times: int, module: Any, params: Any) -> Graph:
        """Return the messages, if they are not too many together with those before."""
        if call.operation not in module.OPERATIONS:
            name = module.__name__.rpartition(".")[2]
            raise FieldError("algorithms", f"{name} does no {call.operation}. Choose another.")
        module.check(call, params)
        n_messages = self._n_messages + module.counts(call, params).messages * times
        if n_messages > MOST_FLOWS:
            raise FieldError(
                "messages", f"{n_messages:,} with this {call.operation} of {call.ranks} ranks; at"
                f" most {MOST_FLOWS:,}.",
            )  # fmt: skip
        self._n_messages = n_messages
        return module.graph(call, params)

    def remarks(self) -> Iterator[str]:
        """Yield what there is to say."""
        if self._more_bytes:
            yield (
                f"{len(self._more_bytes)} operations are made larger, by at most"
                f" {max(self._more_bytes)} B, so that ranks have equal parts"
            )


def _with_algorithm(operation: str, error: FieldError) -> str:
    """Return what is wrong; if it is the number of ranks, which a file decides, what does any."""
    for name in _ANY_RANKS * (error.field == "ranks"):
        if operation in plugins.load("pyorch.collective", name).OPERATIONS:
            wrong = str(error).partition(". ")[0]
            return f"{operation}: {wrong}. Write algorithms: {{{operation}: {name}}}."
    return str(error)
