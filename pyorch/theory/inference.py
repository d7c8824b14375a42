# SPDX-License-Identifier: GPL-2.0-only
"""Takes an inference service, returns its traffic: prefill, decode, and the KV cache between them.

Source: [asterfusion24], inference section. Prefill and decode run on different devices, each a
tensor-parallel group; elements take 2 bytes.
"""

from dataclasses import dataclass

import numpy as np

from pyorch.theory._quantities import BITS_PER_BYTE, PS_PER_S, Real, transfer_ps
from pyorch.theory.traffic import ELEMENT_BYTES

#: All-reduces per layer and token, and matrices (K and V) per layer and token.
REDUCES_PER_LAYER = 2
KV_MATRICES = 2


@dataclass(frozen=True)
class Service:
    """Users and model of an inference service.

    Attributes
    ----------
    users : float
        U, concurrent requests.
    prompt_tokens, output_tokens : float
        Sin and Sout of each request.
    layers, hidden, tensor : float
        L, H, Gtp.
    tokens_per_s : float
        Promised to each user [1/s].
    parallel_efficiency : float
        Share of a token's time that is computing [1]; the network may use the rest.
    kv_deadline_ps : float
        Time in which a KV cache must reach the decoding devices [ps].
    kv_elements : float or None
        Numbers that one token leaves in one layer: 2 x heads of keys x their width with grouped
        queries, what keys and values are compressed to with latent attention; None is 2 H.
    """

    users: Real
    prompt_tokens: Real
    output_tokens: Real
    layers: Real
    hidden: Real
    tensor: Real
    tokens_per_s: Real
    parallel_efficiency: Real
    kv_deadline_ps: Real
    kv_elements: Real | None = None


def token_bytes(service: Service) -> Real:
    """Return what tensor parallelism sends for one token [byte]: 4 L H Gtp (Gtp-1)."""
    activations = REDUCES_PER_LAYER * ELEMENT_BYTES * service.layers * service.hidden
    return activations * service.tensor * (service.tensor - 1)


def prefill_bytes(service: Service) -> Real:
    """Return what the prompts of all users send [byte]."""
    return service.users * service.prompt_tokens * token_bytes(service)


def decode_bytes(service: Service) -> Real:
    """Return what the outputs of all users send [byte]."""
    return service.users * service.output_tokens * token_bytes(service)


def kv_token_bytes(service: Service) -> Real:
    """Return the keys and values of one token [byte]: 4 L H, or 2 bytes for what it leaves."""
    each = service.kv_elements
    each = KV_MATRICES * service.hidden if each is None else each
    return ELEMENT_BYTES * service.layers * each


def kv_cache_bytes(service: Service) -> Real:
    """Return the KV cache of one user's prompt [byte]: 4 Sin L H without grouped queries."""
    return service.prompt_tokens * kv_token_bytes(service)


def total_bytes(service: Service) -> Real:
    """Return prefill, decode and KV transfer of all users [byte]."""
    kv_bytes = service.users * kv_cache_bytes(service)
    return prefill_bytes(service) + decode_bytes(service) + kv_bytes


def kv_transfer_ps(service: Service, port_bps: Real) -> Real:
    """Return the time one user's KV cache takes through one port [ps]."""
    return transfer_ps(kv_cache_bytes(service), port_bps)


def token_network_ps(service: Service) -> Real:
    """Return the time the network may take for one token [ps]."""
    return PS_PER_S / service.tokens_per_s * (1 - service.parallel_efficiency)


def throughput_bps(service: Service, *, kv_tokens: Real | None = None) -> Real:
    """Return the rate that all users together need [bit/s].

    Parameters
    ----------
    kv_tokens : float or array
        Tokens whose keys and values must arrive by the deadline; None is the whole prompt. The
        source's own number lost the prompt length and is got with 1.
    """
    tokens = service.prompt_tokens if kv_tokens is None else kv_tokens
    reduce_bps = token_bytes(service) * BITS_PER_BYTE * PS_PER_S / token_network_ps(service)
    kv_bps = tokens * kv_token_bytes(service) * BITS_PER_BYTE * PS_PER_S / service.kv_deadline_ps
    return service.users * (reduce_bps + kv_bps)


def users_per_switch(service: Service, switch_bps: Real, needed_bps: Real) -> Real:
    """Return the whole users that a switch serves if all users together need `needed_bps`."""
    return np.floor(switch_bps / (needed_bps / service.users))


def communications_per_s(service: Service) -> Real:
    """Return the all-reduces per second of one user [1/s]."""
    return REDUCES_PER_LAYER * service.layers * service.tokens_per_s
