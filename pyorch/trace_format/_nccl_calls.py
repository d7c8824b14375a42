# SPDX-License-Identifier: GPL-2.0-only
"""Operations of NCCL as its logs and profilers name them, and who has called them."""

from typing import Any, NamedTuple

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, MOST_TASKS

#: Bytes of each element, by the number of its type (ncclDataType_t).
TYPE_BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)
#: Names there to operations here, and by how many ranks a count is multiplied: 1 or all.
OPERATIONS = {
    "AllReduce": ("all_reduce", False), "Broadcast": ("broadcast", False),
    "Reduce": ("reduce", False), "AllGather": ("all_gather", True),
    "ReduceScatter": ("reduce_scatter", True), "AlltoAll": ("all_to_all", True),
    "AllToAll": ("all_to_all", True),
}  # fmt: skip
#: NCCL makes these of messages between the root and each other rank; a count is of one of them.
ROOTED = ("Gather", "Scatter")
P2P = ("Send", "Recv")
_NAMES = (*OPERATIONS, *ROOTED, *P2P)


class Member(NamedTuple):
    """Communicator `group` as one of its ranks has it, in line `at` for the first time."""

    group: int
    rank: int
    ranks: int
    device: tuple[Any, ...]
    at: int


class Operation(NamedTuple):
    """One call in line `at`: bytes of its count; `root` is the peer of a Send or Recv."""

    at: int
    name: str
    member: int
    size_bytes: int
    root: int
    stream: bytes
    turn: bytes


class Calls:
    """What a file says of operations; readers of formats fill it.

    Parameters
    ----------
    where, key : str
        File and key of the scenario, for messages.

    Attributes
    ----------
    members : list of Member
        A communicator on each rank that the file has.
    operations : list of Operation
        Calls; those of a rank are in their order.
    said : list of str
        What else is to be said.
    """

    def __init__(self, where: str, key: str):
        self._where, self._key = where, key
        self.members: list[Member] = []
        self.operations: list[Operation] = []
        self.said: list[str] = []

    def error(self, at: int, what: str) -> FieldError:
        """Return what names file and line."""
        return FieldError(self._key, f"{self._where}:{at}: {what}")

    def refused(self, what: str) -> FieldError:
        """Return what names the file."""
        return FieldError(self._key, f"{self._where}: {what}")

    def check_name(self, at: int, name: str) -> None:
        """Raise FieldError unless an operation is one of those that are read."""
        if name not in _NAMES:
            raise self.error(
                at, f"operation {quoted(name)} is none of {', '.join(_NAMES)}."
                f"{did_you_mean(name, _NAMES)}",
            )  # fmt: skip

    def add(self, operation: Operation) -> None:
        """Take an operation, unless it is too large, or its root is no rank."""
        at, name, member, size, root = operation[:5]
        ranks = self.members[member].ranks
        if size * (ranks if OPERATIONS.get(name, ("", False))[1] else 1) > LARGEST_MESSAGE_BYTES:
            raise self.error(at, f"{size:,} B are too many; at most {LARGEST_MESSAGE_BYTES:,}.")
        if not 0 <= root < ranks:
            raise self.error(at, f"root {root} is none of {ranks} ranks.")
        self.operations.append(operation)
        if len(self.operations) > MOST_TASKS:
            raise self.refused(f"more than {MOST_TASKS:,} operations.")
