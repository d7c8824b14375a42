# SPDX-License-Identifier: GPL-2.0-only
"""Second readers of every file that a scenario may name: plain, slow, nothing of pyorch in them.

Each returns what stands in a file, or raises `Refused`. They are written from the formats alone, so
both readers must find the same numbers, and what one refuses the other must refuse.
"""

import contextlib
import csv
import io
import re
from fractions import Fraction

NUMBER = re.compile(r"([+-]?)(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,9}))?")
INT64 = 2**63
FACTORS = {
    "rate": {"bit/s": 1, "b/s": 1, "bps": 1}
    | {f"{p}{u}": f for p, f in (("k", 10**3), ("K", 10**3), ("M", 10**6), ("G", 10**9),
                                 ("T", 10**12)) for u in ("b/s", "bps")},
    "time": {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12},
    "size": {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10,
             "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
} | {
    kind: {p + unit: 1000**i for i, p in enumerate(("", *prefixes))}
    for kind, unit, prefixes in (("power", "W", "kMG"), ("money", "USD", "kMG"),
                                 ("compute", "FLOPS", "kMGTP"))
}  # fmt: skip
FORMATS = {"FP4": 0.5, "FP8": 1, "FP16": 2, "BF16": 2, "FP32": 4}


class Refused(Exception):
    """This is no such file."""


def need(holds, why):
    """Raise Refused unless something holds."""
    if not holds:
        raise Refused(why)


def exact(word):
    """Return a decimal number as a fraction; None if it is none, or beyond 10^60."""
    match = NUMBER.fullmatch(word)
    if not match:
        return None
    sign, before, after, alone, exponent = match.groups(default="")
    part, exponent = after + alone, int(exponent or 0)
    digits = (before + part).lstrip("0")
    power = exponent - len(part)
    if not digits:
        return Fraction(0)
    if len(digits) + power > 60 or len(digits) > 4000:
        return None
    if len(digits) + power < -60:
        return Fraction(1, 10**60) * (-1 if sign == "-" else 1)  # smaller than anything here
    return Fraction(int(digits)) * Fraction(10) ** power * (-1 if sign == "-" else 1)


def whole(word):
    """Return a whole number that 64 bits hold."""
    value = exact(word)
    need(value is not None and value.denominator == 1 and abs(value) < INT64, f"number {word!r}")
    return int(value)


def count(word):
    """Return a whole number, 0 or more."""
    value = whole(word)
    need(value >= 0, f"count {word!r}")
    return value


def quantity(word, kind):
    """Return a number with its unit in ps, bit/s or bytes."""
    match = re.fullmatch(r"\s*([+-]?[0-9.eE+-]*[0-9.])\s*(\S+)\s*", word)
    need(match and match[2] in FACTORS[kind], f"{kind} {word!r}")
    value = exact(match[1])
    need(value is not None, f"{kind} {word!r}")
    value *= FACTORS[kind][match[2]]
    need(value.denominator == 1 and 0 <= value < INT64, f"{kind} {word!r}")
    return int(value)


def lines(data):
    """Return the words of each line with words, but for comments."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Refused("no text") from None
    rows = [line.split() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return [row for row in rows if row and not row[0].startswith("#")]


def cm(data):
    """Return the number of nodes; what is said of each flow; kind and count of each trigger."""
    header, flows, triggers = {}, [], {}
    for row in lines(data):
        if row[0] in ("Nodes", "Connections", "Triggers", "Failures"):
            need(len(row) == 2 and row[0] not in header, f"header {row}")
            header[row[0]] = whole(row[1])
        elif row[0] == "trigger":
            kinds = [word for word in row if word in ("oneshot", "barrier", "multishot")]
            numbers = [word for word in row[1:] if word not in kinds]
            need(len(kinds) == 1 and len(numbers) % 2 == 0, f"trigger {row}")
            said = dict(zip(numbers[::2], map(whole, numbers[1::2]), strict=True))
            need(len(said) == len(numbers) // 2, f"twice {row}")
            need("id" in said and set(said) <= {"id", "count"}, f"trigger {row}")
            need(min(said.values()) > 0 and said["id"] not in triggers, f"trigger {row}")
            triggers[said["id"]] = kinds[0], said.get("count", 0)
        else:
            ends = row[0].split("->")
            need(len(ends) == 2 and len(row) % 2 == 1, f"line {row}")
            said = dict(zip(row[1::2], row[2::2], strict=True))
            need(len(said) == len(row) // 2, "twice")
            known = {"id", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger"}
            need(set(said) <= known | {"prio"} and "size" in said, f"words {row}")
            need(("start" in said) != ("trigger" in said), f"start of {row}")
            need("trigger" not in said or "id" in said, f"id of {row}")
            said = {word: whole(value) for word, value in said.items()}
            flows.append({"src": whole(ends[0]), "dst": whole(ends[1]), **said})
    need(header.get("Connections") == len(flows), "connections")
    need(header.get("Triggers", 0) == len(triggers), "triggers")
    need(header.get("Failures", 0) == 0, "failures")
    need("Nodes" in header, "nodes")
    ids = [flow["id"] for flow in flows if "id" in flow]
    need(len(ids) in (0, len(flows)) and all(i > 0 for i in ids), "ids")
    need(len(set(ids)) == len(ids), "twice the same id")
    return header["Nodes"], flows, triggers


def cm_starts(flows, triggers, lasts):
    """Return when each flow of a matrix starts, by doing what htsim does event by event.

    `lasts` has for each flow how long after its start its sink and its source are done.
    """
    starts = {}
    events = []
    fired, left = set(), {id_: count for id_, (_, count) in triggers.items()}

    def start(flow, time):
        starts[flow] = time
        for word, after in zip(
            ("recv_done_trigger", "send_done_trigger"), lasts[flow], strict=True
        ):
            if word in flows[flow]:
                need(flows[flow][word] in triggers, "no such trigger")
                events.append((time + after, flows[flow][word]))

    for flow, said in enumerate(flows):
        need(said.get("trigger", None) in (None, *triggers), "no such trigger")
        if "start" in said:
            start(flow, said["start"])
    while events:
        events.sort()
        time, trigger = events.pop(0)
        waiting = [i for i, said in enumerate(flows) if said.get("trigger") == trigger]
        kind = triggers[trigger][0]
        left[trigger] -= 1
        if not waiting or (kind == "barrier" and left[trigger] > 0):
            continue
        need(trigger not in fired, "htsim aborts")
        need(kind != "barrier" or left[trigger] == 0, "htsim aborts")
        need(kind != "multishot" or len(waiting) == 1, "depends on the order")
        fired.add(trigger)
        for flow in waiting:
            start(flow, time)
    need(len(starts) == len(flows), "a flow that never starts")
    return [starts[flow] for flow in range(len(flows))]


def hpcc_flows(data):
    """Return src, dst, priority group, bytes and start [ps] of each flow."""
    rows = lines(data)
    need(rows and len(rows[0]) == 1 and count(rows[0][0]) == len(rows) - 1, "number of flows")
    flows = []
    for row in rows[1:]:
        need(len(row) == 6, f"flow {row}")
        src, dst, group, _, size = map(whole, row[:5])
        start = exact(row[5])
        need(start is not None, f"start {row}")
        start *= 10**12
        need(start.denominator == 1 and abs(start) < INT64, f"start {row}")
        flows.append((src, dst, group, size, int(start)))
    return flows


def hpcc_topology(data, most_nodes):
    """Return the number of nodes, the switches, and a, b, rate, delay, loss of each link.

    SimAI's first line has six words; lines behind the last link are not read.
    """
    rows = lines(data)
    need(len(rows) > 1 and len(rows[0]) in (3, 6), "header")
    n_nodes, *servers, n_switches, n_links = map(whole, rows[0][: 3 if len(rows[0]) == 3 else 5])
    if servers:
        gpus, nvswitches = servers
        need(gpus >= 1 and min(nvswitches, n_switches, n_links, n_nodes) >= 0, "counts")
        n_switches += nvswitches
        need((n_nodes - n_switches) % gpus == 0, "servers")
    need(0 < n_nodes <= most_nodes and n_switches >= 0, "number of nodes")
    ids = [word for row in rows[1 : 2 if n_switches else 1] for word in row]
    rest = rows[2 if n_switches else 1 :]
    need(len(rest) >= n_links >= 0, "links")
    rest = rest[:n_links]
    switches = {whole(word) for word in ids}
    need(len(switches) == len(ids) == n_switches, "switches")
    need(all(0 <= switch < n_nodes for switch in switches), "switch ids")
    links = []
    for row in rest:
        need(len(row) in (4, 5), f"link {row}")
        a, b = whole(row[0]), whole(row[1])
        rate, delay = quantity(row[2], "rate"), quantity(row[3], "time")
        loss = real(row[4]) if len(row) == 5 else 0.0
        need(0 <= loss < 1 and rate >= 1 and delay >= 1, f"link {row}")
        need(0 <= a < n_nodes and 0 <= b < n_nodes, f"ends {row}")
        links.append((a, b, rate, delay, loss))
    ends = [link[:2] for link in links]
    connected(range(n_nodes), switches, ends)
    if servers and nvswitches:
        hosts = [node for node in range(n_nodes) if node not in switches]
        joined = [sorted({b if a == switch else a for a, b in ends if switch in (a, b)})
                  for switch in map(whole, ids[:nvswitches])]  # fmt: skip
        each = [joined.count(hosts[i : i + gpus]) for i in range(0, len(hosts), gpus)]
        need(set(each) == {nvswitches // len(each)} and sum(each) == nvswitches, "NVSwitches")
    return n_nodes, switches, links


def connected(nodes, switches, ends):
    """Refuse links that cannot be, and hosts that cannot reach each other over switches."""
    part = {switch: switch for switch in switches}

    def root(x):
        while part[x] != x:
            x = part[x]
        return x

    for a, b in ends:
        need(a != b and (a in switches or b in switches), f"link {a} {b}")
        if a in switches and b in switches:
            part[root(a)] = root(b)
    at = {}
    for a, b in [*ends, *(pair[::-1] for pair in ends)]:
        if a not in switches:
            at.setdefault(a, set()).add(root(b))
    hosts = [node for node in nodes if node not in switches]
    need(hosts and all(host in at for host in hosts), "a host without a link, or none")
    need(all(at[host] & at[hosts[0]] for host in hosts), "two parts")


def topo(data):
    """Return hosts; of each tier ports down, ports up, bundle, rate, delay, the lowest first."""
    header, tiers = {}, []
    known = {"nodes", "tiers", "podsize"}
    for row in lines(data):
        need(len(row) == 2, f"line {row}")
        word, value = row[0].lower(), count(row[1])
        if word == "tier":
            need(value == len(tiers), "tier")
            tiers.append({})
            continue
        into = tiers[-1] if tiers else header
        names = known if not tiers else {
            "downlink_speed_gbps", "radix_down", "radix_up", "downlink_latency_ns", "bundle",
            "switch_latency_ns", "oversubscribed", "queue_down", "queue_up",
        }  # fmt: skip
        need(word in names and word not in into, f"line {row}")
        into[word] = value
    need(set(header) == known and min(header.values()) > 0, "header")
    need(len(tiers) == header["tiers"] and len(tiers) in (2, 3), "tiers")
    for index, tier in enumerate(tiers):
        top = index == len(tiers) - 1
        wanted = ["downlink_speed_gbps", "radix_down"] + ["radix_up"] * (not top)
        need(all(tier.get(word, 0) > 0 for word in wanted), "a number is missing")
        need(
            tier.get("downlink_latency_ns", 0) > 0 and not tier.get("switch_latency_ns"), "latency"
        )
        need(not top or not tier.get("radix_up"), "top")
        need(tier.get("bundle", 1) > 0 and (index or tier.get("bundle", 1) == 1), "bundle")
        if not top and "oversubscribed" in tier:
            ratio = Fraction(tier["radix_down"], tier["radix_up"])
            need(tier["oversubscribed"] in (1, ratio), "oversubscribed")
        need(tier["downlink_speed_gbps"] * 10**9 < INT64, "rate")
        need(tier["downlink_latency_ns"] * 1000 < INT64, "delay")
    shape = [(t["radix_down"], t.get("radix_up", 0), t.get("bundle", 1),
              t["downlink_speed_gbps"] * 10**9, t["downlink_latency_ns"] * 1000)
             for t in tiers]  # fmt: skip
    hosts = 1
    for index, (down, _, bundle, *_) in enumerate(shape):
        need(down % bundle == 0, "down ports over bundle")
        need(not index or shape[index - 1][1] % bundle == 0, "up ports over bundle")
        hosts *= down // bundle
    pod = hosts if len(shape) == 2 else shape[0][0] * (shape[1][0] // shape[1][2])
    need((header["nodes"], header["podsize"]) == (hosts, pod), "nodes")
    return hosts, shape


def table(data, required, optional):
    """Return columns of a CSV file; whole numbers, but for ratios."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except (UnicodeDecodeError, csv.Error):
        raise Refused("no table") from None
    need(rows, "empty")
    head, body = rows[0], rows[1:]
    need(len(set(head)) == len(head), "twice the same column")
    need(set(required) <= set(head) <= {*required, *optional}, f"columns {head}")
    need(all(len(row) == len(head) for row in body), "cells")
    columns = {name: [row[i].strip(" \t") for row in body] for i, name in enumerate(head)}
    return {name: [real(cell) if name.endswith("_ratio") else whole(cell) for cell in cells]
            for name, cells in columns.items()}  # fmt: skip


def real(word):
    """Return a decimal number as the nearest float."""
    need(NUMBER.fullmatch(word), f"number {word!r}")
    return float(word)


def preset_number(word):
    """Return what text in a preset counts: bytes of a format, a plain number, or a quantity."""
    if word in FORMATS:
        return FORMATS[word]
    if NUMBER.fullmatch(word):
        return float(word)
    for kind, factors in FACTORS.items():
        if word.rstrip().endswith(tuple(factors)):
            with contextlib.suppress(Refused):
                return quantity(word, kind)
    raise Refused(f"number {word!r}")


def cdf(data):
    """Return size and percentage of each point."""
    points = []
    for row in lines(data):
        need(len(row) == 2, f"point {row}")
        percent = exact(row[1])
        need(percent is not None, f"percentage {row}")
        points.append((whole(row[0]), float(row[1])))
    need(len(points) > 1 and points[0][0] >= 0, "points")
    need(points[-1][0] <= 2**53, "larger than a float64 can be exact")
    need(points[0][1] == 0 and points[-1][1] == 100, "0 to 100")
    for (size, percent), (larger, more) in zip(points, points[1:], strict=False):
        need(size < larger and percent <= more, "not ascending")
    return points


def plain_word(text: str) -> object:
    """Return what a word without quotes means in YAML 1.2 (10.3.2, core schema)."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text.lower() in ("true", "false") and text in (text.lower(), text.title(), text.upper()):
        return text.lower() == "true"
    unsigned = text[1:] if text[0] in "+-" else text
    if unsigned.isascii() and unsigned.isdigit():
        return int(text)
    for start, digits, base in (("0o", "01234567", 8), ("0x", "0123456789abcdefABCDEF", 16)):
        if text.startswith(start) and text[2:] and set(text[2:]) <= set(digits):
            return int(text[2:], base)
    if unsigned in (".inf", ".Inf", ".INF"):
        return float("-inf" if text[0] == "-" else "inf")
    if text in (".nan", ".NaN", ".NAN"):
        return float("nan")
    if set(text) <= set("0123456789+-.eE"):
        try:
            return float(text)
        except ValueError:
            return text
    return text
