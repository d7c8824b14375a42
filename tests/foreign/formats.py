# SPDX-License-Identifier: GPL-2.0-only
"""Every file that a scenario may name, found in the code, with a small example of each."""

import json
import struct
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import test_msccl
import test_mscclpp
import test_nccl_graph
import test_nccl_profiler
import yaml
from pydantic import BaseModel

from pyorch import plugins, spec
from pyorch.render.tables import input_tables
from pyorch.runs.remarks import remarks
from pyorch.spec.fields import FOUND
from pyorch.spec.files import InputFile, StreamedFile
from pyorch.topology import from_file
from pyorch.training._protobuf import encoded, framed

TESTS = Path(__file__).parents[1]
_SETTLES = [typing.get_args(one)[1] for one in (InputFile, StreamedFile)]
#: Two files are read by format, not by key.
_BY_FORMAT = {"topology.from_file.file": ("hpcc", "htsim"), "workload.trace.file": None}


def slots() -> Iterator[str]:
    """Yield every place of a scenario where a file is named, and the formats it may have there."""
    for kind in sorted(plugins.KINDS):
        for name in plugins.names(f"pyorch.{kind}"):
            params = getattr(plugins.load(f"pyorch.{kind}", name), "Params", None)
            for key in dict.fromkeys(_files_of(params) if params else ()):
                slot = f"{kind}.{name}.{key}"
                if slot not in _BY_FORMAT:
                    yield slot
    yield from (f"trace_format.{name}" for name in plugins.names("pyorch.trace_format"))
    of_file = typing.get_args(from_file.Params.model_fields["format"].annotation)
    yield from (f"topology.from_file.{name}" for name in of_file if name != "tables")


def _files_of(model: type[BaseModel], path: str = "") -> Iterator[str]:
    """Yield the keys of a model that name files, those of models in it too."""
    for name, field in model.model_fields.items():
        if field.json_schema_extra is not FOUND:  # pyorch finds these beside another
            yield from _walk(field.annotation, field.metadata, f"{path}{name}")


def _walk(kind: Any, metadata: typing.Sequence[Any], path: str) -> Iterator[str]:
    if any(one in metadata for one in _SETTLES):
        yield path
    elif typing.get_origin(kind) is typing.Annotated:
        inner, *more = typing.get_args(kind)
        yield from _walk(inner, more, path)
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from _files_of(kind, f"{path}.")
    else:
        for inner in typing.get_args(kind):
            yield from _walk(inner, (), path)


class Example(NamedTuple):
    """A file of a format.

    Attributes
    ----------
    slot : str
        Where a scenario names it.
    kind : str
        What it is made of: ``xml``, ``json``, ``yaml``, ``csv``, ``lines``, ``events``,
        ``protobuf``, ``binary``.
    data : bytes
        What is in it; the scenario calls it ``FILE``.
    scenario : dict
        Sections of the scenario.
    beside : dict
        Other files that the scenario needs.
    """

    slot: str
    kind: str
    data: bytes
    scenario: dict[str, Any]
    beside: dict[str, bytes] = {}

    def read(self, folder: Path, data: bytes | None = None) -> list[str]:
        """Plan the scenario with these bytes, make its tables, and return its remarks."""
        for name, its in {**self.beside, self.name: self.data if data is None else data}.items():
            (folder / name).write_bytes(its)
        text = yaml.safe_dump(_SCENARIO | self.scenario).replace("FILE", self.name)
        (folder / "x.yaml").write_text(text)
        scenario = spec.read_scenario(folder / "x.yaml")
        runs = spec.plan(scenario, typeids_file=TESTS / "data" / "typeids.json")
        input_tables(runs[0].spec)
        return remarks(runs)

    @property
    def name(self) -> str:
        """The name of the file."""
        ending = {"trace_format.chakra": "0.et"}.get(self.slot, self.kind)
        return f"theirs.{ending}"


_SCENARIO = {
    "name": "foreign", "topology": {"type": "star", "hosts": 8},
    "link": {"rate": "800 Gb/s", "delay": "500 ns"}, "switch": {"buffer": "8 MB"},
    "workload": {"type": "permutation", "message": "10 kB", "inter_leaf": False},
    "transport": {"type": "ns3::RoceTransport"}, "stop": "20 ms",
}  # fmt: skip


def _topology(kind: str, **more: Any) -> dict[str, Any]:
    scenario: dict[str, Any] = {"topology": {"type": kind, "file": "FILE"} | more}
    if kind in ("astra_sim", "from_file"):
        scenario["link"] = {}
    return scenario


def _trace(kind: str, **more: Any) -> dict[str, Any]:
    return {"workload": {"type": "trace", "format": kind, "file": "FILE"} | more}


def _collective(kind: str, operation: str, chunks: int, ranks: int) -> dict[str, Any]:
    algorithm = {"type": kind, "file": "FILE"}
    return {"workload": {"type": "collective", "algorithm": algorithm, "operation": operation,
                         "bytes": f"{chunks * 1000} B", "ranks": ranks}}  # fmt: skip


def _quantity(unit: str, value: float) -> dict[str, Any]:
    return {"choice": unit, unit: value}


INFRAGRAPH = {
    "name": "two", "devices": [
        {"name": "h", "components": [{"name": "x", "choice": "xpu", "count": 2},
                                     {"name": "n", "choice": "nic", "count": 1}],
         "links": [{"name": name, "physical": {"bandwidth": _quantity("gigabits_per_second", 256),
                                               "latency": _quantity("ns", 100)}}
                   for name in ("pcie", "nvlink")],
         "edges": [{"ep1": {"component": "x"}, "ep2": {"component": "x"}, "link": "nvlink",
                    "scheme": "many2many"},
                   {"ep1": {"component": "x"}, "ep2": {"component": "n"}, "link": "pcie",
                    "scheme": "many2many"}]},
        {"name": "s", "components": [{"name": "p", "choice": "port", "count": 2}]}],
    "instances": [{"name": "a", "device": "h", "count": 2},
                  {"name": "b", "device": "s", "count": 1}],
    "links": [{"name": "l", "physical": {"bandwidth": _quantity("gigabits_per_second", 100)}}],
    "edges": [{"ep1": {"instance": "a", "component": "n"}, "link": "l", "scheme": "one2one",
               "ep2": {"instance": "b", "component": "p"}}],
}  # fmt: skip
CONTAINERLAB = {
    "name": "lab", "topology": {
        "kinds": {"linux": {"image": "x"}}, "defaults": {"kind": "linux"},
        "groups": {"g": {"kind": "linux"}},
        "nodes": {"a": {"kind": "linux"}, "b": {"group": "g"}, "s": {"kind": "srl"}},
        "links": [{"endpoints": ["a:1", "s:1"]},
                  {"type": "veth", "endpoints": [{"node": "b", "interface": "1"},
                                                 {"node": "s", "interface": "2"}]}]},
}  # fmt: skip
GPU = (
    '<pci busid="{0}"><gpu dev="{0}" sm="90" rank="{0}"><nvlink target="x" count="18"'
    ' tclass="0x068000"/></gpu><nic><net name="m" dev="{0}"/></nic></pci>'
)
LINKS = b"StartDevice,StartPort,EndDevice,EndPort,BandWidth\ns,1,t,1,100000\ns,2,t,2,100000\n"
HTSIM = (
    b"Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
    b"Downlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1\n"
)
IB = (
    b'vendid=0x2c9\ndevid=0x1\nSwitch 2 "S-1" # "s"\n[1] "H-1"[1] # "a" 4xHDR\n'
    b'[2] "H-2"[1] # "b" 4xHDR\n\nCa 1 "H-1" # "a"\n[1](1a) "S-1"[1] # "s" 4xHDR\n'
    b'\nCa 1 "H-2" # "b"\n[1](1b) "S-1"[2] # "s" 4xHDR\n'
)
GOAL = (
    b"num_ranks 2\nrank 0 {\na: calc 100\nb: send 1024b to 1 tag 7\nb requires a\n}\n"
    b"rank 1 {\nr: recv 1024b from 0 tag 7\nc: calc 50 cpu 1\nc irequires r\n}\n"
)
SIMAI = (
    b"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1"
    b" all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0\n1\n"
    b"layer -1 100 ALLREDUCE 65536 100 ALLREDUCE 65536 100 ALLREDUCE 65536 10\n"
)
NCCL = "".join(
    f"n0:{rank}:{rank} [{rank}] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks 2 cudaDev"
    f" {rank} nvmlDev {rank} busId 1000 commId 0xab - Init COMPLETE\n"
    f"n0:{rank}:{rank} [{rank}] NCCL INFO AllReduce: opCount 0 sendbuff (nil) recvbuff 0x7f count"
    f" 1000 datatype 0 op 0 root 0 comm 0x1 [nranks=2] stream 0x5\n"
    for rank in (0, 1)
).encode()
EVENTS = "".join(
    test_nccl_profiler.file(
        test_nccl_profiler.group(rank, test_nccl_profiler.coll(rank, "AllReduce", 1000))
    )
    for rank in (0, 1)
).encode()


def _goal_binary() -> bytes:
    """Return a computation and a send behind it, a recv and a computation behind it."""

    def schedule(*nodes: tuple[int, ...]) -> bytes:
        rows = [struct.pack("<IBIQIBBIIII", *node) for node in nodes]
        return struct.pack("<III", len(nodes), 1, 0) + b"".join(rows) + struct.pack("<I", 1)

    ranks = [
        schedule((0, 3, 0, 100, 0, 0, 0, 1, 0, 0, 1), (1, 1, 1, 1024, 7, 0, 0, 0, 1, 0, 1)),
        schedule((0, 2, 0, 1024, 7, 0, 0, 1, 0, 0, 1), (1, 3, 0, 50, 0, 1, 0, 0, 1, 0, 1)),
    ]
    at, jumps = 6 + 16 * len(ranks), b""
    for one in ranks:
        jumps += struct.pack("<QQ", at, at + len(one))
        at += len(one)
    return struct.pack("<QIBB", 4223, len(ranks), 2, 1) + jumps + b"".join(ranks)


def chakra(rank: int) -> list[bytes]:
    """Return the messages of a file: metadata, a computation, a message, an all-reduce."""
    attributes = {
        "is_cpu_op": (27, 0), "comm_size": (13, 4000), "comm_tag": (7, 0), "comm_type": (7, 0),
        "comm_dst": (7, 1), "comm_src": (7, 0),
    }  # fmt: skip

    def node(index: int, kind: int, after: list[int], *names: str) -> bytes:
        its = [(10, encoded([(1, name), attributes[name]], zeros=True)) for name in names]
        duration = [(7, 5)] if kind == 4 else []
        return encoded([(1, index), (2, "x"), (3, kind), (5, after), *duration, *its])

    end = ("comm_dst", "comm_src")[rank]
    return [
        encoded([(1, "0.0.4")]), node(1, 4, [], "is_cpu_op"),
        node(2, 5 + rank, [1], "is_cpu_op", "comm_size", "comm_tag", end),
        node(3, 7, [2], "is_cpu_op", "comm_size", "comm_type"),
    ]  # fmt: skip


#: For systems and communicators: a trace with an all-reduce in a communicator.
def _named() -> dict[str, bytes]:
    found = {}
    for rank in (0, 1):
        messages = chakra(rank)
        messages[3] += encoded([(10, encoded([(1, "pg_name"), (29, "g")]))])
        found[f"step.{rank}.et"] = framed(messages)
    return found


_STEP = {"type": "trace", "format": "chakra", "file": "step.0.et"}
_SERVING = {
    "type": "serving", "preset": "mixtral-8x7b", "memory_rate": "64 Tb/s",
    "prefill": {"instances": 1, "experts": 2}, "decode": {"instances": 1, "experts": 2},
    "divide": 1000, "requests": {"number": 2, "rate_per_s": 1000, "prompt_tokens": 8,
                                 "answer_tokens": 2},
}  # fmt: skip
_FLOWS = {"type": "flow_table", "file": "flows.csv"}
_FLOWS_CSV = {"flows.csv": b"src,dst,bytes,start_ps\n0,1,1000,0\n"}
_ROUTED = {"switch": {"buffer": "8 MB", "forwarding": {"type": "ns3::ExplicitRoutes"}}}
_ROUTES = b"flow,hop,node,peer\n0,0,0,8\n0,1,8,1\n"

EXAMPLES = [
    Example("allocation.first_fit.file", "csv", b"arrives_s,ends_s,hosts\n0,10,2\n", {
        "jobs": {"type": "first_fit", "file": "FILE", "at_s": 5, "hosts": [4]},
        "workload": {"type": "permutation", "message": "10 kB", "inter_leaf": False}}),
    Example("collective.msccl.file", "xml", test_msccl.ring_of(2).encode(),
            _collective("msccl", "all_reduce", 2, 2)),
    Example("collective.mscclpp.file", "json", json.dumps(test_mscclpp.gather()).encode(),
            _collective("mscclpp", "all_gather", 2, 2)),
    Example("topology.astra_sim.file", "yaml", b"topology: [Switch]\nnpus_count: [4]\n"
            b"bandwidth: [50.0]\nlatency: [500.0]\n", _topology("astra_sim")),
    Example("topology.containerlab.file", "yaml", yaml.safe_dump(CONTAINERLAB).encode(),
            _topology("containerlab")),
    Example("topology.from_file.hpcc", "lines", b"3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n",
            _topology("from_file", format="hpcc")),
    Example("topology.from_file.hpcc", "lines", b"4 2 1 1 4 H100\n2 3\n0 2 100Gbps 1us 0\n"
            b"1 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n", _topology("from_file")),
    Example("topology.from_file.htsim", "lines", HTSIM, _topology("from_file", format="htsim")),
    Example("topology.from_file.nodes", "csv", b"node,is_switch\n0,0\n1,0\n2,1\n",
            {"topology": {"type": "from_file", "nodes": "FILE", "links": "links.csv"}, "link": {}},
            {"links.csv": b"node_a,node_b,rate_bps,delay_ps\n0,2,1000000000,1000\n"
             b"1,2,1000000000,1000\n"}),
    Example("topology.from_file.links", "csv", b"node_a,node_b,rate_bps,delay_ps\n"
            b"0,2,1000000000,1000\n1,2,1000000000,1000\n",
            {"topology": {"type": "from_file", "nodes": "nodes.csv", "links": "FILE"}, "link": {}},
            {"nodes.csv": b"node,is_switch\n0,0\n1,0\n2,1\n"}),
    Example("topology.ibnetdiscover.file", "lines", IB, _topology("ibnetdiscover")),
    Example("topology.infragraph.file", "json", json.dumps(INFRAGRAPH).encode(),
            _topology("infragraph")),
    Example("topology.infragraph.file", "yaml", yaml.safe_dump(INFRAGRAPH).encode(),
            _topology("infragraph", scale_up={"links": ["nvlink"]})),
    Example("topology.nccl_xml.file", "xml", f'<system version="1"><cpu numaid="0">{GPU.format(0)}'
            f"{GPU.format(1)}</cpu></system>".encode(), _topology("nccl_xml")),
    Example("topology.sonic.file", "csv", LINKS, _topology("sonic", hosts=["t"])),
    Example("topology.sonic.devices", "csv", b"Hostname,Type,HwSku\ns,Switch,x\nt,Server,y\n",
            {"topology": {"type": "sonic", "file": "links.csv", "devices": "FILE"}},
            {"links.csv": LINKS}),
    Example("trace_format.chakra", "protobuf", framed(chakra(0)), _trace("chakra"),
            {"theirs.1.et": framed(chakra(1))}),
    Example("trace_format.goal", "lines", GOAL, _trace("goal")),
    Example("trace_format.goal", "binary", _goal_binary(), _trace("goal")),
    Example("trace_format.nccl_log", "lines", NCCL, _trace("nccl_log")),
    Example("trace_format.nccl_profiler", "events", EVENTS, _trace("nccl_profiler")),
    Example("trace_format.simai", "lines", SIMAI, _trace("simai")),
    Example("workload.flow_table.file", "csv", b"src,dst,bytes,start_ps\n0,1,1000,0\n",
            {"workload": {"type": "flow_table", "file": "FILE"}}),
    Example("workload.flow_table.routes", "csv", _ROUTES,
            _ROUTED | {"workload": {**_FLOWS, "routes": "FILE"}}, _FLOWS_CSV),
    Example("workload.hpcc_flows.file", "lines", b"2\n0 1 3 100 1000 0\n1 2 3 100 1000 0.001\n",
            {"workload": {"type": "hpcc_flows", "file": "FILE"}}),
    Example("workload.htsim_cm.file", "lines", b"Nodes 4\nConnections 2\nTriggers 1\n"
            b"0->1 id 1 start 0 size 1000 send_done_trigger 1\n0->2 id 2 trigger 1 size 1000\n"
            b"trigger id 1 oneshot\n", {"workload": {"type": "htsim_cm", "file": "FILE"}}),
    Example("workload.htsim_cm.routes", "csv", _ROUTES.replace(b"\n0,", b"\n1,"),
            _ROUTED | {"workload": {"type": "htsim_cm", "file": "flows.cm", "routes": "FILE"}},
            {"flows.cm": b"Nodes 4\nConnections 1\n0->1 id 1 start 0 size 1000\n"}),
    Example("workload.nccl.graph", "xml", test_nccl_graph.text().encode(),
            {"workload": {"type": "nccl", "operation": "all_reduce", "bytes": "1 MiB", "ranks": 4,
                          "local": 4, "protocol": "simple", "algorithm": "ring",
                          "graph": "FILE"}}),
    Example("workload.poisson.sizes_file", "lines", b"0 0\n1000 50\n2000 100\n",
            {"workload": {"type": "poisson", "load": 0.1, "duration": "1 us",
                          "sizes_file": "FILE"}}),
    Example("workload.serving.requests.file", "csv",
            b"arrival_s,prompt_tokens,answer_tokens\n0,8,2\n0.001,8,2\n",
            {"workload": {**_SERVING, "requests": {"file": "FILE"}}}),
    Example("workload.serving.routing.file", "csv", "".join(
            ["expert,share\n", *(f"{expert},0.125\n" for expert in range(8))]).encode(),
            {"workload": {**_SERVING, "routing": {"file": "FILE"}}}),
    Example("workload.trace.communicators", "json", b'{"g": [0, 1]}',
            {"workload": {**_STEP, "communicators": "FILE"}}, _named()),
    Example("workload.trace.system", "json", b'{"endpoint-delay": 10,'
            b' "all-reduce-implementation": ["ring"], "scheduling-policy": "LIFO"}',
            {"workload": {**_STEP, "communicators": "groups.json", "system": "FILE"}},
            {**_named(), "groups.json": b'{"g": [0, 1]}'}),
]  # fmt: skip
