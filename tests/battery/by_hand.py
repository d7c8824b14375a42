# SPDX-License-Identifier: GPL-2.0-only
"""Over a hundred bad inputs, written by hand from the documentation alone, each with its answer."""

from typing import Any, NamedTuple

#: The scenario that all changes are made to: right as it is, and run in a second.
BASE = {
    "name": "small",
    "topology": {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 4, "spines": 4},
    "link": {"rate": "100 Gb/s", "delay": "500 ns"},
    "switch": {"buffer": "64 MB"},
    "workload": {"type": "permutation", "message": "20 kB"},
    "transport": {"type": "ns3::RoceTransport"},
    "stop": "1 ms",
}
RUN = ("run", "small.yaml")


class Case(NamedTuple):
    """A bad input and what its one line has to hold."""

    name: str
    says: tuple[str, ...]  # all of these
    change: dict[str, Any] = {}  # key paths of BASE and what is there instead; ... removes the key
    text: str | bytes | None = None  # the whole of small.yaml instead
    files: dict[str, str | bytes | None] = {}  # beside small.yaml, by name; None: a named pipe
    command: tuple[str, ...] = RUN
    call: str = ""  # Python in place of a command; `base` is BASE, `one` a finished run
    edit: tuple[str, ...] = ()  # file of the finished run DONE, key path, and its new JSON; or text


def change(name: str, says: tuple[str, ...], /, **keys: Any) -> Case:
    """Return a case that changes BASE; a key path has __ for each dot."""
    paths = {path.replace("__", "."): value for path, value in keys.items()}
    return Case(name, ("small.yaml", *says), change=paths)


def text(name: str, says: tuple[str, ...], text: str | bytes) -> Case:
    """Return a case whose scenario is `text`."""
    return Case(name, ("small.yaml", *says), text=text)


def command(name: str, says: tuple[str, ...], *words: str, **files: Any) -> Case:
    """Return a case that is a command line, in a folder with small.yaml as BASE."""
    return Case(name, says, command=words, **files)


def call(name: str, says: tuple[str, ...], code: str, **more: Any) -> Case:
    """Return a case that is an expression of Python."""
    return Case(name, says, call=code, **more)


SITES = {
    "topology": {
        "type": "multi_site",
        "sites": [
            {"name": "east", "topology": {"type": "star", "hosts": 2}},
            {"name": "west", "topology": {"type": "star", "hosts": 2}},
        ],
        "long_haul": [{"between": ["east", "west"], "rate": "10 Gb/s", "delay": "1 ms"}],
    },
    "switch": {"buffer": "64 MB", "forwarding": {"type": "ns3::ExplicitRoutes"}},
    "workload": {
        "type": "wan_demands",
        "demands": [
            {"name": "a", "from": "east", "to": "west", "demand": "1 Gb/s", "hosts": 1,
             "message": "1 MB"}
        ],
    },
    "transport": {"type": "ns3::WanTransport"},
    "stop": "1 s",
}  # fmt: skip

PRESET = """kind: training
title: Fewer than no layers
model: {layers: -4, hidden: 8192, heads: 64, vocabulary: 128256}
precision: {weight: BF16, gradient: BF16, activation: BF16, master: FP32, optimizer: [FP32, FP32],
            activation_bytes_per_element: 34}
job: {sequence_tokens: 8192, micro_batch: 1, recompute: selective}
gpu: {memory: 192 GB, compute: 20 PFLOPS}
cluster: {rack_gpus: 72, racks: 100, datacenters: 1}
network: {scale_up: 14.4 Tb/s, scale_out: 800 Gb/s, wan: 20 Gb/s, wan_rtt: 60 ms}
parallelism: {tensor: 8, layers_per_stage: 1}
"""

TRAIN = {"type": "training", "preset": "llama3-70b", "stages": 2, "peers": 2, "tensor": 2,
         "divide": 100000}  # fmt: skip


def sites(name: str, says: tuple[str, ...], /, **keys: Any) -> Case:
    """Return a case with two datacenters and one demand between them."""
    return change(name, says, **SITES, **keys)


def file(name: str, says: tuple[str, ...], workload: dict, files: dict, **keys: Any) -> Case:
    """Return a case whose workload names a file."""
    return change(name, says, workload=workload, **keys)._replace(files=files)


TYPES = [
    # -- YAML itself
    text("python_tag", ("os.system", "tag"),
         "name: !!python/object/apply:os.system ['touch ran']\n"),
    text("laughs", ("nested", "100000"), "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n"
        for a, b in zip("abcdefghi", "bcdefghij", strict=True))),
    text("itself", ("nested", "40"), "name: small\ntopology: &t {type: star, hosts: *t}\n"),
    text("deep", ("nest",), "name: " + "[" * 20000 + "]" * 20000),
    text("nul", ("character",), b"name: sm\0all\n"),
    text("latin", ("UTF-8",), "name: caf\u00e9\n".encode("latin-1")),
    text("documents", ("document",), "name: one\n---\nname: two\n"),
    text("twice", ("stop", "twice"), "name: small\nstop: 1 ms\nstop: 2 ms\n"),
    # -- values and units
    change("name_leads_out", ("name", "../evil", "letters"), name="../evil"),
    change("bare_stop", ("stop", "20", "unit", "ms"), stop=20),
    change("part_of_a_ps", ("stop", "0.5 ps", "whole"), stop="0.5 ps"),
    change("eternity", ("stop", "1e30 s", "9223372036854775807 ps"), stop="1e30 s"),
    change("digits", ("stop", "9223372036854775807 ps"), stop="9" * 6000 + " ms"),
    change("gbps", ("link.rate", "100 Gbps", "Gb/s"), link__rate="100 Gbps"),
    change("loss_one", ("link.loss", "1"), link__loss=1),
    change("jitter", ("link.jitter", "1 s", "335520 ps"), link__jitter="1 s"),
    change("yes_hosts", ("topology.hosts_per_leaf", "true", "whole"),
           topology__hosts_per_leaf=True),
    change("seed_huge", ("seed", "1180591620717411303424", "64 bits"), seed=2**70),
    # -- topologies
    change("leaves", ("topology.leaves", "1000000000"), topology__leaves=10**9),
    change("tier_list", ("topology.oversubscription", "tiers"),
           topology={"type": "fat_tree", "tiers": 3, "radix": 4, "oversubscription": [1, 1, 1]}),
    change("rails_in_rails", ("topology.rail", "rails"),
           topology={"type": "rails", "devices": 2, "rail": {
                         "type": "rails", "devices": 2, "rail": {"type": "star", "hosts": 2},
                         "scale_up": {"rate": "1 Tb/s", "delay": "1 ns"}},
                     "scale_up": {"rate": "1 Tb/s", "delay": "1 ns"}}),
    sites("no_such_site", ("topology.long_haul.0.between", "north", "east"),
          **{"topology.long_haul.0.between": ["east", "north"]}),
    sites("island", ("topology", "a list of 0", "at least 1"), topology__long_haul=[]),
    # -- links and switches
    change("class_of_no_tier", ("link.classes.0.tiers", "9"),
           link__classes=[{"tiers": [1, 9], "flow_control": "none"}]),
    change("pfc_no_room", ("switch.buffer", "100000", "ns3::Pfc", "1801016 bytes"),
           switch__buffer="100 kB", link__flow_control={"type": "ns3::Pfc"}),
    change("queue_that_is_none", ("switch.queue", "ns3::Pfc", "ns3::DropTail"),
           switch__queue={"type": "ns3::Pfc"}),
    change("cut_through", ("switch.cut_through", "1 GB", "4174 B"), switch__cut_through="1 GB"),
    change("nested_queue", ("Priority3", "ns3::NoQueue"), switch__queue={
        "type": "ns3::PerPriority", "attributes": {"Priority3": "ns3::NoQueue[Limit=1]"}}),
    change("programs_no_list", ("switch.programs", "list"),
           switch__programs={"type": "ns3::InbandTelemetry"}),
    # -- transports
    change("gian", ("transport.attributes", "Gian", "Recovery"), transport__attributes={"Gian": 1}),
    change("rto_bare", ("Rto", "5", "ms"), transport__attributes={"Rto": 5}),
    change("open_bracket", ("PathSelector", "[Paths=16", "]"),
           transport__attributes={"PathSelector": "ns3::PermutedEntropy[Paths=16"}),
    change("hpcc_blind", ("switch.programs", "ns3::Hpcc", "ns3::InbandTelemetry"),
           transport__attributes={"CongestionControl": "ns3::Hpcc"}),
    change("no_such_name", ("workload.transport", "fast", "slow"),
           workload__transport="fast",
           transport=[{"name": "slow", "type": "ns3::RoceTransport"}]),
    # -- workloads
    change("message_of_all", ("workload.message", "10000000 TB", "9223372036854775807 B"),
           workload__message="10000000 TB"),
    change("itself_again", ("workload.target", "3", "source"),
           workload={"type": "single", "source": 3, "target": 3, "message": "1 kB"}),
    change("after_the_end", ("workload.start", "2 ms", "stop"), workload__start="2 ms"),
    change("overload", ("workload.load", "50"),
           workload={"type": "poisson", "load": 50, "duration": "10 us", "sizes": "websearch"}),
    change("two_sizes", ("workload", "sizes", "sizes_file"),
           workload={"type": "poisson", "load": 0.1, "duration": "10 us", "sizes": "websearch",
                     "sizes_file": "sizes.txt"}),
    change("ring_to_all", ("workload.operation", "all_to_all", "all_reduce"),
           workload={"type": "collective", "algorithm": "ring", "operation": "all_to_all",
                     "bytes": "16 kB", "ranks": 4}),
    change("parts", ("workload.bytes", "10 B", "12 B"),
           workload={"type": "collective", "algorithm": "ring", "operation": "all_reduce",
                     "bytes": "10 B", "ranks": 4}),
    change("overlap", ("workload.groups", "3"),
           workload={"type": "collective", "algorithm": "ring", "operation": "all_reduce",
                     "bytes": "16 kB", "groups": [[0, 3], [3, 1]]}),
    change("racks_of_three", ("workload.ranks", "multiple of 3", "8"),
           workload={"type": "collective", "operation": "all_reduce", "bytes": "24 kB", "ranks": 8,
                     "algorithm": {"type": "hierarchical", "local": 3}}),
    change("who_adds", ("switch.programs", "transport 0", "ns3::ReductionTransport"),
           switch__programs=[{"type": "ns3::InNetworkReduction"}]),
    # -- jobs, training
    change("too_many_hosts", ("jobs.hosts", "12", "4 free"),
           workload=[BASE["workload"], BASE["workload"]],
           jobs={"type": "packed", "hosts": [12, 12]}),
    change("only_seven", ("jobs.only", "7"),
           workload=[BASE["workload"], BASE["workload"]],
           jobs={"type": "packed", "hosts": [8, 8], "only": 7}),
    change("replaced_by_none", ("workload.replaced", "999"),
           workload=TRAIN | {"replaced": [[1, 999]]}),
    change("halves", ("workload.schedule", "3 micro-batches", "2 stages"), workload=TRAIN | {
        "schedule": "interleaved", "micro_batches": 3, "model_chunks": 2, "layers": 1}),
    # -- failures, traces, engine
    change("no_link", ("failures.0.links", "0 and 1", "16"),
           failures=[{"type": "scheduled", "links": [[0, 1]], "at": "1 us"}]),
    change("host_as_switch", ("failures.0.switches", "0"),
           failures=[{"type": "scheduled", "switches": [0], "at": "1 us"}]),
    change("fails_all_the_time", ("failures.0", "mtbf", "1 ps", "200,000"),
           failures=[{"type": "random", "what": "links", "mtbf": "1 ps", "mttr": "1 ps"}]),
    change("sampled_to_death", ("trace.sample", "1 ps", "100,000,000"),
           trace={"sample": "1 ps"}, stop="1 s"),
    change("pcap_of_none", ("trace.pcap", "99"), trace={"pcap": [99]}),
    change("domains", ("engine.domains", "threads"), engine={"domains": 2}),
    change("skip_half", ("engine.skip", "50%", "10"), engine={"skip": "50%"}),
    # -- wide area
    sites("sent_home", ("workload.demands.0", "east"), **{"workload.demands.0.to": "east"}),
    sites("epoch", ("workload.control.epoch", "10 ms", "120 ms"), workload__control={
        "epoch": "10 ms", "delay": "100 ms", "step": "10 ms", "controller": "max_min"}),
    sites("epochs", ("workload.control.epoch", "3 ps", "1,000,000"), workload__control={
        "epoch": "3 ps", "delay": "1 ps", "step": "1 ps", "controller": "max_min"}),
    # -- sweeps
    change("sweep_of_nothing", ("sweep", "link.rat"), sweep={"link.rat": ["1 Gb/s"]}),
    change("no_product", ("sweep.seed", "list"), sweep={"seed": 3}),
    change("million", ("sweep", "100,000"),
           sweep={"seed": list(range(1, 1001)),
                  "workload.active": [i / 1000 for i in range(1, 1001)]}),
    change("excludes_nobody", ("cases.a.exclude", "b"),
           cases={"a": {"label": "A", "exclude": ["b"]}}, variants={"v": {"label": "V"}}),
]  # fmt: skip

FILES = [
    file("fifo", ("workload.file", "pipe"), {"type": "flow_table", "file": "pipe"}, {"pipe": None}),
    file("zeros", ("workload.file", "/dev/zero"), {"type": "flow_table", "file": "/dev/zero"}, {}),
    file("no_dst", ("f.csv", "dst"), {"type": "flow_table", "file": "f.csv"},
         {"f.csv": "src,bytes\n0,100\n"}),
    file("words", ("f.csv", "row 2", "bytes", "many"), {"type": "flow_table", "file": "f.csv"},
         {"f.csv": "src,dst,bytes\n0,1,100\n0,2,many\n"}),
    file("to_itself", ("f.csv", "row 1", "host 5"), {"type": "flow_table", "file": "f.csv"},
         {"f.csv": "src,dst,bytes\n5,5,100\n"}),
    file("too_big", ("f.csv", "bytes", "9223372036854775808"),
         {"type": "flow_table", "file": "f.csv"},
         {"f.csv": "src,dst,bytes\n0,1,9223372036854775808\n"}),
    file("not_parquet", ("f.parquet", "Parquet"), {"type": "flow_table", "file": "f.parquet"},
         {"f.parquet": "src,dst,bytes\n0,1,100\n"}),
    file("jumps", ("r.csv", "flow 0"), {"type": "flow_table", "file": "f.csv", "routes": "r.csv"},
         {"f.csv": "src,dst,bytes,flow\n0,15,100,0\n", "r.csv": "flow,hop,node,peer\n0,0,16,19\n"},
         switch__forwarding={"type": "ns3::ExplicitRoutes"}),
    file("unmatched", ("t.goal:3", "recv"), {"type": "trace", "format": "goal", "file": "t.goal"},
         {"t.goal": "num_ranks 2\nrank 0 {\nl1: send 10b to 1\n}\nrank 1 {\n}\n"}),
    file("circle", ("t.goal", "circle"), {"type": "trace", "format": "goal", "file": "t.goal"},
         {"t.goal": "num_ranks 1\nrank 0 {\nl1: calc 10\nl2: calc 10\nl1 requires l2\n"
                    "l2 requires l1\n}\n"}),
    file("no_trace", ("t.0.et",), {"type": "trace", "format": "chakra", "file": "t.0.et"},
         {"t.0.et": b"\xff" * 100}),
    file("falling", ("s.txt", "50 50"),
         {"type": "poisson", "load": 0.1, "duration": "10 us", "sizes_file": "s.txt"},
         {"s.txt": "100 0\n50 50\n200 100\n"}),
    file("hpcc_short", ("f.txt", "3"), {"type": "hpcc_flows", "file": "f.txt"},
         {"f.txt": "3\n0 1 3 100 1000 2.0\n"}),
    change("half_a_network", ("t.txt",), topology={"type": "from_file", "file": "t.txt"})._replace(
        files={"t.txt": "4 1 4\n3\n0 3 100Gbps 1us 0\n1 3"}),
    change("who_left_early", ("h.csv", "ends_s"), jobs={
        "type": "first_fit", "file": "h.csv", "at_s": 5, "hosts": [8]})._replace(
        files={"h.csv": "arrives_s,ends_s,hosts\n3,1,4\n"}),
    file("fewer_than_no_layers", ("p.yaml", "model.layers", "-4"), TRAIN | {"preset": "p.yaml"},
         {"p.yaml": PRESET}),
]  # fmt: skip

COMMANDS = [
    command("set_nothing", ("--set", "stop", "="), "run", "small.yaml", "--set", "stop"),
    command("set_below_text", ("stop.x",), "run", "small.yaml", "--set", "stop.x=1"),
    command("set_beside", ("workload.5",), "run", "small.yaml", "--set", "workload.5.message=1 kB"),
    command("scale", ("huge", "smoke"), "run", "small.yaml", "--scale", "huge"),
    command("metric", ("speed", "slowdown"), "metrics", "speed", "small.yaml", "--out", "m.csv"),
    command("plugin_name", ("Bad Name!",), "new", "transport", "Bad Name!"),
    command("loss_of_two", ("loss", "2"), "theory", "fec", "--loss", "2"),
    command("inflated", ("pipeline", "fast"), "theory", "exposed", "--inflate", "pipeline=fast"),
    command("seven_hosts", ("hosts", "7"), "theory", "permutation", "--hosts", "7"),
    command("half", ("exposed", "500%"), "design", "dense-100t", "--exposed", "500%", "--no-fluid"),
    command("drawn_as_text", ("n.txt", ".png"), "topology", "small.yaml", "--draw", "n.txt"),
    command("no_script", ("small.yaml", "Python"), "simulate", "small.yaml"),
]  # fmt: skip

CALLS = [
    call("set_list", ("set",), "pyorch.run(base, set=['stop=1 ms'])"),
    call("no_cores", ("cores", "0"), "pyorch.sweep(base, cores=0)"),
    call("unprintable", ("stop",), "pyorch.run(base | {'stop': object()})"),
    call("number_as_key", ("scenario", "'1'"), "pyorch.run(base | {1: 2})"),
    call("load_none", ("None",), "pyorch.load(None)"),
    call("no_column", ("speed", "slowdown"), "one.metric('speed')"),
    call(
        "goal_of_bytes",
        ("x.goal",),
        "pyorch.training.goal.read(__import__('io').BytesIO(b'rank {'), 'x.goal')",
    ),
]

RETURNED = [
    Case("version_of_nobody", ("spec.json", "topology.leaves", "-4"),
         edit=("spec.json", "topology.leaves", "-4"), command=("render", "DONE/spec.json")),
    Case("quoted", ("spec.json", "name"), edit=("spec.json", "name", r'"x\"\nimport os\n#"'),
         command=("render", "DONE/spec.json")),
    Case("climbs", ("manifest.json", "damaged"),
         edit=("manifest.json", "files",
               '{"../../small.yaml": {"bytes": 1, "changed_ns": 1, "sha256": "%s"}}' % ("0" * 64)),
         command=("show", "DONE")),
    Case("no_table", ("flows.parquet",), edit=("flows.parquet", "src,dst\n"),
         command=("plot", "fct", "DONE", "--out", "x.png")),
    Case("listed", ("provenance.json",), edit=("provenance.json", "[]"), command=("show", "DONE")),
]  # fmt: skip

CASES = [*TYPES, *FILES, *COMMANDS, *CALLS, *RETURNED]
