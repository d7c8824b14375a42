# SPDX-License-Identifier: GPL-2.0-only
"""Takes the name of an interface, returns what its vendor states of the costs of messages.

One file of hosts/ for each: options of ns3::Host as a scenario writes them, each with its source.
"""

from functools import cache
from pathlib import Path

from pyorch.errors import did_you_mean, quoted
from pyorch.spec import yaml_lines

FOLDER = Path(__file__).parent / "hosts"


def names() -> list[str]:
    """Return the names of all presets of hosts."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@cache
def read(name: str) -> dict[str, object]:
    """Return the options of a preset, as a scenario writes them.

    Raises
    ------
    ValueError
        There is none of this name.

    Examples
    --------
    >>> read("connectx6-200g")
    {'bus_rate': '252 Gb/s'}
    """
    known = names()
    if name not in known:
        raise ValueError(
            f"no preset {quoted(name)} of hosts. There are {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    path = FOLDER / f"{name}.yaml"
    found, _ = yaml_lines.parse(path.read_text(encoding="utf-8"), path.name)
    assert isinstance(found, dict)
    return found
