# SPDX-License-Identifier: GPL-2.0-only
"""Files of each format as its writers write them, drawn by a `random.Random`; all are valid."""

import io

import pyarrow as pa
import pyarrow.parquet as pq

TIMES = ["0", "0.0", "7", "1500.0", "2e3", "999999999999"]
SIZES = ["1", "1000", "2000000", "97400000.0", "1e6", "4294967296"]


def pair(draw, n):
    """Return two different numbers below n."""
    a = draw.randrange(n)
    return a, (a + 1 + draw.randrange(n - 1)) % n


def htsim_cm(draw):
    n_nodes, n_flows = draw.choice([2, 16, 128]), draw.randint(1, 6)
    with_ids = draw.random() < 0.6
    starts = [f"start {draw.choice(TIMES)}" for _ in range(n_flows)]
    triggers, activates = triggers_of(draw, starts) if with_ids else ([], [[]] * n_flows)
    lines = []
    for number in range(n_flows):
        src, dst = pair(draw, n_nodes)
        words = [starts[number], f"size {draw.choice(SIZES)}", *activates[number]]
        words += [f"prio {draw.randrange(9)}"] * draw.randrange(2)
        draw.shuffle(words)
        words = [f"id {number * 3 + 1}"] * with_ids + words
        lines.append(" ".join([f"{src}->{dst}", *words]))
    lines += triggers
    draw.shuffle(lines)
    header = [f"Nodes {n_nodes}", f"Connections {n_flows}"]
    header += [f"Triggers {len(triggers)}"] * (bool(triggers) or draw.random() < 0.2)
    return "\n".join([*header, *lines, ""]).encode()


def triggers_of(draw, starts):
    """Return lines of triggers and words of flows; flows that wait have no start any more."""
    lines, activates = [], [[] for _ in starts]
    for number in range(1, len(starts)):
        free = [(word, i) for i in range(number)
                for word in ("send_done_trigger", "recv_done_trigger")
                if word not in " ".join(activates[i])]  # fmt: skip
        if not free or draw.random() < 0.5:
            continue
        id_ = 7 * number
        chosen = draw.sample(free, draw.randint(1, min(len(free), 3)))
        for word, i in chosen:
            activates[i].append(f"{word} {id_}")
        kinds = [f"barrier count {len(chosen)}"] + ["oneshot", "multishot"] * (len(chosen) == 1)
        lines.append(f"trigger id {id_} {draw.choice(kinds)}")
        starts[number] = f"trigger {id_}"
    return lines, activates


def hpcc_flows(draw):
    rows = []
    for _ in range(draw.randint(1, 6)):
        src, dst = pair(draw, 128)
        start = draw.choice(["0", "0.0", "2.0e-6", "0.5", "0.000000000001", ".25"])
        rows.append(f"{src} {dst} 3 {draw.randrange(65536)} {draw.choice(SIZES)} {start}")
    return "\n".join([str(len(rows)), *rows, ""]).encode()


def flow_table(draw):
    names = ["src", "dst", "bytes", *draw.sample(["start_ps", "flow"], draw.randrange(3))]
    draw.shuffle(names)
    rows = [",".join(names)]
    for number in range(draw.randint(1, 6)):
        src, dst = pair(draw, 128)
        cells = {"src": src, "dst": dst, "bytes": draw.choice(SIZES),
                 "start_ps": draw.choice(TIMES), "flow": 2**61 + number}  # fmt: skip
        rows.append(",".join(str(cells[name]) for name in names))
    return draw.choice(["\n", "\r\n"]).join([*rows, ""]).encode()


def parquet(draw):
    """Two flows whose columns may have any type of Arrow, also such as hold no whole numbers."""
    kinds = {
        "src": ["int8", "uint8", "float16", "float64"],
        "bytes": ["uint32", "uint64", "float32", "float64"],
        "start_ps": ["uint64", "float64", "timestamp[ns]", "duration[s]"],
    }
    columns = {"dst": pa.array([5, 6])}
    for name, values in (("src", [1, 2]), ("bytes", [2**24, 9]), ("start_ps", [1, 0])):
        if draw.random() < 0.1:
            values = [values[0], None]
        columns[name] = pa.array(values, type=pa.int64())
        if draw.random() < 0.4:
            columns[name] = columns[name].cast(draw.choice(kinds[name]))
    columns |= draw.choice([{}, {}, {"flow": pa.array([7, 8])}, {"flow": pa.array([7.0, 8.5])},
                            {"start_ps": pa.array([True, False])},
                            {"start_ps": pa.array(["1", "2"])}])  # fmt: skip
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def node_table(draw):
    more = draw.sample(["tier", "plane"], draw.randrange(3))
    rows = [",".join(["node", "is_switch", *more])]
    order = list(range(5))
    draw.shuffle(order)
    for node in order:
        cells = [str(node), str(int(node > 2))]
        cells += [str(0 if node < 3 else 1 + draw.randrange(3)) for _ in more]
        rows.append(",".join(cells))
    return "\n".join([*rows, ""]).encode()


def link_table(draw):
    names = ["node_a", "node_b", "rate_bps", "delay_ps"]
    names += draw.sample(["parallel", "loss_ratio", "bit_error_ratio"], draw.randrange(4))
    ends = [(0, 3), (4, 1), (2, 4), (3, 4)] + [(4, 3)] * ("parallel" in names)
    draw.shuffle(names)
    rows = [",".join(names)]
    for number, (a, b) in enumerate(ends):
        cells = {"node_a": a, "node_b": b, "rate_bps": draw.choice(SIZES), "parallel": number,
                 "delay_ps": draw.choice(TIMES[2:]), "loss_ratio": draw.choice([0, 0.1, 1e-7]),
                 "bit_error_ratio": draw.choice([0, 0.5, 1e-12])}  # fmt: skip
        rows.append(",".join(str(cells[name]) for name in names))
    return "\n".join([*rows, ""]).encode()


def hpcc_topology(draw):
    n_hosts, n_switches = draw.randint(1, 5), draw.randint(1, 4)
    gpus = draw.choice([n for n in range(1, n_hosts + 1) if n_hosts % n == 0])
    inside = draw.choice([None, 0, 1, 2])  # NVSwitches of a server, in SimAI's files
    n_inside = (inside or 0) * n_hosts // gpus
    n_nodes = n_hosts + n_switches + n_inside
    ids = list(range(n_nodes))
    draw.shuffle(ids)
    nvswitches, rest = ids[:n_inside], ids[n_inside:]
    switches, hosts = rest[:n_switches], sorted(rest[n_switches:])
    ends = [(draw.choice(switches[:i]), switches[i]) for i in range(1, n_switches)]
    ends += [(host, draw.choice(switches)) for host in hosts]
    ends += [draw.choice(ends) for _ in range(draw.randrange(3))]
    ends += [(hosts[place], switch) for index, switch in enumerate(nvswitches)
             for place in range(index // inside * gpus, (index // inside + 1) * gpus)]  # fmt: skip
    draw.shuffle(ends)
    draw.shuffle(nvswitches)
    counts = f"{n_nodes} {n_switches} {len(ends)}"
    if inside is not None:
        counts = f"{n_nodes} {gpus} {n_inside} {n_switches} {len(ends)} H100"
    rows = [counts, " ".join(map(str, nvswitches + switches))]
    for a, b in ends:
        a, b = draw.choice([(a, b), (b, a)])
        rate = draw.choice(["100Gbps", "25000000000bps", "0.4Tbps", "10Mb/s", "5 kb/s", "1Kbps"])
        delay = draw.choice(["0.001ms", "1us", "1ps", "1500ns", "3ps"])
        loss = draw.choice([" 0", " 0.25", " 1e-9", ""])
        rows.append(f"{a} {b} {rate.replace(' ', '')} {delay}{loss}")
    return "\n".join([*rows, ""]).encode()


def htsim_topo(draw):
    tiers = draw.choice([2, 3])
    bundles = [1, *(draw.choice([1, 1, 2]) for _ in range(tiers - 1))]
    children = [draw.randint(1, 4) for _ in range(tiers)]
    parents = [draw.randint(1, 3) for _ in range(tiers - 1)]
    hosts = 1
    for n in children:
        hosts *= n
    pod = hosts if tiers == 2 else children[0] * children[1]
    lines = ["# drawn", f"Nodes {hosts}", f"Tiers {tiers}", f"Podsize {pod}"]
    for tier in range(tiers):
        down = children[tier] * bundles[tier]
        body = [f"Downlink_speed_Gbps {draw.choice([1, 100, 800])}", f"Radix_Down {down}",
                f"Downlink_Latency_ns {draw.choice([1, 20, 1000])}"]  # fmt: skip
        if tier < tiers - 1:
            body.append(f"Radix_Up {parents[tier] * bundles[tier + 1]}")
        body += [f"Bundle {bundles[tier]}"] * (bundles[tier] > 1 or draw.random() < 0.5)
        body += draw.sample(["Switch_Latency_ns 0", "Queue_Down 9", "Queue_Up 8"], 1)
        draw.shuffle(body)
        lines += [f"Tier {tier}", *body]
    return "\n".join([*lines, ""]).encode()


def size_cdf(draw):
    sizes = sorted(draw.sample(range(10**6), draw.randint(2, 6)))
    shares = sorted(draw.choice([0, 10, 33.3, 99.9999, 100]) for _ in sizes[2:])
    rows = [f"{size} {share}" for size, share in zip(sizes, [0, *shares, 100], strict=True)]
    return "\n".join([*rows, ""]).encode()


def preset(draw):
    training = (
        "kind: training\ntitle: drawn\nmodel: {layers: 20, hidden: 12288, heads: 96,"
        f" vocabulary: 50000, {draw.choice(['kv_heads: 8', 'experts: 8, active_experts: 2'])}}}\n"
        f"precision: {{weight: {draw.choice(['FP4', 'BF16'])}, master: FP32, gradient: FP16,"
        " optimizer: [FP32, FP8], activation: FP8, activation_bytes_per_element: 34}\n"
        f"job: {{sequence_tokens: 2048, recompute: {draw.choice(['none', 'selective', 'full'])}}}\n"
        f"gpu: {{memory: 192 GB, compute: 2.5 PFLOPS, usable_memory_share: {draw.random()}}}\n"
        "cluster: {rack_gpus: 72, racks: 500, datacenters: 2}\n"
        "network: {scale_up: 14.4 Tb/s, scale_out: 800 Gb/s, wan: 20 Gb/s, wan_rtt: 60 ms}\n"
        f"parallelism: {{tensor: {draw.choice(['8', 'smallest', 'smallest_divisor'])}}}\n"
    )
    traffic = (
        "traffic: {parameters: 175e9, tokens: 3e+11, samples: 1e6, batch_samples: 1536, group: 8,"
        " tensor: 8, pipeline: 8, data: 4, dataset: 1.5 TB}\n"
    )
    inference = (
        "kind: inference\ntitle: drawn\nparameters: 120e+9\nusers: 100\nprompt_tokens: 256\n"
        "output_tokens: 4096\nlayers: 140\nhidden: 8192\ntensor: 4\ntokens_per_s: 99.5\n"
        "parallel_efficiency: 0.9\nkv_deadline: 10 ms\n"
    )
    site = (
        "kind: site\ntitle: drawn\nbudget: {total: 100 GUSD, compute_share: 1e-1,"
        " overhead_share: 0.2, pue_low: 1.15, pue_high: 1.3}\n"
        "rack: {gpus: 72, cost: 3 MUSD, power: 130 kW, sparse: 1440 PFLOPS}\n"
        "grid:\n  - {name: P, region: M, spare: 9915 MW}\n  - {name: S, region: W, spare: 1 GW}\n"
        "datacenters: 2\ntopology: {hosts: 8000, chip: 51.2 Tb/s, lane: 100 Gb/s, port: 800 Gb/s,"
        " planes: 4, rails: 72, rails_combined: 76, transceiver: 1 kUSD, network_share: 0.1}\n"
    )
    return draw.choice([training, training + traffic, inference, site]).encode()


def scenario(draw):
    topology = draw.choice([
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: fat_tree, tiers: 3, radix: 4, planes: 2}",
        "{type: fat_tree, tiers: 2, radix: 8, oversubscription: [2]}",
        "{type: clos, children: [4, 2], parents: [3]}",
        "{type: dumbbell, left: 4, right: 5, bottleneck_rate: 10 Gb/s}",
        "{type: multi_site, long_haul: [{between: [a, b], rate: 1 Gb/s, delay: 1 ms}], sites:"
        " [{name: a, topology: {type: dumbbell, left: 4, right: 5}},"
        " {name: b, topology: {type: dumbbell, left: 1, right: 1}, borders: 2}]}",
        "{type: rails, devices: 3, rail: {type: star, hosts: 3, planes: 2},"
        " scale_up: {rate: 1 Tb/s, delay: 100 ns}}",
    ])  # fmt: skip
    workload = draw.choice([
        "{type: permutation, message: 1 MB, inter_leaf: false}",
        "{type: incast, senders: 3, message: 10 kB, start: 1.5 us}",
        "{type: poisson, load: 0.5, duration: 1 ms, sizes: websearch}",
        "{type: all_to_all, message: 1 KiB}",
        "[{type: stride, stride: 1, message: 9 B}, {type: single, message: 1 GB}]",
    ])  # fmt: skip
    failures = draw.choice([
        "", "failures: [{type: random, what: links, mtbf: 1 s, mttr: 1 ms}]\n",
        "failures:\n  - {type: scheduled, links: [[0, 8]], at: 1 us, duration: 2 us}\n"
        * topology.startswith("{type: leaf"),
    ])  # fmt: skip
    more = draw.choice(["", "sweep: {seed: [1, 2], link.delay: [1 us, 2 us]}\n",
                        "variants: {a: {stop: 1 s}, b: {label: B, link.delay: 5 ns}}\n",
                        "variants: {a: {}, b: {}}\ncases: {c: {exclude: [b]}, d: {stop: 1 s}}\n",
                        "scales: {smoke: {link.rate: 1 Gb/s}, paper: {seed: 7}}\n"])  # fmt: skip
    text = (
        f"name: drawn # one of many\ntopology: {topology}\nlink:\n"
        f"  rate: {draw.choice(['800 Gb/s', '1.5Tb/s', '10e9 bit/s'])}\n"
        f"  delay: {draw.choice(['500 ns', '1 ps', '.5us', '1000 ps'])}\n"
        f"switch: {{buffer: {draw.choice(['8 MB', '1 GiB'])}}}\nworkload: {workload}\n"
        f"transport: {{type: {draw.choice(['ns3::RoceTransport', 'ns3::SprayTransport'])},"
        f" attributes: {{{draw.choice(['', 'Rto: 1ms', 'MtuBytes: 4 KiB', 'Priority: 5'])}}}}}\n"
        f"{failures}{more}stop: 20 ms\n"
    )
    return text.encode()
