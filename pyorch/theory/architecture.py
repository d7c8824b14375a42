# SPDX-License-Identifier: GPL-2.0-only
"""Takes the shape of a transformer, leaves its parameters and its arithmetic, dense or MoE.

Sources: [hotnets24] sections 3.2, 4 and 5; [korthikanti22] for the arithmetic; [levine20] for
depth and width.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import lambertw

from pyorch.theory._quantities import Real

#: [levine20]: ln(width) = 5.039 + 0.0555 * depth. Quoted from memory; checked only by its
#: abstract, which says that 1T parameters want a width of about 30K.
LEVINE_OFFSET = 5.039
LEVINE_SLOPE = 0.0555
#: Parameters of a layer over the square of its width: 4 in attention, 8 in the feed-forward.
LAYER_SQUARES = 12


@dataclass(frozen=True)
class Model:
    """Shape of a transformer without biases, with untied embeddings.

    Attributes
    ----------
    layers, hidden, heads, vocabulary : int
        Depth, width, attention heads [1], vocabulary [token].
    kv_heads : int
        Heads of keys and values; equal to `heads` unless queries are grouped.
    feed_forward : int
        Inner width of the feed-forward; 4 * `hidden` in [hotnets24].
    feed_forward_matrices : int
        2, or 3 if the feed-forward is gated.
    experts, active_experts : int
        Copies of the feed-forward, and how many of them a token visits; 1 and 1 is dense.
    """

    layers: int
    hidden: int
    heads: int
    vocabulary: int
    kv_heads: int
    feed_forward: int
    feed_forward_matrices: int = 2
    experts: int = 1
    active_experts: int = 1

    @property
    def head_dimension(self) -> float:
        """Width of one head."""
        return self.hidden / self.heads

    @property
    def attention_parameters(self) -> float:
        """Parameters of the attention of one layer: 4 h^2 without grouped queries."""
        return self.hidden**2 * (2 + 2 * self.kv_heads / self.heads)

    @property
    def expert_parameters(self) -> float:
        """Parameters of one feed-forward of one layer: 8 h^2 in [hotnets24]."""
        return self.feed_forward_matrices * self.hidden * self.feed_forward

    @property
    def layer_parameters(self) -> float:
        """Matrices of one layer with all experts; the router is counted in the total only."""
        return self.attention_parameters + self.experts * self.expert_parameters

    @property
    def active_layer_parameters(self) -> float:
        """Matrices of one layer that one token meets."""
        return self.attention_parameters + self.active_experts * self.expert_parameters

    @property
    def embedding_parameters(self) -> float:
        """Input and output embedding."""
        return 2 * self.vocabulary * self.hidden

    @property
    def router_parameters(self) -> float:
        """Routers of all layers; a dense model has none."""
        return self.layers * self.experts * self.hidden if self.experts > 1 else 0

    @property
    def parameters(self) -> float:
        """All parameters."""
        layers = self.layers * self.layer_parameters
        return layers + self.embedding_parameters + self.router_parameters

    @property
    def active_parameters(self) -> float:
        """Parameters that one token meets, routers left out as in the source."""
        return self.layers * self.active_layer_parameters + self.embedding_parameters

    def forward_flop(self, sequence_tokens: Real, micro_batch: Real, *, recompute: bool) -> Real:
        """Return the arithmetic of one layer in one forward pass [FLOP].

        [korthikanti22] appendix A: 24 b s h^2 (1 + s / 6h); selective recomputation does the
        attention product twice, so s / 3h.

        Parameters
        ----------
        sequence_tokens, micro_batch : float or array
            s [token] and b [sequence].
        recompute : bool
            Whether the attention product is done again in the backward pass (and, as in the
            source, charged here).
        """
        tokens = np.multiply(sequence_tokens, micro_batch)
        attention = 4.0 * tokens * sequence_tokens * self.hidden * (2 if recompute else 1)
        return 2.0 * tokens * self.active_layer_parameters + attention


def levine_width(depth: Real) -> Real:
    """Return the width at which more depth stops paying."""
    return np.exp(LEVINE_OFFSET + LEVINE_SLOPE * np.asarray(depth))


def levine_depth(parameters: Real) -> Real:
    """Return the depth L, not rounded, that solves 12 L w(L)^2 = N with Levine's width w."""
    # 12 L e^(2a + 2bL) = N  <=>  (2bL) e^(2bL) = 2bN / (12 e^2a), which Lambert's W inverts.
    argument = (
        2 * LEVINE_SLOPE * np.asarray(parameters) / (LAYER_SQUARES * np.exp(2 * LEVINE_OFFSET))
    )
    return lambertw(argument).real / (2 * LEVINE_SLOPE)


def hidden_for(parameters: Real, layers: Real, multiple: int = 256) -> Real:
    """Return the largest width, a multiple of `multiple`, with 12 L h^2 <= N."""
    return multiple * np.floor(
        np.sqrt(parameters / (LAYER_SQUARES * np.asarray(layers))) / multiple
    )
