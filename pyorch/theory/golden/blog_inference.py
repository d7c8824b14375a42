# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [asterfusion24] on inference."""

from pyorch.theory import inference
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import GIGA, MS, TERA

TEBI = 2.0**40


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _given() | _volumes() | _rates()


def _given() -> dict[str, float]:
    service = given.service()
    return {
        "b.inf.U": service.users,
        "b.inf.Sin": service.prompt_tokens,
        "b.inf.Sout": service.output_tokens,
        "b.inf.L": service.layers,
        "b.inf.H": service.hidden,
        "b.inf.Gtp": service.tensor,
        "b.inf.kv_budget": service.kv_deadline_ps / MS,
        "b.inf.tps": service.tokens_per_s,
        "b.inf.par": 100 * service.parallel_efficiency,
    }


def _volumes() -> dict[str, float]:
    service = given.service()
    total_bytes = inference.total_bytes(service)
    port_bps = given.site().topology.port_bps
    return {
        "b.inf.total": total_bytes / TEBI,
        "b.inf.total_tb": total_bytes / TERA,
        "b.inf.kv": inference.kv_cache_bytes(service) / GIGA,
        "b.inf.kv_ms": inference.kv_transfer_ps(service, port_bps) / MS,
    }


def _rates() -> dict[str, float]:
    service = given.service()
    switch_bps = given.site().chip.capacity_bps
    # The document's formula for the KV cache lost the length of the prompt.
    one_token_bps = inference.throughput_bps(service, kv_tokens=1)
    whole_bps = inference.throughput_bps(service)
    return {
        "b.inf.tok_ms": inference.token_network_ps(service) / MS,
        "b.inf.thr": one_token_bps / 8 / GIGA,
        "b.inf.thr_tbps": one_token_bps / TERA,
        "b.inf.thr_fix": whole_bps / 8 / GIGA,
        "b.inf.users": inference.users_per_switch(service, switch_bps, one_token_bps),
        "b.inf.users_fix": inference.users_per_switch(service, switch_bps, whole_bps),
        "b.c.comms": inference.communications_per_s(service),
    }
