# SPDX-License-Identifier: GPL-2.0-only
"""Prints what ns-3's registry knows of the built modules, as JSON.

Run by the build in a process of its own, because a library once loaded stays loaded:
``python -m pyorch.simulate.describe``.
"""

import json
import sys

from pyorch import built
from pyorch.errors import PyorchError
from pyorch.simulate import loader


def describe() -> list[dict]:
    """Return every TypeId that a scenario may name, with the library that registers it."""
    engine = built.here().libraries / built.ENGINE
    loader.load_library(engine)
    namespace = loader.facade_namespace()
    owners: dict[str, str] = {}
    for library in [engine, *built.here().module_libraries()]:
        loader.load_library(library)
        entries = json.loads(str(namespace.DescribeTypeIds()))
        for entry in entries:  # families never need each other, so what is new is this library's
            owners.setdefault(entry["name"], library.name)
    return [entry | {"library": owners[entry["name"]]} for entry in entries]


if __name__ == "__main__":
    try:
        json.dump(describe(), sys.stdout, indent=1)
    except PyorchError as error:
        sys.exit(f"{error}")
