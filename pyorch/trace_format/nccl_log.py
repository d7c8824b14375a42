# SPDX-License-Identifier: GPL-2.0-only
"""Logs of NCCL and RCCL (`NCCL_DEBUG_SUBSYS=INIT,COLL`): operations of each communicator.

A line of an operation has its call: count, type, root or peer, communicator and stream. A line that
ends in ``Init COMPLETE`` has the rank of a communicator and its GPU. Sends and recvs of one rank
with one `opCount` are a group.
"""

from pyorch.spec.files import opened
from pyorch.trace_format import _nccl_tasks
from pyorch.trace_format._nccl_lines import Log
from pyorch.training.foreign import Asked, Trace

USES = ("algorithms", "step_delay")


def read(asked: Asked) -> Trace:
    """Return the tasks of a log, or of the logs of several ranks one after the other."""
    with opened(asked.files[0]) as stream:
        log = Log(stream, asked.where, asked.key)
    return _nccl_tasks.trace(asked, log)
