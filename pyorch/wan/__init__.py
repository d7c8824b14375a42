# SPDX-License-Identifier: GPL-2.0-only
"""Traffic engineering between sites, as in B4: demands in, rates and paths out."""

from pyorch.wan.plan import Grant, Tunnel, plan
from pyorch.wan.request import Request, read_request

__all__ = ["Grant", "Request", "Tunnel", "plan", "read_request"]
