# SPDX-License-Identifier: GPL-2.0-only
"""Second readers of networks as NCCL and ibnetdiscover write them; nothing of pyorch in them."""

from xml.dom import minidom
from xml.parsers.expat import ExpatError

from naive import Refused, need

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
