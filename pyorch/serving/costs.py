# SPDX-License-Identifier: GPL-2.0-only
"""Takes a model, its formats and a device, returns what one layer computes, reads and sends.

A half of a layer lasts as long as its arithmetic at the rate that layers reach, or as long as what
it reads from memory, whichever is longer (roofline). Embeddings, routers and sampling are left out.
"""

from typing import NamedTuple

import numpy as np

from pyorch.theory._quantities import BITS_PER_BYTE, PS_PER_S
from pyorch.theory.parallelism import Setup


class Pool(NamedTuple):
    """Instances that are alike: `groups` of `tensor` devices that share the experts of a layer."""

    instances: int
    tensor: int
    groups: int

    @property
    def devices(self) -> int:
        """Devices of all instances."""
        return self.instances * self.devices_each

    @property
    def devices_each(self) -> int:
        """Devices of one instance."""
        return self.tensor * self.groups


class Costs(NamedTuple):
    """One layer of a model, nothing divided.

    Attributes
    ----------
    attention_flop, attention_bytes : float
        Matrices of attention: arithmetic of a token [FLOP], and all of them [byte].
    score_flop : float
        Scores and values of a token with another one [FLOP].
    kv_bytes : float
        Keys and values of a token [byte].
    kv_shards : int
        Parts into which tensor parallelism can cut them: heads; 1 with latent attention, where
        each device keeps all.
    shared_flop, shared_bytes : float
        Of experts that every token meets [FLOP], [byte].
    expert_flop, expert_bytes : float
        Of one expert, or of the feed-forward of a dense model [FLOP], [byte].
    experts, active_experts : int
        How many there are, and how many a token visits.
    activation_bytes, dispatch_bytes, combine_bytes : float
        What a token is between two layers, on its way to an expert, and back [byte].
    flop_per_s, memory_bps : float
        Of a device [FLOP/s], [bit/s].
    layers : int
        Of the whole model.
    """

    attention_flop: float
    attention_bytes: float
    score_flop: float
    kv_bytes: float
    kv_shards: int
    shared_flop: float
    shared_bytes: float
    expert_flop: float
    expert_bytes: float
    experts: int
    active_experts: int
    activation_bytes: float
    dispatch_bytes: float
    combine_bytes: float
    flop_per_s: float
    memory_bps: float
    layers: int

    def attention_ps(self, pool: Pool, tokens, scores, read_tokens) -> np.ndarray:
        """Return how long attention lasts on each group of devices [ps].

        Parameters
        ----------
        tokens : ndarray, one for each group
            That are computed.
        scores : ndarray
            Sum over these of the tokens that each looks at.
        read_tokens : ndarray
            Tokens whose keys and values are read.
        """
        flop = self.attention_flop * tokens + self.score_flop * scores
        shards = min(self.kv_shards, pool.tensor)
        read = self.attention_bytes * (tokens > 0) / pool.tensor
        return self._time_ps(flop / pool.tensor, read + self.kv_bytes * read_tokens / shards)

    def feed_forward_ps(self, pool: Pool, tokens, copies, experts) -> np.ndarray:
        """Return how long the feed-forward lasts on each group [ps].

        Parameters
        ----------
        tokens : ndarray, one for each group
            Its own, which shared experts see.
        copies, experts : ndarray
            Copies of tokens that come to its experts, and experts that get any.
        """
        flop = self.shared_flop * tokens + self.expert_flop * copies
        read = self.shared_bytes * (tokens > 0) + self.expert_bytes * experts
        return self._time_ps(flop / pool.tensor, read / pool.tensor)

    def kv_device_bytes(self, pool: Pool, tokens: int) -> float:
        """Return keys and values of one layer that a device keeps of so many tokens [byte]."""
        return self.kv_bytes * tokens / min(self.kv_shards, pool.tensor)

    def device_bytes(self, pool: Pool, tokens: int) -> float:
        """Return weights of all layers and the keys and values of tokens on a device [byte]."""
        weights = self.attention_bytes + self.shared_bytes
        weights += self.expert_bytes * self.experts / pool.groups
        return self.layers * (weights / pool.tensor + self.kv_device_bytes(pool, tokens))

    def _time_ps(self, flop: np.ndarray, read_bytes: np.ndarray) -> np.ndarray:
        computing = flop / self.flop_per_s
        reading = read_bytes * BITS_PER_BYTE / self.memory_bps
        return np.maximum(computing, reading) * PS_PER_S


def costs(setup: Setup, memory_bps: int) -> Costs:
    """Return what one layer of a preset costs on devices that read memory at a rate."""
    model, precision = setup.model, setup.precision
    weight, sent = precision.weight_bytes, precision.activation_bytes
    shared = model.shared_experts * model.expert_parameters
    return Costs(
        attention_flop=2.0 * model.attention_parameters,
        attention_bytes=weight * model.attention_parameters,
        score_flop=2.0 * model.heads * model.score_dimension,
        kv_bytes=sent * model.key_value_elements,
        kv_shards=model.key_value_shards,
        shared_flop=2.0 * shared,
        shared_bytes=weight * shared,
        expert_flop=2.0 * model.expert_parameters,
        expert_bytes=weight * model.expert_parameters,
        experts=model.experts,
        active_experts=model.active_experts,
        activation_bytes=sent * model.hidden,
        dispatch_bytes=(precision.dispatch_bytes or sent) * model.hidden,
        combine_bytes=(precision.combine_bytes or sent) * model.hidden,
        flop_per_s=float(setup.cluster.layer_flop_per_s),
        memory_bps=float(memory_bps),
        layers=model.layers,
    )
