# SPDX-License-Identifier: GPL-2.0-only
"""Networks from files: equal to what they describe, and refused with file, line and reason."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import render, spec
from pyorch.errors import SpecError
from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Link
from pyorch.spec.scenario import parse_scenario
from pyorch.topology import fat_tree, from_file, leaf_spine

LINK = Link(rate_bps=10**11, delay_ps=10**6)
DATA = Path(__file__).parents[1] / "data"
HPCC = """\
5 2 5
3 4
0 3 100Gbps 0.001ms 0
1 3 100Gbps 1us 0.25
2 4 25000000000bps 1us 0
3 4 400Gbps 5ns 0
3 4 400Gbps 5ns 0
"""


def read(folder, link=LINK, **given_):
    params = from_file.Params.model_validate(given_, context={"folder": folder})
    return from_file.tables(params, link), from_file.counts(params)


def columns(tables, *names):
    return [tables[name].tolist() for name in names]


def test_an_hpcc_topology_by_hand(tmp_path):
    (tmp_path / "topology.txt").write_text(HPCC)
    tables, counts = read(tmp_path, file="topology.txt")

    assert columns(tables["nodes"], "node", "is_switch", "tier", "plane") == [
        [0, 1, 2, 3, 4], [0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0] * 5
    ]  # fmt: skip
    assert columns(tables["links"], "node_a", "node_b", "parallel") == [
        [0, 1, 2, 3, 3], [3, 3, 4, 4, 4], [0, 0, 0, 0, 1]
    ]  # fmt: skip
    assert tables["links"]["rate_bps"].tolist() == [10**11] * 2 + [25 * 10**9] + [4 * 10**11] * 2
    assert tables["links"]["delay_ps"].tolist() == [10**6] * 3 + [5000] * 2
    assert tables["links"]["loss_ratio"].tolist() == [0, 0.25, 0, 0, 0]
    assert counts == {
        "hosts": 3, "hosts_per_leaf": 2, "switches": 2, "top_switches": 2, "ports": 7,
        "access_links": 3, "fabric_links": 2, "cables": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "module", "numbers"),
    [
        ("ls128_100", leaf_spine, {"leaves": 16, "hosts_per_leaf": 8, "spines": 8}),
        ("ft128_100", fat_tree, {"tiers": 3, "radix": 8}),
    ],
)
def test_an_htsim_topology_is_the_fabric_that_it_describes(name, module, numbers):
    got, counts = read(DATA / "htsim", file=f"{name}.topo")
    params = module.Params.model_validate(numbers, context={"link": LINK})
    expected = module.tables(params, LINK)

    for table in ("nodes", "links"):
        order = [np.lexsort(list(t[table].values())[:3]) for t in (got, expected)]
        for column in expected[table]:
            assert (got[table][column][order[0]] == expected[table][column][order[1]]).all()
    assert counts["hosts"] == 128
    assert {k: v for k, v in module.counts(params).items() if k in counts} == counts


@settings(max_examples=25)
@given(tiers=st.integers(2, 3), radix=st.sampled_from([2, 4, 8]), suffix=st.sampled_from(
    ["csv", "parquet"]), planes=st.integers(1, 3))  # fmt: skip
def test_our_tables_come_back_and_tiers_and_planes_are_found(tmp_path_factory, tiers, radix,
                                                             suffix, planes):  # fmt: skip
    folder = tmp_path_factory.mktemp("tables")
    params = fat_tree.Params.model_validate(
        {"tiers": tiers, "radix": radix, "planes": planes}, context={"link": LINK}
    )
    tables = fat_tree.tables(params, LINK)
    for table, kept in (("nodes", ["node", "is_switch"]), ("links", list(tables["links"]))):
        frame = pd.DataFrame({name: tables[table][name] for name in kept})
        write = frame.to_csv if suffix == "csv" else frame.to_parquet
        write(folder / f"{table}.{suffix}", index=False)

    got, counts = read(folder, nodes=f"nodes.{suffix}", links=f"links.{suffix}")

    for table in ("nodes", "links"):
        assert set(got[table]) == set(tables[table])
        for column in tables[table]:
            assert (got[table][column] == tables[table][column]).all(), column
    closed = fat_tree.counts(params)
    assert counts == {name: closed[name] for name in counts}


LEFT_OUT = """\
name: small
topology: {type: from_file, file: topology.txt}
workload: {type: single, message: 1 kB, target: 2}
switch: {buffer: 8 MB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""


@pytest.mark.parametrize(
    ("link", "expected"),
    [("", (4 * 10**11, 10**6)), ("link: {loss: 0.1}", (4 * 10**11, 10**6)),
     ("link: {delay: 7 us}", (4 * 10**11, 7 * 10**6)),
     ("link: {rate: 1 Gb/s, delay: 7 us}", (10**9, 7 * 10**6))],
)  # fmt: skip
def test_what_the_file_says_need_not_be_said_of_links(tmp_path, link, expected):
    # The fastest link has 400 Gb/s, the longest 1 us; what is written is kept, and changes no link.
    (tmp_path / "topology.txt").write_text(HPCC)
    scenario = parse_scenario(LEFT_OUT + link, str(tmp_path / "s.yaml"))
    (run,) = spec.plan(scenario, typeids_file=DATA / "typeids.json")

    assert (run.spec.link.rate_bps, run.spec.link.delay_ps) == expected
    rates = render.input_tables(run.spec)["links"]["rate_bps"]
    assert set(rates) == {10**11, 25 * 10**9, 4 * 10**11}
    text = LEFT_OUT.replace("from_file, file: topology.txt", "dumbbell, left: 2, right: 2") + link
    if "rate" not in link:
        with pytest.raises(SpecError, match="this key is missing"):
            spec.plan(parse_scenario(text, "s.yaml"), typeids_file=DATA / "typeids.json")


TOPO = (DATA / "htsim" / "ls128_100.topo").read_text()


HUGE_TOPO = """\
Nodes 16000000\nTiers 2\nPodsize 16000000
Tier 0\nDownlink_speed_Gbps 1\nDownlink_Latency_ns 1\nRadix_Up 4000\nRadix_Down 4000
Tier 1\nDownlink_speed_Gbps 1\nDownlink_Latency_ns 1\nRadix_Down 4000
"""


#: Two servers of two GPUs, an NVSwitch in each, two leaves and a spine.
SIMAI = """\
9 2 2 3 10 H100
4 5 6 7 8
0 4 2880Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 4 2880Gbps 0.000025ms 0
1 7 400Gbps 0.0005ms 0
2 5 2880Gbps 0.000025ms 0
2 6 400Gbps 0.0005ms 0
3 5 2880Gbps 0.000025ms 0
3 7 400Gbps 0.0005ms 0
6 8 800Gbps 0.0005ms 0
7 8 800Gbps 0.0005ms 0
"""


def test_a_simai_topology_keeps_what_joins_the_gpus_of_a_server(tmp_path):
    (tmp_path / "Spectrum-X_4g_2gps").write_text(SIMAI)
    tables, counts = read(tmp_path, file="Spectrum-X_4g_2gps")
    params = from_file.Params.model_validate(
        {"file": "Spectrum-X_4g_2gps"}, context={"folder": tmp_path}
    )

    assert columns(tables["nodes"], "is_switch", "tier", "plane") == [
        [0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 3, 3, 1, 1, 2], [0, 0, 0, 0, 1, 1, 0, 0, 0]
    ]  # fmt: skip
    assert tables["links"]["rate_bps"].tolist()[:2] == [2880 * 10**9, 400 * 10**9]
    assert tables["links"]["delay_ps"].tolist()[:2] == [25_000, 500_000]
    assert counts["hosts"] == 4 and counts["switches"] == 5
    ends = np.array([[0, 1], [0, 2], [2, 3], [3, 0]]).T
    assert from_file.reach(params, *ends).tolist() == [0, 1, 0, 1]
    names = from_file.networks(params, LINK)
    assert names[4:] == ["scale_up", "scale_up", "plane 0", "plane 0", "plane 0"]
    assert from_file.remarks(params) == ()


def test_nvswitches_are_planes_of_the_servers_that_they_join(tmp_path):
    # Two NVSwitches in each server, 4 and 7, 5 and 6: not server by server.
    two = ["0", "4", "1", "4", "2", "5", "3", "5", "2", "6", "3", "6", "0", "7", "1", "7"]
    links = [f"{a} {b} 1Tbps 25ns 0" for a, b in zip(two[::2], two[1::2], strict=True)]
    links += [f"{gpu} 8 400Gbps 500ns 0" for gpu in range(4)]
    (tmp_path / "t.txt").write_text("\n".join(["9 2 4 1 12 H100", "4 5 6 7 8", *links, ""]))
    tables, _ = read(tmp_path, file="t.txt")
    params = from_file.Params.model_validate({"file": "t.txt"}, context={"folder": tmp_path})

    assert tables["nodes"]["plane"].tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 0]
    (said,) = from_file.remarks(params)
    assert "t.txt: switch 8 joins several GPUs of a server, as near as their NVSwitch" in said


def test_what_a_topology_of_htsim_says_of_queues_is_not_used_and_said(tmp_path):
    (tmp_path / "t.topo").write_text(TOPO + "Queue_Down 100\n")
    params = from_file.Params.model_validate({"file": "t.topo"}, context={"folder": tmp_path})
    (said,) = from_file.remarks(params)
    assert said.endswith("t.topo: not used: Queue_Down. Queues are those of switch.")


def test_lines_behind_the_last_link_are_left_as_by_hpcc_and_said(tmp_path):
    # simulation/mix/topology.txt of HPCC: line 1 counts 65 links, 189 more and a legend follow.
    (tmp_path / "t.txt").write_text(HPCC + "9 9 1Gbps 1us 0\nFirst line: total node #\n")
    tables, _ = read(tmp_path, file="t.txt")
    params = from_file.Params.model_validate({"file": "t.txt"}, context={"folder": tmp_path})

    assert len(tables["links"]["node_a"]) == 5
    (said,) = from_file.remarks(params)
    assert said.endswith(
        "t.txt: line 1 says 5 links; 2 lines behind them are not read, as in HPCC's own program."
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.txt", "", "is no HPCC topology"),
        ("t.txt", SIMAI.replace("9 2 2 3 10", "9 0 2 3 10"), ":1: '9 0 2 3 10 H100': a server has"),
        ("t.txt", SIMAI.replace("9 2 2 3 10", "9 2 -2 7 10"), ":1: .*nothing is there less than 0"),
        ("t.txt", SIMAI.replace("3 5 2880", "3 4 2880"), "t.txt: NVSwitch 4 joins 3 nodes, which"
         " are not the 2 GPUs of a server. Link it to all of one."),
        ("t.txt", SIMAI.replace("3 5 2880", "3 6 2880"), "NVSwitch 5 joins 1 nodes, which are not"),
        ("t.txt", SIMAI.replace("3 5 2880", "7 5 2880"), "NVSwitch 5 joins 2 nodes, which are not"),
        ("t.txt", SIMAI.replace("2 5 2880", "0 5 2880").replace("3 5 2880", "1 5 2880"),
         "t.txt: a server has 0 NVSwitches and another 2. All have as many."),
        ("t.txt", "2 1 -1\n1\n0 1 1Gbps 1us 0\n", ":1: '2 1 -1': .* less than 0 times"),
        ("t.txt", SIMAI.replace("9 2 2 3 10", "9 3 2 3 10"), "4 GPUs are not servers of 3, as"),
        ("t.txt", SIMAI.replace("9 2 2 3 10", "9 2 x 3 10"), ":1: .*write whole numbers only"),
        ("t.txt", SIMAI.replace("9 2 2 3 10", "9 2 2 4 10"), ":2: 5 ids of switches, but line 1"),
        ("t.txt", HPCC.rpartition("3 4 400")[0], "4 links, but line 1 says 5. Is the file cut off"),
        ("t.txt", HPCC.replace("100Gbps 1us", "100 1us"), ":4: '1 3 100 1us 0.25' is no link"),
        ("t.txt", HPCC.replace("0 3 ", "0 9 "), ":3: .*there is no node 9; ids are 0 to 4"),
        ("t.txt", HPCC.replace("0 3 ", "0 1 "), "link 1 .0 to 1.: both are hosts"),
        ("t.txt", HPCC.replace("0 3 ", "3 3 "), "link 1 .3 to 3.: both ends are the same node"),
        ("t.txt", HPCC.replace("0 3 ", "1 3 "), "host 0 has no link"),
        ("t.txt", HPCC.replace("3 4 400Gbps", "1 3 400Gbps"), "no path from host 0 to host 2"),
        ("t.txt", HPCC.replace("3 4\n", "3 x\n"), ":2: '3 x': write whole numbers only"),
        ("t.txt", HPCC.replace("3 4\n", "3 3\n"), ":2: 1 ids of switches, but line 1 says 2"),
        ("t.txt", HPCC.replace(" 0.25", " 1.25"), ".* loss from 0 to below 1"),
        ("t.txt", HPCC.replace(" 0.25", " nan"), ":4: .*is no link .'nan' is no number"),
        ("t.txt", HPCC.replace("1us 0.25", "1e-999999999us 0.25"), ":4: .*not a whole number"),
        ("t.txt", HPCC.replace("100Gbps 1us", "1e999999999bps 1us"), ":4: .*which 64 bits hold"),
        ("t.txt", HPCC.replace("100Gbps 1us", "9" * 9000 + " 1us"), ":4: .*no unit I can read"),
        ("t.txt", HPCC.replace("5 2 5\n3 4", "5 1 5\n3 3"), ":2: 1 ids of switches.* each once"),
        ("t.txt", HPCC.replace("5 2 5", f"{10**12} 2 5"), "1000000000000 nodes; there may be 1 to"),
        ("t.txt", HPCC.replace("5 2 5", "6 2 5"), "host 5 has no link"),
        ("t.txt", HPCC.replace("5 2 5", f"{10**6} 2 5"), "1000000 nodes, but 5 links have 10 ends"),
        ("t.topo", TOPO.partition("Tier 1")[0], "Tiers 2, and 1 sections Tier: .* cut off"),
        ("t.topo", TOPO.rpartition("Radix_Down")[0], "Tier 1 has no radix_down. Is the file cut"),
        ("t.topo", TOPO.replace("Radix_Down 16", "Radix_Down 15"), "Nodes 128, but the radices .*"
         "give 120"),
        ("t.topo", TOPO.replace("Radix_Up", "Radix_Upp"), ":8: 'Radix_Upp' does not belong here.*"
         "Did you mean radix_up"),
        ("t.topo", TOPO.replace("Radix_Up 8", "Radix_Up eight"), ":8: 'Radix_Up eight': write"),
        ("t.topo", TOPO.replace("Switch_Latency_ns 0", "Switch_Latency_ns 5"),
         "is switch.processing_delay"),
        ("t.topo", TOPO.replace("Radix_Up 8", "Radix_Up \u00b2"), ":8: 'Radix_Up \u00b2': write"),
        ("t.topo", TOPO.replace("Gbps 100", "Gbps 9999999999", 1), "Tier 0: downlink_speed_gbps "
         "9999999999 does not fit 64 bits"),
        ("t.topo", HUGE_TOPO, "32000000 links; there may be 4194304"),
        ("t.topo", TOPO + "Bundle 3\n", "Tier 1: Radix_Down over Bundle: 16 / 3 is no whole"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_its_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(FieldError, match=message) as caught:
        read(tmp_path, file=name)
    assert caught.value.field == "file" and name in str(caught.value)


NODES = "node,is_switch\n0,0\n1,0\n2,1\n"
LINKS = "node_a,node_b,rate_bps,delay_ps\n0,2,100,1\n1,2,100,1\n"


@pytest.mark.parametrize(
    ("nodes", "links", "key", "message"),
    [
        (NODES.replace("is_switch", "switch"), LINKS, "nodes", "has no column 'is_switch'.*mean"),
        (NODES + "2,1\n", LINKS, "nodes", "each node has its own id"),
        (NODES.replace("2,1", "2,2"), LINKS, "nodes", "is_switch: write 0 for a host and 1"),
        (NODES.replace("1,0", "1.5,0"), LINKS, "nodes", "node: row 2: '1.5' is not a whole number"),
        (NODES, LINKS.replace("delay_ps", "delay"), "links", "has no column 'delay_ps'"),
        (NODES, LINKS.replace("1,2,100,1", "1,2,,1"), "links", "rate_bps: row 2: '' is not"),
        (NODES, LINKS.replace("1,2", "1,7"), "links", "link 2 .1 to 7.: there is no node 7"),
        (NODES, LINKS + "2,0,100,1\n", "links", "parallel 0 stands twice for this pair"),
        (NODES, "", "links", "is no readable .csv table"),
        ("node,is_switch,tier\n0,0,1\n1,0,0\n2,1,1\n", LINKS, "nodes", "tier: 0 for a host, 1 or"),
        ("node,is_switch,tier\n0,0,0\n1,0,0\n2,1,0\n", LINKS, "nodes", "tier: 0 for a host, 1 or"),
        ("node,is_switch,plane\n0,0,0\n1,0,0\n2,1,-1\n", LINKS, "nodes", "plane: 0 for a host, 0"),
        (NODES, LINKS.replace("ps\n", "ps,bit_error_ratio\n").replace(",1\n", ",1,1\n"), "links",
         "bit_error_ratio: row 1: 1.0; write 0 or more and less than 1"),
    ],
)  # fmt: skip
def test_broken_tables_are_refused_with_row_and_column(tmp_path, nodes, links, key, message):
    (tmp_path / "nodes.csv").write_text(nodes)
    (tmp_path / "links.csv").write_text(links)
    with pytest.raises(FieldError, match=message) as caught:
        read(tmp_path, nodes="nodes.csv", links="links.csv")
    assert caught.value.field == key


@pytest.mark.parametrize("name", ["net.topo", "nvlink_only.topo", "topology.txt", "Spectrum-X"])
@pytest.mark.parametrize("text, kind, n_hosts", [(SIMAI, "hpcc", 0), (TOPO, "htsim", 128)])
def test_the_reader_follows_from_what_a_file_holds_not_from_its_name(
    tmp_path, name, text, kind, n_hosts
):
    (tmp_path / name).write_text("\n# a comment\n" + text)
    context = {"folder": tmp_path}
    params = from_file.Params.model_validate({"file": name}, context=context)
    assert params.format == kind
    if kind == "htsim":
        assert from_file.counts(params)["hosts"] == n_hosts
    other = {"hpcc": "htsim", "htsim": "hpcc"}[kind]
    params = from_file.Params.model_validate({"file": name, "format": other}, context=context)
    with pytest.raises(FieldError, match="does not belong here|is no HPCC topology"):
        from_file.counts(params)


@settings(max_examples=200)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_never_a_bug(tmp_path_factory, data):
    name = data.draw(st.sampled_from(["t.txt", "t.topo"]))
    text = list(HPCC if name == "t.txt" else TOPO)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.sampled_from(["", "\n", " ", "-", "0", "9", "x", "\x00"]))
    cut = data.draw(st.integers(1, len(text)))
    folder = tmp_path_factory.mktemp("damaged")
    (folder / name).write_text("".join(text[:cut]))
    try:
        tables, counts = read(folder, file=name)
    except FieldError as error:
        assert name in str(error)
    else:
        assert counts["cables"] == len(tables["links"]["node_a"])


SCENARIO = """\
name: filed
topology: {type: from_file, file: net.topo}
link: {rate: 100 Gb/s, delay: 1 us}
switch: {buffer: 8 MB}
workload: {type: htsim_cm, file: one.cm}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""


@pytest.fixture
def filed(tmp_path):
    """Return a function that plans a scenario whose files lie in a folder."""

    def plan(folder=tmp_path, **texts):
        folder.mkdir(exist_ok=True)
        texts = {
            "net.topo": TOPO,
            "one.cm": "Nodes 2\nConnections 1\n0->1 start 0 size 9\n",
        } | texts
        for name, text in texts.items():
            (folder / name).write_text(text)
        file = parse_scenario(SCENARIO, str(folder / "filed.yaml"))
        return spec.plan(file, typeids_file=DATA / "typeids.json")[0]

    return plan


def test_what_files_hold_is_in_the_name_of_a_run_and_where_they_lie_is_not(filed, tmp_path):
    first, moved = filed(), filed(tmp_path / "elsewhere")
    other_topo = filed(**{"net.topo": TOPO.replace("1000", "900")})
    other_flow = filed(**{"one.cm": "Nodes 2\nConnections 1\n0->1 start 0 size 8\n"})

    assert first.id == moved.id
    assert len({first.id, other_topo.id, other_flow.id}) == 3


def test_a_file_that_has_changed_since_the_run_was_named_is_not_used(filed, tmp_path):
    from pyorch.render import input_tables

    run = filed()
    (tmp_path / "one.cm").write_text("Nodes 3\nConnections 1\n0->2 start 0 size 9\n")
    from pyorch.spec import files
    from pyorch.workload import htsim_cm

    files._content.cache_clear()
    htsim_cm._read.cache_clear()
    with pytest.raises(SpecError, match="one.cm: its content has changed since this run was named"):
        input_tables(run.spec)


def test_a_broken_file_is_an_error_of_the_scenario_before_anything_runs(filed):
    with pytest.raises(SpecError, match=r"filed.yaml:2: topology.file: .*net.topo: Tiers 2, and 1"):
        filed(**{"net.topo": TOPO.partition("Tier 1")[0]})


def test_the_loss_of_link_holds_where_a_table_has_none(tmp_path):
    (tmp_path / "nodes.csv").write_text("node,is_switch\n0,0\n1,0\n2,1\n")
    (tmp_path / "links.csv").write_text("node_a,node_b,rate_bps,delay_ps\n0,2,1000,5\n1,2,1000,5\n")
    link = LINK.model_copy(update={"loss_ratio": 0.125})
    tables, _ = read(tmp_path, link, nodes="nodes.csv", links="links.csv")

    assert tables["links"]["loss_ratio"].tolist() == [0.125, 0.125]


def test_hosts_that_meet_a_third_one_alone_have_no_path(tmp_path):
    # Host 0 is on both switches, 1 on the one, 2 on the other; hosts do not forward.
    text = "5 2 4\n3 4\n" + "".join(
        f"{host} {switch} 100Gbps 1us 0\n" for host, switch in ((0, 3), (0, 4), (1, 3), (2, 4))
    )
    (tmp_path / "topology.txt").write_text(text)
    with pytest.raises(FieldError, match="no path from host 1 to host 2: the network has separate"):
        read(tmp_path, file="topology.txt")

    # With one more link of host 1 each two of them meet on some switch.
    (tmp_path / "topology.txt").write_text(text.replace("2 4\n", "2 5\n", 1) + "1 4 1Gbps 1us 0\n")
    assert read(tmp_path, file="topology.txt")[1]["hosts"] == 3
