# SPDX-License-Identifier: GPL-2.0-only
"""In which order a stage of a pipeline does its passes, and what of a step it waits.

Sources: one forward, one backward (1F1B): Narayanan et al., PipeDream, SOSP 2019, section 3.2;
interleaved: Narayanan et al., SC 2021, section 2.2.
"""

from typing import NamedTuple


class Pass(NamedTuple):
    """One pass of a micro-batch through one model chunk of a stage."""

    backward: bool
    micro_batch: int
    chunk: int  #: of the model chunks of a stage, from 0, in the order of the layers


def one_forward_one_backward(
    stage: int, stages: int, micro_batches: int, chunks: int = 1
) -> list[Pass]:
    """Return the passes of a stage in their order.

    Parameters
    ----------
    chunks : int
        Model chunks of each stage; with more than one, micro-batches are a multiple of stages.
    """
    total = micro_batches * chunks
    if chunks == 1:
        warm_up = min(stages - stage - 1, total)
    else:
        warm_up = min(2 * (stages - stage - 1) + (chunks - 1) * stages, total)

    def passed(index: int, backward: bool) -> Pass:
        group, within = divmod(index, stages * chunks)
        chunk = within // stages
        return Pass(backward, group * stages + within % stages,
                    chunks - 1 - chunk if backward else chunk)  # fmt: skip

    if chunks == 1:
        forward = [Pass(False, i, 0) for i in range(total)]
        backward = [Pass(True, i, 0) for i in range(total)]
    else:
        forward = [passed(i, False) for i in range(total)]
        backward = [passed(i, True) for i in range(total)]
    order = forward[:warm_up]
    for index in range(total - warm_up):
        order += [forward[warm_up + index], backward[index]]
    return order + backward[total - warm_up :]


def bubble_share(stages: int, micro_batches: int, chunks: int = 1) -> float:
    """Return the share of a step in which a device waits, where passes take all of the time [1].

    (p-1) / (m v + p-1): the passes of p-1 micro-batches through one chunk.
    """
    return (stages - 1) / (micro_batches * chunks + stages - 1)
