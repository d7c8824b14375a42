# SPDX-License-Identifier: GPL-2.0-only
"""Topologies that are parts of another one: settled by their own model, made by their own code."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

from pyorch import plugins
from pyorch.errors import PluginError
from pyorch.spec import messages
from pyorch.spec.fields import FieldError, restore
from pyorch.spec.limits import MOST_LINKS
from pyorch.spec.schema import REACHES, Topology


def settled(
    given: Topology, where: str, context: dict, needed: Sequence[str], part: str
) -> Topology:
    """Return a topology that its own model has checked, with all its defaults.

    Parameters
    ----------
    given : Topology
        As the user wrote it.
    where : str
        Its key in the outer topology, for messages.
    context : dict
        Of the outer model: ``link``.
    needed : sequence of str
        Which counts it must have in closed form.
    part : str
        What it is in the outer topology: ``a site``.

    Raises
    ------
    FieldError
        There is no such topology, or it refuses its parameters, or it cannot be such a part.
    """
    try:
        module = plugins.load("pyorch.topology", given.type)
        params = module.Params.model_validate(given.model_extra or {}, context=context)
        numbers = module.counts(params)
    except PluginError as error:
        raise FieldError(f"{where}.type", str(error)) from None
    except ValidationError as error:
        inner, message = messages.first(error, module.Params)
        raise FieldError(f"{where}.{messages.dotted(inner)}", message) from None
    except FieldError as error:
        raise FieldError(f"{where}.{error.field}", str(error)) from None
    if missing := [name for name in needed if name not in numbers]:
        raise FieldError(
            f"{where}.type", f"{given.type} does not count its {' and '.join(missing)}, which"
            f" {part} has to.",
        )  # fmt: skip
    if numbers["cables"] > MOST_LINKS:
        raise FieldError(
            f"{where}.type", f"{numbers['cables']} links in all; there may be {MOST_LINKS}. Lower"
            " the numbers of the topology.",
        )  # fmt: skip
    return Topology(type=given.type, **params.model_dump())


def tables_of(resolved: dict[str, Any], link: dict) -> dict[str, dict[str, np.ndarray]]:
    """Return node and link tables of a part of a resolved spec."""
    module = plugins.load("pyorch.topology", resolved["type"])
    return module.tables(restore(module.Params, resolved), link)


def relays_of(resolved: dict[str, Any], src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the host that relays each message; -1 where a network carries it all the way."""
    module = plugins.load("pyorch.topology", resolved["type"])
    if not hasattr(module, "relays"):
        return np.full(len(src), -1, dtype=np.int64)
    return module.relays(restore(module.Params, resolved), src, dst)


def reach_of(resolved: dict[str, Any], src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the network that carries each message, as an index of `REACHES`."""
    module = plugins.load("pyorch.topology", resolved["type"])
    if not hasattr(module, "reach"):
        return np.full(len(src), REACHES.index("scale_out"), dtype=np.int64)
    return module.reach(restore(module.Params, resolved), src, dst)


def top_switches_of(resolved: dict[str, Any], nodes: dict[str, np.ndarray]) -> np.ndarray:
    """Return the switches to which border switches have links, in the order of their ids."""
    module = plugins.load("pyorch.topology", resolved["type"])
    if not hasattr(module, "top_switches"):
        return np.sort(nodes["node"][nodes["tier"] == nodes["tier"].max()])
    return module.top_switches(restore(module.Params, resolved), nodes)


def counts_of(resolved: dict[str, Any]) -> dict[str, int]:
    """Return the closed-form numbers of a part of a resolved spec."""
    module = plugins.load("pyorch.topology", resolved["type"])
    return module.counts(restore(module.Params, resolved))
