# SPDX-License-Identifier: GPL-2.0-only
"""What readers of task graphs share: their result, and operations whose parts are made equal."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pyorch.collective._graph import Call, Graph
from pyorch.spec.fields import FieldError
from pyorch.training.graph import TaskGraph


class Trace(NamedTuple):
    """The tasks of a file, and sentences on what it says and they do not."""

    graph: TaskGraph
    remarks: tuple[str, ...]


class Padded:
    """Messages of operations, of which some are made larger so that ranks have equal parts.

    NCCL pads them, too.

    Parameters
    ----------
    algorithm : callable
        Messages of a collective operation: `graph` of a module of `pyorch.collective`.
    where, key : str
        File and key of the scenario, for messages.
    """

    def __init__(self, algorithm: Callable[[Call], Graph], where: str, key: str):
        self._algorithm, self._where, self._key = algorithm, where, key
        self._more_bytes: list[int] = []

    def __call__(self, call: Call, where: str = "") -> Graph:
        """Return the messages; FieldError, at `where`, if the algorithm cannot do that."""
        try:
            try:
                return self._algorithm(call)
            except FieldError as error:
                padded = -(-call.data_bytes // call.ranks) * call.ranks
                if error.field != "bytes" or padded == call.data_bytes:
                    raise
                found = self._algorithm(call._replace(data_bytes=padded))
                self._more_bytes.append(padded - call.data_bytes)
                return found
        except FieldError as error:
            raise FieldError(self._key, f"{where or self._where}: {error}") from None

    def remarks(self) -> Iterator[str]:
        """Yield what there is to say."""
        if self._more_bytes:
            yield (
                f"{len(self._more_bytes)} operations are made larger, by at most"
                f" {max(self._more_bytes)} B, so that ranks have equal parts"
            )
