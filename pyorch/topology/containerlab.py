# SPDX-License-Identifier: GPL-2.0-only
"""The network of a containerlab topology file (``*.clab.yml``): its nodes and links.

A link is an entry of ``links`` with two ends, in the short or in the long form; interfaces do not
matter here. `hosts` says which nodes are hosts, by their kind, group or name; all others are
switches. Rates and delays are those of `link`, as the format has none. Links that leave the lab
(``host``, ``mgmt-net``, ``macvlan``, ``dummy``, ``vxlan``) are left out, as are nodes without one.

Source: containerlab's documentation of its topology definition file, 0.72.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import InputFile, listed, yaml_value
from pyorch.spec.limits import MOST_LINKS
from pyorch.spec.resolved import Link
from pyorch.topology import _graph

KEY = "file"
#: Types of links that leave the lab, also as ends that are no node of it; others join two nodes.
LEAVING = ("host", "mgmt-net", "macvlan", "dummy", "vxlan", "vxlan-stitch")
INSIDE = ("veth", "veth-stitch")
#: What the format has: of links what is used, of all else what says nothing of links.
KEYS = {
    "": "name prefix mgmt settings topology debug",
    "topology": "nodes groups kinds defaults links",
    "topology.links": "type endpoints endpoint host-interface mode remote vni dst-port src-port"
    " labels",
    "topology.links.endpoints": "node interface mac ipv4 ipv6",
    "topology.nodes": "aliases auto-remove binds cap-add certificate cgroup-parent cgroupns-mode"
    " cmd components config cpu cpu-set credentials devices dns enforce-startup-config entrypoint"
    " env env-files exec extras group healthcheck hostname image image-pull-policy kind labels"
    " license link-apply-mode memory mgmt-ipv4 mgmt-ipv6 network-mode pid-mode ports"
    " privileged restart-policy runtime security-opts shm-size stages startup-config startup-delay"
    " suppress-startup-config sysctls tmpfs type user volumes",
}

Pattern = Annotated[str, Field(min_length=1, max_length=100)]


class Params(Closed):
    """The file, and which nodes are hosts: kinds, groups or names, or how these begin: ``h*``."""

    file: InputFile
    hosts: Annotated[list[Pattern], Field(min_length=1, max_length=100)] = ["linux"]


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables, with the rate and delay of `link`.

    Raises
    ------
    FieldError
        The file is not what it should be, or not a connected network.
    """
    path = params.file["path"]
    lab = _read(path, params.file["sha256"])
    kinds, cables = lab.kinds, lab.cables
    joined = {end for cable in cables for end in cable}
    is_host = {
        name: any(fnmatchcase(text, p) for p in params.hosts for text in (name, *kinds[name]))
        for name in kinds if name in joined
    }  # fmt: skip
    names = sorted(is_host, key=lambda name: not is_host[name])  # hosts first, else as written
    n_hosts = sum(is_host.values())
    if not n_hosts:
        found = sorted({kinds[name][0] for name in names})
        raise FieldError(
            "hosts", f"{path}: no node with links is {', '.join(params.hosts)}. Kinds:"
            f" {', '.join(found)}. Write kinds, groups or names.",
        )  # fmt: skip
    if direct := [cable for cable in cables if is_host[cable[0]] and is_host[cable[1]]]:
        a, b = direct[0]
        raise FieldError(
            "hosts", f"{path}: {quoted(a)} and {quoted(b)} have a link, and both are"
            f" {', '.join(params.hosts)}, hosts, which do not forward. Write groups or names of"
            ' those that are hosts, for example hosts: ["client*"].',
        )  # fmt: skip
    place = {name: index for index, name in enumerate(names)}
    rows = [(place[a], place[b], None, None) for a, b in cables]
    links = _graph.links_of(rows, link.rate_bps, link.delay_ps, link.loss_ratio)
    return _graph.checked(n_hosts, len(names) - n_hosts, links, path, KEY)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=1))
    return _graph.counts(network["nodes"], network["links"])


def remarks(params: Params) -> tuple[str, ...]:
    """Return how many links leave the lab, how many nodes have none, and what is not used."""
    lab = _read(params.file["path"], params.file["sha256"])
    alone = len(set(lab.kinds) - {end for cable in lab.cables for end in cable})
    counted = {"links that leave the lab": lab.n_outside, "nodes without links": alone}
    said = [f"{n} {what} are left out." for what, n in counted.items() if n]
    if lab.unused:
        said.append(f"not used: {lab.unused}.")
    return tuple(f"{params.file['path']}: {line}" for line in said)


class _Lab(NamedTuple):
    """Kind and group of each node, ends of each link, links that leave, and keys of no use."""

    kinds: dict[str, tuple[str, str]]
    cables: list[tuple[str, str]]
    n_outside: int
    unused: str


@lru_cache(maxsize=8)
def _read(path: str, sha256: str) -> _Lab:
    root = _section(yaml_value({"path": path, "sha256": sha256}, KEY), path, "the file")
    lab = _section(root.get("topology"), path, "topology")
    kinds = _kinds(lab, path)
    cables, n_outside = [], 0
    rows = lab.get("links") or []
    if not isinstance(rows, list) or len(rows) > MOST_LINKS:
        raise FieldError(KEY, f"{path}: topology.links is no list of at most {MOST_LINKS} links.")
    for index, row in enumerate(rows):
        where = f"{path}: topology.links.{index}"
        ends = list(_ends(_section(row, path, f"topology.links.{index}"), where))
        if not ends or any(end in LEAVING for end in ends):
            n_outside += 1
            continue
        for end in ends:
            if end not in kinds:
                raise FieldError(
                    KEY, f"{where}: there is no node {quoted(end)}.{did_you_mean(end, kinds)}"
                )
        cables.append((ends[0], ends[1]))
    return _Lab(kinds, cables, n_outside, listed(_unused(root, lab, rows, path)))


def _unused(root: dict, lab: dict, rows: list[dict], path: str) -> Iterator[str]:
    """Yield the keys that the format does not have, each with its section."""
    ends = [end for row in rows for end in (*(row.get("endpoints") or ()), row.get("endpoint"))]
    sections = {"": [root], "topology": [lab], "topology.links": rows,
                "topology.links.endpoints": [end for end in ends if isinstance(end, dict)],
                "topology.defaults": [lab.get("defaults") or {}]}  # fmt: skip
    for name in ("nodes", "groups", "kinds"):
        its = _section(lab.get(name) or {}, path, f"topology.{name}")
        sections[f"topology.{name}"] = [
            _section(one or {}, path, f"topology.{name}.{key}") for key, one in its.items()
        ]
    for place, found in sections.items():
        known = KEYS.get(place, KEYS["topology.nodes"]).split()
        names = {key for one in found for key in one if key not in known}
        yield from (f"{place}.{name}".lstrip(".") for name in names)


def _kinds(lab: dict, path: str) -> dict[str, tuple[str, str]]:
    """Return the kind of each node, its own, that of its group, or the default; and its group."""
    groups = _section(lab.get("groups") or {}, path, "topology.groups")
    default = _section(lab.get("defaults") or {}, path, "topology.defaults").get("kind")
    found = {}
    for name, node in _section(lab.get("nodes"), path, "topology.nodes").items():
        its = _section(node or {}, path, f"topology.nodes.{name}")
        group = str(its.get("group") or "")
        of_group = _section(groups.get(group) or {}, path, "a group")
        kind = str(its.get("kind") or of_group.get("kind") or default or "")
        found[str(name)] = (kind, group)
    return found


def _ends(link: dict, where: str) -> Iterator[str]:
    """Yield the two nodes of a link, nothing if it leaves the lab."""
    kind = link.get("type", INSIDE[0])
    if kind in LEAVING:
        return
    ends = link.get("endpoints")
    if kind not in INSIDE or not isinstance(ends, list) or len(ends) != 2:
        raise FieldError(
            KEY, f'{where}: a link has two ends, endpoints: ["leaf1:e1-1", "spine1:e1-1"].'
        )
    for end in ends:
        node = end.get("node") if isinstance(end, dict) else str(end).partition(":")[0]
        if not isinstance(node, str) or not node:
            raise FieldError(KEY, f"{where}: {quoted(str(end)[:60])} is no end: node:interface.")
        yield node


def _section(given: Any, path: str, what: str) -> dict:
    if not isinstance(given, dict):
        raise FieldError(KEY, f"{path}: {what} is no section of a containerlab file.")
    return given
