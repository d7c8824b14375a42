# SPDX-License-Identifier: GPL-2.0-only
"""The readers under test, by name: what must hold, files to begin with, words of the format."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import flows
import graphs
import networks
import presets
import valid
import valid_graphs

import scenarios
from pyorch.topology import containerlab, infragraph, sonic
from pyorch.workload import htsim_cm


class Target(NamedTuple):
    """A reader under test.

    Attributes
    ----------
    check : callable
        Bytes and a folder to True if they were read, False if they were refused; raises if the
        reader is wrong.
    draw : callable
        ``random.Random`` to a valid file.
    words : str
        Words of the format.
    """

    check: Callable[[bytes, Path], bool]
    draw: Callable[[Random], bytes]
    words: str = ""


OF_CM = " ".join((*htsim_cm.HEADER, *htsim_cm.WORDS, "oneshot barrier multishot count 0->1 #"))
OF_TOPO = (
    "Nodes Tiers Podsize Tier Downlink_speed_Gbps Radix_Down Radix_Up Downlink_Latency_ns"
    " Switch_Latency_ns Bundle Oversubscribed Queue_Down"
)
OF_SCENARIO = (
    "topology link switch workload transport stop sweep variants cases exclude scales seed failures"
    " trace wire loss processing_delay cut_through convergence queue forwarding flow_control none"
    " type fat_tree dumbbell tiers radix planes parallel incast poisson load duration sizes"
    " websearch ns3::Pfc attributes ns3::SprayTransport ns3::PermutedEntropy[Paths=4] label name"
    " null ~ .nan .inf !!binary !!int !!set !!python/name:os.system {} [] [[]] sample pauses nodes"
    " bit_error_ratio"
)
OF_PRESET = (
    "kind training inference site smallest FP4 FP64 [FP8] {} [] null ~ .nan .inf true off !!int"
    " 1e999 -1 GUSD kW PFLOPS GB ms Gb/s mini_batches micro_batch layers_per_stage feed_forward"
)
OF_GOAL = (
    "num_ranks rank { } a: b: send recv calc to from tag cpu nic requires irequires // /* */ 9b"
)
OF_INFRAGRAPH = (
    "devices instances links edges host[0] host[-1] leaf[0:2] port[::2] nic[9] many2many one2one"
    " ring ns gigabits_per_second gigatransfers_per_second null ~ [] {} .nan &a *a"
)
OF_CONTAINERLAB = (
    "topology nodes links endpoints kind linux defaults groups type host mgmt-net macvlan veth node"
    " interface leaf0:e1 : [] {} null ~ &a *a"
)
OF_IBNETDISCOVER = (
    'Switch Ca "S-0002c903" "H-0002c903" [1] [1](2c90) # lid 4xHDR 12xXDR 3xFDR vendid=0x2c9 Rt'
    " Chassis ibwarn:"
)
OF_NCCL_XML = (
    '<system> </system> <gpu <nvlink <pci> count="5" tclass="0x068000" tclass="0x030200" rank="0"'
    ' sm="90" <!DOCTYPE <!ENTITY &a; <![CDATA[ -1 9999999999'
)
OF_NCCL_LOG = (
    "AllReduce: Send: Recv: opCount count datatype root comm 0x10 0x11 [nranks=2] [nranks=4] stream"
    " task globalrank acc (nil) - Init COMPLETE parent commId color nranks rank cudaDev n9:100:200"
    " [0] NCCL INFO"
)
TARGETS = {
    "htsim_cm": Target(flows.check_htsim_cm, valid.htsim_cm, OF_CM),
    "hpcc_flows": Target(flows.check_hpcc_flows, valid.hpcc_flows),
    "flow_table": Target(flows.check_flow_table, valid.flow_table, "src dst bytes start_ps flow"),
    "parquet": Target(flows.check_parquet, valid.parquet),
    "size_cdf": Target(flows.check_size_cdf, valid.size_cdf),
    "node_table": Target(networks.check_node_table, valid.node_table, "node is_switch tier plane"),
    "link_table": Target(
        networks.check_link_table, valid.link_table, "node_a node_b rate_bps delay_ps parallel"
    ),
    "hpcc_topology": Target(
        networks.check_hpcc_topology, valid.hpcc_topology, "bps Gbps Kbps b/s 1us 0.5ms"
    ),
    "htsim_topo": Target(networks.check_htsim_topo, valid.htsim_topo, OF_TOPO),
    "goal": Target(graphs.check_goal, valid_graphs.goal, OF_GOAL),
    "nccl_log": Target(graphs.check_nccl_log, valid_graphs.nccl_log, OF_NCCL_LOG),
    "chakra": Target(graphs.check_chakra, valid_graphs.chakra),
    "infragraph": Target(
        partial(graphs.check_network, infragraph), valid_graphs.infragraph, OF_INFRAGRAPH
    ),
    "infragraph_devices": Target(
        partial(graphs.check_network, infragraph, scale_up={"links": ["nvlink"]}),
        valid_graphs.infragraph,
        OF_INFRAGRAPH + " xpu nvlink pcie device switch",
    ),
    "sonic": Target(
        partial(graphs.check_network, sonic, hosts=["tester"]),
        valid_graphs.sonic,
        'StartDevice EndPort BandWidth tester spine Ethernet0 , " 400000 -1 0 #',
    ),
    "containerlab": Target(
        partial(graphs.check_network, containerlab), valid_graphs.containerlab, OF_CONTAINERLAB
    ),
    "ibnetdiscover": Target(
        graphs.check_ibnetdiscover, valid_graphs.ibnetdiscover, OF_IBNETDISCOVER
    ),
    "nccl_xml": Target(graphs.check_nccl_xml, valid_graphs.nccl_xml, OF_NCCL_XML),
    "preset": Target(presets.check_preset, valid.preset, OF_PRESET),
    "scenario": Target(scenarios.check_scenario, valid.scenario, OF_SCENARIO),
}
