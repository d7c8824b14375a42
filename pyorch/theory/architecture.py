# SPDX-License-Identifier: GPL-2.0-only
"""Takes the shape of a transformer, returns its parameters and its arithmetic, dense or MoE.

Sources: [hotnets24] sections 3.2, 4 and 5; [korthikanti22] for the arithmetic; [levine20] for
depth and width.
"""

from dataclasses import dataclass

import numpy as np

from pyorch.theory._quantities import Real

#: [levine20]: ln(width) = 5.039 + 0.0555 * depth. Quoted from memory; checked only by its
#: abstract, which says that 1T parameters want a width of about 30K.
LEVINE_OFFSET = 5.039
LEVINE_SLOPE = 0.0555
#: Parameters of a layer over the square of its width: 4 in attention, 8 in the feed-forward.
LAYER_SQUARES = 12


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention, [deepseek24] section 2.1.1: what a token is compressed to."""

    query: int  #: width of the compressed queries
    key_value: int  #: width of the compressed keys and values
    rope: int  #: positional part of a query, and of the one key that all heads share
    value: int  #: of one head


@dataclass(frozen=True)
class Model:
    """Shape of a transformer without biases.

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
        Routed copies of the feed-forward, and how many of them a token visits; 1 and 1 is dense.
    shared_experts : int
        Copies that every token visits beside those.
    expert_feed_forward : int or None
        Inner width of one expert; None is that of the feed-forward.
    dense_layers : int
        First layers, which have one feed-forward and no experts.
    head : int or None
        Width of a query's or key's head without its positional part; None is hidden / heads.
    latent : Latent or None
        Multi-head latent attention; None is grouped queries.
    embeddings : int
        Matrices of the vocabulary: 2, or 1 where input and output share one.
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
    shared_experts: int = 0
    expert_feed_forward: int | None = None
    dense_layers: int = 0
    head: int | None = None
    latent: Latent | None = None
    embeddings: int = 2

    @property
    def head_dimension(self) -> float:
        """Width of one head."""
        return self.head or self.hidden / self.heads

    @property
    def attention_parameters(self) -> float:
        """Parameters of the attention of one layer: 4 h^2 without grouped queries."""
        head = self.head_dimension
        if self.latent is None:
            return 2 * self.hidden * head * (self.heads + self.kv_heads)
        down, up = self.latent.query, self.latent.key_value
        return (
            self.hidden * (down + up + self.latent.rope)
            + self.heads * down * (head + self.latent.rope)
            + self.heads * up * (head + self.latent.value)
            + self.heads * self.latent.value * self.hidden
        )

    @property
    def score_dimension(self) -> float:
        """Width that one head multiplies with each earlier token: its scores and its values."""
        if self.latent is None:
            return 2 * self.head_dimension
        return self.head_dimension + self.latent.rope + self.latent.value

    @property
    def key_value_elements(self) -> float:
        """Numbers that one token leaves in one layer for later ones: its keys and values."""
        if self.latent is None:
            return 2 * self.kv_heads * self.head_dimension
        return self.latent.key_value + self.latent.rope

    @property
    def key_value_shards(self) -> int:
        """Parts into which tensor parallelism can cut these: heads; a latent has one."""
        return 1 if self.latent else self.kv_heads

    @property
    def expert_parameters(self) -> float:
        """Parameters of one expert of one layer: 8 h^2 in [hotnets24]."""
        width = self.expert_feed_forward or self.feed_forward
        return self.feed_forward_matrices * self.hidden * width

    @property
    def common_parameters(self) -> float:
        """Matrices of one layer that every token meets: attention and shared experts."""
        return self.attention_parameters + self.shared_experts * self.expert_parameters

    @property
    def routed_parameters(self) -> float:
        """Routed experts of one layer, all of them."""
        return self.experts * self.expert_parameters

    @property
    def layer_parameters(self) -> float:
        """Matrices of one layer with all experts; the router is counted in the total only."""
        return self.common_parameters + self.routed_parameters

    @property
    def dense_layer_parameters(self) -> float:
        """Matrices of one of the first layers, which have no experts."""
        feed_forward = self.feed_forward_matrices * self.hidden * self.feed_forward
        return self.attention_parameters + feed_forward

    @property
    def active_layer_parameters(self) -> float:
        """Matrices of one layer that one token meets."""
        return self.common_parameters + self.active_experts * self.expert_parameters

    @property
    def embedding_parameters(self) -> float:
        """Input and output embedding."""
        return self.embeddings * self.vocabulary * self.hidden

    @property
    def router_parameters(self) -> float:
        """Routers of all layers; a dense model has none."""
        routed = self.layers - self.dense_layers
        return routed * self.experts * self.hidden if self.experts > 1 else 0

    def _all_layers(self, layer_parameters: float) -> float:
        dense = self.dense_layers * self.dense_layer_parameters if self.dense_layers else 0
        return (self.layers - self.dense_layers) * layer_parameters + dense

    @property
    def parameters(self) -> float:
        """All parameters."""
        layers = self._all_layers(self.layer_parameters)
        return layers + self.embedding_parameters + self.router_parameters

    @property
    def active_parameters(self) -> float:
        """Parameters that one token meets, routers left out as in the source."""
        return self._all_layers(self.active_layer_parameters) + self.embedding_parameters

    def model_flop(self, sequence_tokens: Real) -> Real:
        """Return what one token of training asks for, forward and backward [FLOP].

        [korthikanti22] appendix A: six for each matrix that it meets, the output embedding's among
        them, and twelve s h for each layer's scores and values. Nothing is computed twice.
        """
        matrices = self._all_layers(self.active_layer_parameters) + self.vocabulary * self.hidden
        scores = 2.0 * self.layers * np.multiply(sequence_tokens, self.heads * self.score_dimension)
        return 3 * (2.0 * matrices + scores)

    def head_flop(self, sequence_tokens: Real, micro_batch: Real) -> Real:
        """Return the arithmetic of the output embedding in one forward pass [FLOP]."""
        return 2.0 * np.multiply(sequence_tokens, micro_batch) * self.vocabulary * self.hidden

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
        scores = 2.0 * self.heads * self.score_dimension
        attention = scores * tokens * sequence_tokens * (2 if recompute else 1)
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
    from scipy.special import lambertw  # a run that trains has no use for it

    return lambertw(argument).real / (2 * LEVINE_SLOPE)


def hidden_for(parameters: Real, layers: Real, multiple: int = 256) -> Real:
    """Return the largest width, a multiple of `multiple`, with 12 L h^2 <= N."""
    return multiple * np.floor(
        np.sqrt(parameters / (LAYER_SQUARES * np.asarray(layers))) / multiple
    )
