# SPDX-License-Identifier: GPL-2.0-only
"""Topologies that are parts of another one: settled by their own model, made by their own code."""

from collections.abc import Sequence

from pydantic import ValidationError

from pyorch import plugins
from pyorch.errors import PluginError
from pyorch.spec import messages
from pyorch.spec.fields import FieldError, WrittenTopology
from pyorch.spec.limits import MOST_LINKS
from pyorch.spec.parts import Topology
from pyorch.spec.yaml_lines import dotted


def settled(
    given: WrittenTopology, where: str, context: dict, needed: Sequence[str], part: str
) -> Topology:
    """Return a topology that its own model has checked, with all its defaults.

    Parameters
    ----------
    given : WrittenTopology
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
        model = plugins.load(Topology.PACKAGE, given.type).Params
        params = model.model_validate(given.model_extra or {}, context=context)
        found = Topology.model_construct(type=given.type, params=params)
        numbers = found.counts()
    except PluginError as error:
        raise FieldError(f"{where}.type", str(error)) from None
    except ValidationError as error:
        inner, message = messages.first(error, model)
        raise FieldError(f"{where}.{dotted(inner)}", message) from None
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
    return found
