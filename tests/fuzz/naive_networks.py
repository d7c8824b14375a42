# SPDX-License-Identifier: GPL-2.0-only
"""Second readers of networks as NCCL and ibnetdiscover write them; nothing of pyorch in them."""

from xml.dom import minidom
from xml.parsers.expat import ExpatError

from naive import Refused, connected, need

#: Of an NVLink, by the least compute capability, 0.1 GB/s (NCCL, src/graph/topo.h).
NVLINK = ((60, 180), (70, 200), (86, 120), (87, 200), (90, 206), (100, 401))
#: Of a lane after its line code [Mbit/s].
LANE = {"SDR": 2000, "DDR": 4000, "QDR": 8000, "FDR10": 10000, "EDR": 25000, "HDR": 50000,
        "NDR": 100000, "XDR": 200000}  # fmt: skip
DIGITS = "0123456789"


def text_of(data):
    """Return UTF-8 without the mark of its order of bytes."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Refused("no text") from None


def nccl_xml(data):
    """Return the rate of each GPU by its rank [bit/s]."""
    text = text_of(data)
    need("<!DOCTYPE" not in text and "<!ENTITY" not in text, "declarations")
    try:
        root = minidom.parseString(text.encode()).documentElement
    except ExpatError:
        raise Refused("no XML") from None
    need(root.tagName == "system", "root")

    def number(element, name, most):
        word = element.getAttribute(name)
        need(0 < len(word) < 10 and set(word) <= set(DIGITS) and int(word) <= most, name)
        return int(word)

    rates = {}
    for gpu in root.getElementsByTagName("gpu"):
        rank, sm = number(gpu, "rank", 2**22), number(gpu, "sm", 1000)
        links = gpu.getElementsByTagName("nvlink")
        need(all(link.getAttribute("tclass") == "0x068000" for link in links), "tclass")
        n_links = sum(number(link, "count", 1000) for link in links)
        need(0 < n_links <= 1000 and sm >= 60 and rank not in rates, "links")
        rates[rank] = n_links * [rate for least, rate in NVLINK if least <= sm][-1] * 800_000_000
    need(len(rates) > 1, "GPUs")
    return [rate for _, rate in sorted(rates.items())]


def words_of(line):
    """Return the parts of a line of a node or a port, None if it begins as no such line.

    A port: its number, the name of the other node, the number of its port, and what follows. A
    node: its kind, its name and its description.
    """

    def name_at(at):
        end = line.find('"', at + 1)
        name = line[at + 1 : end]
        digits = name[4:] if name[2:4] == "0x" and len(name) > 4 else name[2:]
        ok = (
            line[at : at + 1] == '"'
            and end > 0
            and name[:2] in ("S-", "H-")
            and 0 < len(digits) <= 16
        )
        return (name, end + 1) if ok and set(digits) <= set(DIGITS + "abcdefABCDEF") else None

    def number_at(at, most=3):
        end = line.find("]", at)
        word = line[at + 1 : end]
        ok = line[at : at + 1] == "[" and end > 0 and 0 < len(word) <= most
        return (int(word), end + 1) if ok and set(word) <= set(DIGITS) else None

    def blanks(at):
        while line[at : at + 1] and line[at] in " \t\x0b\x0c\r\n":
            at += 1
        return at

    for kind in ("Switch", "Ca"):
        at = blanks(len(kind))
        end = at
        while line[end : end + 1] and line[end] in DIGITS:
            end += 1
        found = name_at(blanks(end))
        if line.startswith(kind) and len(kind) < at < end < blanks(end) and found:
            name, at = found
            at = blanks(at)
            if line[at : at + 1] not in ("", "#"):
                return None
            quote = blanks(at + 1)
            if line[quote : quote + 1] == '"' and (end := line.find('"', quote + 1)) > 0:
                return kind, name, line[quote + 1 : end]
            return kind, name, ""
    if not (found := number_at(0)):
        return None
    mine, at = found
    if line.startswith("[ext ", at):
        end = line.find("]", at)
        if end < 0 or not line[at + 5 : end] or not set(line[at + 5 : end]) <= set(DIGITS):
            return None
        at = end + 1
    if line.startswith("(", at):
        end = line.find(")", at)
        inside = line[at + 1 : end]
        if end < 0 or not inside or not set(inside) <= set(DIGITS + "abcdefABCDEFx"):
            return None
        at = end + 1
    if blanks(at) == at or not (found := name_at(blanks(at))):
        return None
    other, at = found
    if not (found := number_at(at)):
        return None
    its, at = found
    if line.startswith("(", at) and (end := line.find(")", at)) > at + 1:
        at = end + 1 if set(line[at + 1 : end]) <= set(DIGITS + "abcdefABCDEFx") else at
    at = blanks(at)
    return (mine, other, its, line[at:]) if line[at : at + 1] in ("", "#") else None


def speed_of(rest):
    """Return the rate at the end of the line of a port, None without one [bit/s]."""
    words = rest.split()
    if words[-1:] == ["(scp)"]:
        words = words[:-1]
    elif words[-2:-1] == ["slot"] and set(words[-1]) <= set(DIGITS):
        words = words[:-2]
    codes = words[-3:]
    if [code[:2] for code in codes] == ["s=", "w=", "v="] and (
        all(code[2:] and set(code[2:]) <= set(DIGITS) for code in codes)
    ):
        words = words[:-3]
    last = words[-1:] if rest[:1] in (" ", "\t") or len(words) > 1 else []
    width, x, speed = (last or [""])[0].partition("x")
    letters = speed.rstrip(DIGITS)
    ok = x and width and set(width) <= set(DIGITS) and letters
    if not ok or not (letters.isascii() and letters.isalpha() and letters.isupper()):
        return None
    need(width in ("1", "2", "4", "8", "12") and speed in {*LANE, "FDR"}, "speed")
    lane = 14_062_500_000 * 64 // 66 if speed == "FDR" else LANE[speed] * 10**6
    return int(width) * lane


def ibnetdiscover(data, default_bps):
    """Return the number of hosts, and the rates of cables between names, each as often as it is."""
    described, ends, rates, node = {}, {}, {}, None
    for line in map(str.strip, text_of(data).splitlines()):
        found = words_of(line)
        if found is None:
            first = line.partition("=")[0]
            is_word = bool(first) and all(c.isascii() and (c.isalnum() or c == "_") for c in first)
            chassis = line.removeprefix("Non-")
            ends_word = chassis.startswith("Chassis") and not (chassis[7:8] or " ").isidentifier()
            value = line.partition("=")[2].partition("#")[0]
            is_word &= (
                "=" in line and value.strip() in ("", value.rstrip()) and len(value.split()) < 2
            )
            need(not line or line[0] == "#" or is_word or line[:7] == "ibwarn:"
                 or ends_word, f"line {line}")  # fmt: skip
            continue
        if len(found) == 3:
            kind, node, words = found
            need((kind == "Switch") == (node[0] == "S") and node not in described, "node")
            described[node] = words
            continue
        mine, other, its, rest = found
        need(node is not None, "a port before any node")
        for near, far in (((node, mine), (other, its)), ((other, its), (node, mine))):
            need(ends.setdefault(near, far) == far, "a port with two ends")
        cable = tuple(sorted([(node, mine), (other, its)]))
        rates.setdefault(cable, [])
        if (rate := speed_of(rest)) is not None:
            rates[cable].append(rate)
    hidden = {name for name, words in described.items() if "Aggregation Node" in words}
    kept = {pair: min(its or [default_bps]) for pair, its in rates.items()
            if not {pair[0][0], pair[1][0]} & hidden}  # fmt: skip
    nodes = sorted({end[0] for pair in kept for end in pair})
    switches = {name for name in nodes if name[0] == "S"}
    need(set(nodes) <= set(described) and kept, "a node that is not there")
    connected(nodes, switches, [(a[0], b[0]) for a, b in kept])
    rows = sorted(
        (*sorted((a[0] in switches, b[0] in switches)), rate) for (a, b), rate in kept.items()
    )
    return len(nodes) - len(switches), len(switches), rows
