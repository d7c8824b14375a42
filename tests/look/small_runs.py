# SPDX-License-Identifier: GPL-2.0-only
"""Scenarios whose bottlenecks are known, and how a test makes a run of a text."""

import pyorch

#: Four senders below two leaves to one host: the last link is the bottleneck, and PFC holds back
#: what leads there.
INCAST = """
name: incast
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 4, spines: 2}
link:
  rate: 100 Gb/s
  delay: 500 ns
  flow_control: {type: ns3::Pfc, attributes: {XoffBytes: 50 kB}}
switch: {buffer: 64 MB}
workload: {type: incast, senders: 12, message: 400 kB}
transport: {type: ns3::RoceTransport}
trace: {sample: 2 us, pauses: true}
stop: 20 ms
"""
#: Two hosts whose only way to each other is a link at a tenth of the rate, and two beside them.
SLOW = """
name: slow
topology: {type: dumbbell, left: 2, right: 2, bottleneck_rate: 10 Gb/s}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 64 MB}
workload: {type: permutation, message: 100 kB, inter_leaf: true}
transport: {type: ns3::RoceTransport, attributes: {WindowBytes: 50 kB}}
trace: {sample: 1 us, arrivals: true}
stop: 20 ms
"""
SPRAYED = """
name: sprayed
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 4}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 64 MB}
workload: {type: permutation, message: 100 kB, inter_leaf: true}
transport: {type: ns3::SprayTransport}
trace: {sample: 1 us}
stop: 20 ms
"""


def maker(folder):
    """Return a function that runs a scenario, given as text and values by key, in a folder."""

    def make(text, **values):
        file = folder / f"{text.split()[1]}.yaml"
        file.write_text(text)
        return pyorch.run(file, results=folder / "results", set=values)

    return make
