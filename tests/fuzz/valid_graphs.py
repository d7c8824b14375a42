# SPDX-License-Identifier: GPL-2.0-only
"""Task graphs and the networks that come with them, drawn by a `random.Random`; all are valid."""

import json

import yaml
from valid import pair


def goal(draw):
    n_ranks = draw.randint(2, 5)
    lines = [[] for _ in range(n_ranks)]
    last = [None] * n_ranks
    for number in range(draw.randint(1, 6)):
        src, dst = pair(draw, n_ranks)
        size, tag = (
            draw.choice([1, 1024, 97_400_000]),
            draw.choice(["", f" tag {number}", " tag 0"]),
        )
        if draw.random() < 0.5:
            lines[src].append(
                f"c{number}: calc {draw.choice([0, 1, 700])}{draw.choice(['', ' cpu 1'])}"
            )
            if last[src] and draw.random() < 0.5:
                lines[src].append(f"c{number} {draw.choice(['requires', 'irequires'])} {last[src]}")
            last[src] = f"c{number}"
        lines[src].append(f"s{number}: send {size}b to {dst}{tag}")
        lines[dst].append(f"r{number}: recv {size}b from {src}{tag} // of {src}")
        if last[src]:
            lines[src].append(f"s{number} requires {last[src]}")
        last[src], last[dst] = f"s{number}", f"r{number}"
    if not same_order(lines):
        return goal(draw)
    blocks = [f"rank {rank} {{\n" + "\n".join([*own, "}"]) for rank, own in enumerate(lines)]
    return "\n".join(["/* drawn */", f"num_ranks {n_ranks}", *blocks, ""]).encode()


def same_order(lines):
    """Return whether the k-th send and recv of the same ranks and tag have the same size."""
    pairs = {}
    for rank, own in enumerate(lines):
        for line in own:
            words = line.split()
            if words[1] not in ("send", "recv"):
                continue
            tag = words[words.index("tag") + 1] if "tag" in words else "0"
            ends = (rank, int(words[4])) if words[1] == "send" else (int(words[4]), rank)
            pairs.setdefault((*ends, tag), ([], []))[words[1] == "recv"].append(words[2])
    return all(sent == received for sent, received in pairs.values())


def varint(value):
    """Return a number in base 128, the lowest digit first."""
    out = []
    while True:
        value, digit = divmod(value, 128)
        out.append(digit | (0x80 if value else 0))
        if not value:
            return bytes(out)


def field(number, value):
    """Return a field: a number, or bytes behind their length."""
    if isinstance(value, int):
        return varint(8 * number) + varint(value)
    return varint(8 * number + 2) + varint(len(value)) + value


def chakra_node(number, kind, after=(), duration=0, **attributes):
    """Return a node; its attributes are int64 or a text."""
    out = field(1, number) + field(2, b"n") + field(3, kind)
    out += b"".join(field(5, before) for before in after) + field(7, duration) * bool(duration)
    for name, value in attributes.items():
        text = isinstance(value, bytes)
        out += field(10, field(1, name.encode()) + field(29 if text else 9, value))
    return out


def chakra(draw):
    """Return rank 0 of two: it sends 1000 B with tag 0 to 1 and takes 1000 B with tag 1."""
    nodes = [
        chakra_node(3, 5, comm_dst=1, comm_size=1000, comm_tag=0),
        chakra_node(5, 6, [3] * draw.randrange(2), comm_src=1, comm_size=1000, comm_tag=1),
    ]
    ids = [3, 5]
    for number in range(draw.randrange(4)):
        after = draw.sample(ids, draw.randint(0, len(ids)))
        duration = draw.choice([0, 1, 1500])
        nodes.append(
            chakra_node(7 + number, 4, after, duration, is_cpu_op=draw.randrange(2),
                        num_ops=draw.randrange(9) if duration else 0)
        )  # fmt: skip
        ids.append(7 + number)
    draw.shuffle(nodes)
    head = field(1, b"0.0.4")
    return b"".join(varint(len(one)) + one for one in [head, *nodes])


def infragraph(draw):
    n_leaves, per_leaf, n_spines = draw.randint(1, 3), draw.randint(1, 3), draw.randint(1, 2)
    nics = draw.randint(1, 2)
    leaf_link, spine_link = draw.choice([100, 400, 0.5]), draw.choice([800, 1600])

    def edge(ep1, ep2, link):
        ends = [dict(zip(("instance", "component"), end, strict=True)) for end in (ep1, ep2)]
        return {"ep1": ends[0], "ep2": ends[1], "link": link, "scheme": "one2one"}

    def link(name, rate, **latency):
        physical = {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": rate}}
        if latency:
            physical["latency"] = {"choice": next(iter(latency)), **latency}
        return {"name": name, "physical": physical}

    def inside(a, b, link, scheme="many2many"):
        return {"ep1": {"component": a}, "ep2": {"component": b}, "link": link, "scheme": scheme}

    hosts, down = n_leaves * per_leaf, per_leaf * nics
    found = {
        "name": "drawn",
        "devices": [
            {"name": "server", "components": [
                {"name": "xpu", "choice": "xpu", "count": 2},
                {"name": "nic", "choice": "nic", "count": nics},
                {"name": "sw", "choice": "switch", "count": 1}],
             "links": [link("nvlink", 1000, ns=50), link("pcie", 256, ns=100)],
             "edges": [inside("xpu", "sw", "nvlink", draw.choice(["many2many", "one2one"])),
                       inside("xpu", "nic", "pcie")]},
            {"name": "switch", "components": [
                {"name": "port", "choice": "port", "count": down + n_spines + n_leaves}]},
        ],
        "instances": [{"name": "host", "device": "server", "count": hosts},
                      {"name": "leaf", "device": "switch", "count": n_leaves},
                      {"name": "spine", "device": "switch", "count": n_spines}],
        "links": [link("leaf-link", leaf_link),
                  link("spine-link", spine_link, **draw.choice([{}, {"ns": 500}, {"us": 1.5}]))],
        "edges": [
            *[edge((f"host[{leaf * per_leaf}:{(leaf + 1) * per_leaf}]", "nic"),
                   (f"leaf[{leaf}]", f"port[0:{down}]"), "leaf-link") for leaf in range(n_leaves)],
            *[edge((f"leaf[{leaf}]", f"port[{down + s}]"), (f"spine[{s}]", f"port[{leaf}]"),
                   "spine-link") for leaf in range(n_leaves) for s in range(n_spines)],
        ],
    }  # fmt: skip
    return draw.choice([json.dumps, yaml.safe_dump])(found).encode()


def sonic(draw):
    n_leaves, ports = draw.randint(1, 3), draw.randint(1, 3)
    rows = [f"leaf{leaf},Ethernet{4 * port},tester,Card1/Port{leaf * ports + port},"
            f"{draw.choice(['100000', '400000', ''])},,Access"
            for leaf in range(n_leaves) for port in range(ports)]  # fmt: skip
    rows += [f"spine,Ethernet{leaf},leaf{leaf},Ethernet96,400000,," for leaf in range(n_leaves)]
    draw.shuffle(rows)
    head = "StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode"
    return "\n".join([head, *rows, ""]).encode()


def lab(draw):
    """Return leaves and spines with hosts: names of switches and of hosts, and pairs of names."""
    leaves, spines = ([f"{kind}{i}" for i in range(draw.randint(1, 3))] for kind in ("leaf", "s"))
    hosts = [f"h{i}" for i in range(draw.randint(1, 5))]
    cables = [(leaf, spine) for leaf in leaves for spine in spines]
    cables += [(host, draw.choice(leaves)) for host in hosts] + draw.sample(cables, 1)
    draw.shuffle(cables)
    return leaves + spines, hosts, cables


def containerlab(draw):
    switches, hosts, cables = lab(draw)
    nodes = {name: {"kind": "linux"} for name in hosts} | dict.fromkeys(switches)
    links = []
    for index, ends in enumerate(cables):
        short = [f"{name}:e{index}" for name in ends]
        long = [{"node": name, "interface": f"e{index}"} for name in ends]
        links.append(draw.choice([{"endpoints": short}, {"type": "veth", "endpoints": long}]))
    links += draw.choice([[], [{"endpoints": [f"{hosts[0]}:m", "mgmt-net:x"]}]])
    lab_ = {"nodes": nodes, "links": links, "defaults": {"kind": "sonic-vs"}}
    return draw.choice([json.dumps, yaml.safe_dump])({"name": "drawn", "topology": lab_}).encode()


def ibnetdiscover(draw):
    switches, hosts, cables = lab(draw)
    names = {name: f"{'S' if name in switches else 'H'}-{i:016x}"
             for i, name in enumerate(switches + hosts)}  # fmt: skip
    blocks = {name: [] for name in names}
    for a, b in cables:
        speed = draw.choice(["4xHDR", "4xNDR", "1xSDR", "2xNDR", "4xFDR10"])
        ports = [len(blocks[name]) + 1 for name in (a, b)]
        for near, far, mine, its in ((a, b, *ports), (b, a, *ports[::-1])):
            guid = "" if near in switches else "(1a)"
            blocks[near].append(f'[{mine}]{guid}\t"{names[far]}"[{its}]\t# "{far}" lid 1 {speed}')
    found = ["# Topology file: generated on Tue Jun  5 14:15:10 2007", ""]
    for name, rows in blocks.items():
        kind = "Switch" if name in switches else "Ca"
        found += [
            "vendid=0x2c9",
            f'{kind}\t36 "{names[name]}"\t\t# "{name} HCA-1" lid 1',
            *rows,
            "",
        ]
    return "\n".join(found).encode()


def nccl_xml(draw):
    n, sm = draw.randint(2, 8), draw.choice([80, 86, 90, 100])
    targets = draw.choice([["fffffff:ffff:ff"], ["0000:f5:00.0", "0000:f6:00.0"]])
    rows = ['<system version="1">', '<cpu numaid="0" arch="x86_64">']
    for rank in draw.sample(range(n), n):
        links = [f'<nvlink target="{target}" count="{draw.randint(1, 18)}" tclass="0x068000"/>'
                 for target in targets]  # fmt: skip
        gpu = f'<gpu dev="{rank}" sm="{sm}" rank="{rank}" gdr="1">'
        rows += [f'<pci busid="0000:a{rank}:00.0">', gpu, *links, "</gpu>", "</pci>"]
    return "\n".join([*rows, "</cpu>", "</system>"]).encode()


def nccl_log(draw):
    """Return a log of two hosts: all ranks, halves of them, messages in a ring; old or new."""
    n, new, rccl = draw.choice([2, 4]), draw.random() < 0.7, draw.random() < 0.3
    lines, last = [], draw.choice(["", " task 0 globalrank {}"]) if rccl else ""

    def head(rank, where="NCCL INFO"):
        host, gpu = f"n{9 + rank % 2}", rank // 2
        clock = draw.choice(["", "[2026-03-03 12:11:38] ", "(Worker pid=3) ", "[1,0]<stdout>:"])
        return f"{clock}{host}:{100 + rank}:{200 + rank} [{gpu}] {where}"

    def init(rank, pointer, place, size, rest):
        name = "ncclCommInitRank " if new else ""
        lines.append(f"{head(rank)} {name}comm 0x{pointer:x} rank {place} nranks {size} cudaDev"
                     f" {rank // 2} busId 1000{rest} - Init COMPLETE")  # fmt: skip

    def call(rank, name, count, kind, root, pointer, size, turn=0):
        acc = " acc (nil)" if rccl else ""
        lines.append(f"{head(rank)} {name}: opCount {turn:x} sendbuff (nil) recvbuff 0x7f{acc}"
                     f" count {count} datatype {kind} op 0 root {root} comm 0x{pointer:x}"
                     f" [nranks={size}] stream 0x5{last.format(rank)}")  # fmt: skip

    alone = draw.random() < 0.2
    if not alone:
        for rank in range(n):
            init(rank, 16 + rank, rank, n, " commId 0xabc" if new else "")
    split = not alone and n == 4 and draw.random() < 0.5
    for rank in range(n) if split else ():
        rest = f" parent 0x{16 + rank:x} splitCount 1 color {rank // 2} key 0"
        init(rank, 32 + rank, rank % 2, 2, rest if new else "" if rank < 2 else " commId 0x9")
    names = ["AllReduce", "AllGather", "ReduceScatter", "AlltoAll", "Gather", "Scatter",
             "Broadcast", "Reduce"]  # fmt: skip
    for turn in range(draw.randint(1, 4)):
        name, count, kind = (
            draw.choice(names),
            draw.choice([0 if turn else 7, 1, 1000, 4096]),
            draw.randrange(12),
        )
        root = draw.randrange(n) if not alone and name in names[4:] else 0
        half = split and draw.random() < 0.5
        count, root = (count, root % 2) if half else (count, root)
        for rank in draw.sample(range(n), n):
            pointer, size = (32 + rank, 2) if half else (16 + rank, n)
            call(rank, name, count, kind, root, pointer, size, turn)
        if not alone and draw.random() < 0.5:
            for rank in draw.sample(range(n), n):
                call(rank, "Send", 1000, 7, (rank + 1) % n, 16 + rank, n, 9 + turn)
                call(rank, "Recv", 1000, 7, (rank - 1) % n, 16 + rank, n, 9 + turn)
    lines.insert(draw.randrange(len(lines)), head(0) + " Channel 00/02 : 0 1")
    return "\n".join([*lines, ""]).encode()
