# SPDX-License-Identifier: GPL-2.0-only
"""What is chosen by the name of a file: a plug-in with its own parameters, in one object."""

from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_origin

import numpy as np
from pydantic import (
    BaseModel,
    InstanceOf,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from pyorch import plugins
from pyorch.errors import PluginError
from pyorch.spec import messages
from pyorch.spec.fields import Closed, FieldError, WrittenTopology
from pyorch.spec.written import as_written

#: Networks that carry messages: of a rack, of a datacenter, and between datacenters.
REACHES = ("scale_up", "scale_out", "wide_area")


if TYPE_CHECKING:
    _Params = Any  # its own file says what it has
else:
    _Params = InstanceOf[Closed]


class Part(Closed):
    """A plug-in and its parameters, an object of the `Params` of its file.

    In a spec.json the parameters stand beside `type`.
    """

    PACKAGE: ClassVar[str]

    type: str
    params: _Params

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> dict[str, str]:
        """Return its kind, with or without parameters; `json_schema` knows what there is."""
        return {"named": cls.PACKAGE.rpartition(".")[2]}

    @property
    def module(self) -> ModuleType:
        """The file of the plug-in."""
        return plugins.load(self.PACKAGE, self.type)

    @model_validator(mode="before")
    @classmethod
    def _restored(cls, plain: dict[str, Any]) -> dict[str, Any]:
        params = restore(plugins.load(cls.PACKAGE, plain["type"]).Params, plain)
        return {k: v for k, v in plain.items() if k in cls.model_fields} | {"params": params}

    @model_serializer
    def _plain(self) -> dict[str, Any]:
        others = {k: v for k, v in self if k not in ("type", "params")}
        # What was restored of JSON may have lists where its model has tuples.
        return {"type": self.type, **self.params.model_dump(warnings=False), **others}


class Topology(Part):
    """A network: that of a run, or a part of one."""

    PACKAGE = "pyorch.topology"

    def tables(self, link: BaseModel) -> dict[str, dict[str, Any]]:
        """Return its tables ``nodes`` and ``links``."""
        return self.module.tables(self.params, link)

    def counts(self) -> dict[str, int]:
        """Return its numbers in closed form."""
        return self.module.counts(self.params)

    def relays(self, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the host that relays each message; -1 where a network carries it all the way."""
        if not hasattr(self.module, "relays"):
            return np.full(len(src), -1, dtype=np.int64)
        return self.module.relays(self.params, src, dst)

    def reach(self, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the network that carries each message, as an index of `REACHES`."""
        if not hasattr(self.module, "reach"):
            return np.full(len(src), REACHES.index("scale_out"), dtype=np.int64)
        return self.module.reach(self.params, src, dst)

    def networks(self, link: BaseModel) -> list[str]:
        """Return the name of the network of each node, row by row of its table; hosts have any."""
        if not hasattr(self.module, "networks"):
            return [f"plane {plane}" for plane in self.tables(link)["nodes"]["plane"]]
        return self.module.networks(self.params, link)

    def top_switches(self, nodes: dict[str, np.ndarray]) -> np.ndarray:
        """Return the switches to which border switches have links, in the order of their ids."""
        if not hasattr(self.module, "top_switches"):
            return np.sort(nodes["node"][nodes["tier"] == nodes["tier"].max()])
        return self.module.top_switches(self.params, nodes)


def restore(model: type[BaseModel], plain: dict[str, Any]) -> Any:
    """Return a section from what a resolved spec holds, which was checked when it was made."""
    if issubclass(model, Part):
        return model.model_validate(plain)
    fields = model.model_fields
    return model.model_construct(
        **{k: _within(fields[k].annotation, v) for k, v in plain.items() if k in fields}
    )


def _within(annotation: object, value: Any) -> Any:
    """Return the value of a field with the sections in it."""
    model = messages.section_in(annotation)
    if isinstance(value, list | tuple):
        parts = value if model is None else [_within(model, part) for part in value]
        return _as_tuples(parts) if _has_tuples(annotation) else parts
    if not isinstance(value, dict) or model is None:
        return value
    return restore(Topology if model is WrittenTopology else model, value)


def _has_tuples(annotation: object) -> bool:
    return get_origin(annotation) is tuple or any(map(_has_tuples, get_args(annotation)))


def _as_tuples(value: Any) -> Any:
    """Return tuples for lists, which JSON makes of them: a part is a key of caches."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


def settled(part: type[Part], key: str, given: object, info: ValidationInfo) -> Any:
    """Return a part of the parameters of a plug-in: ``{type: pairwise, outstanding: 1}``.

    Parameters
    ----------
    part : subclass of Part
        Which plug-ins there may be.
    key : str
        Where it stands in these parameters, for messages.
    given : object
        As the user wrote it; a name alone is one without parameters.
    info : ValidationInfo
        Of the outer model.

    Raises
    ------
    FieldError
        There is no such plug-in, or it refuses its parameters.
    """
    name: Any = given
    own: dict[str, Any] = {}
    if isinstance(given, dict):
        own = dict(given)
        name = own.pop("type", None)
    try:
        model = plugins.load(part.PACKAGE, name).Params
        if (info.context or {}).get("stored"):
            own = as_written(model, own)
        params = model.model_validate(own, context=info.context)
    except PluginError as error:
        raise FieldError(key, str(error)) from None
    except ValidationError as error:
        path, message = messages.first(error, model)
        if not model.model_fields:
            message = f"{name} has no parameters. Leave it out."
        raise FieldError(".".join(map(str, (key, *path))), message) from None
    return part.model_construct(type=name, params=params)
