# SPDX-License-Identifier: GPL-2.0-only
"""What messages take of the links of hosts, when nothing is sent twice."""

from typing import Any

import numpy as np

from pyorch.spec.fields import Closed, FieldError
from pyorch.theory.fct import MIN_FRAME_BYTES

#: A message has one acknowledgement with these.
ONE_ANSWER = ("ns3::HomaTransport",)


class Wire(Closed):
    """Sizes of frames; `packets_per_ack` 0 is one acknowledgement for each message."""

    mtu_bytes: int
    header_bytes: int
    first_header_bytes: int
    ack_bytes: int
    packets_per_ack: int
    framing_bytes: int

    def sent_bytes(self, size_bytes: np.ndarray) -> np.ndarray:
        """Return the bytes of each message and of its acknowledgements on wires [byte].

        Parameters
        ----------
        size_bytes : ndarray
            Payload of each message, at least 1.
        """
        packets = -(-size_bytes // self.mtu_bytes)
        last = size_bytes - (packets - 1) * self.mtu_bytes
        full = max(self.mtu_bytes + self.header_bytes, MIN_FRAME_BYTES)
        ends = np.where(packets == 1, self.first_header_bytes, 0) + last + self.header_bytes
        frames = (packets - 1) * full + np.maximum(ends, MIN_FRAME_BYTES)
        frames += np.where(packets > 1, self.first_header_bytes, 0)
        acks = -(-packets // self.packets_per_ack) if self.packets_per_ack else 1
        answers = acks * (max(self.ack_bytes, MIN_FRAME_BYTES) + self.framing_bytes)
        return frames + packets * self.framing_bytes + answers


def wire_of(context: dict[str, Any]) -> Wire:
    """Return the sizes of a workload's transport.

    Raises
    ------
    FieldError
        The transport does not say them.
    """
    transport = context["transport"]
    given = transport.attributes
    if not {"MtuBytes", "HeaderBytes", "AckBytes"} <= given.keys():
        raise FieldError(
            "counts", f"{transport.type} does not say how it frames. Write counts: payload."
        )  # fmt: skip
    full_bytes = given["MtuBytes"] + given["HeaderBytes"]
    every = given.get("AckInterval", max(1, -(-given.get("AckEveryBytes", 0) // full_bytes)))
    return Wire(
        mtu_bytes=given["MtuBytes"],
        header_bytes=given["HeaderBytes"],
        first_header_bytes=given.get("RethBytes", 0),
        ack_bytes=given["AckBytes"],
        packets_per_ack=0 if transport.type in ONE_ANSWER else every,
        framing_bytes=context["framing_bytes"],
    )
