# SPDX-License-Identifier: GPL-2.0-only
"""What messages cost hosts, in a scenario, a spec and a program."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from pyorch import spec as specs
from pyorch.errors import SpecError
from pyorch.render import render_script
from pyorch.spec import host_presets

ROOT = Path(__file__).parents[2]

FREE = "transport: {type: ns3::RoceTransport}"
COSTLY = """\
transport:
  type: ns3::RoceTransport
  host: {message_time: 300 ns, bus_rate: 200 Gb/s, connections: none}
"""


def resolved(small, text):
    (run,) = small.plan(text, "smoke", variant="lossless")
    return run


def test_hosts_that_cost_nothing_are_not_named(small):
    free = resolved(small, small.text)
    said = resolved(
        small, small.text.replace(FREE, FREE[:-1] + ", host: {send_delay: 0 s, outstanding: none}}")
    )

    assert free.spec.transport[0].host is None and "host" not in free.spec.plain()["transport"][0]
    assert said.id == free.id and "fabric.host" not in render_script(free.spec)


def test_costs_are_in_the_spec_with_all_options_and_in_the_program(small, tmp_path):
    run = resolved(small, small.text.replace(FREE + "\n", COSTLY))
    host = run.spec.plain()["transport"][0]["host"]
    specs.write_resolved(run.spec, tmp_path / "spec.json")

    assert host["message_time_ps"] == 300_000 and host["bus_rate_bps"] == 200 * 10**9
    assert host["delivery_delay_ps"] == 0 and host["connections"] is None
    assert specs.read_spec(tmp_path / "spec.json") == run.spec
    assert json.loads(Path(tmp_path, "spec.json").read_text())["transport"][0]["host"] == host
    assert "        message_time_ps=300_000,  # 300 ns\n" in render_script(run.spec)


def test_transports_may_cost_different_amounts(small):
    text = small.text.replace(
        FREE,
        "transport:\n  - {name: main, type: ns3::RoceTransport}\n"
        "  - {name: dear, type: ns3::RoceTransport, host: {request_time: 1 us}}",
    ).replace("  windowed: {transport.attributes.WindowBytes: 430 kB,"
              " transport.attributes.Rto: 320 us}\n", "")  # fmt: skip
    first, second = resolved(small, text).spec.transport

    assert first.host is None and second.host.request_time_ps == 1_000_000


def with_host(small, host):
    return small.text.replace(FREE, f"{FREE[:-1]}, host: {host}}}")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        # 1 / (330 million messages/s) = 3.03 ns; 16 lanes of 32 or 16 GT/s, 128 of 130 bits each.
        ("{preset: connectx7-400g}", {"request_time_ps": 3030, "bus_rate_bps": 504_100_000_000}),
        ("{preset: connectx6-200g}", {"request_time_ps": 0, "bus_rate_bps": 252_000_000_000}),
        (
            "{preset: connectx7-400g, bus_rate: none, outstanding: 16}",
            {"request_time_ps": 3030, "bus_rate_bps": None, "outstanding": 16},
        ),
    ],
)
def test_a_preset_has_what_its_vendor_states_and_other_keys_count_instead(small, host, expected):
    run = resolved(small, with_host(small, host))
    costs = run.spec.plain()["transport"][0]["host"]

    assert {key: costs[key] for key in expected} == expected
    assert "preset" not in costs
    written_out = "{request_time: 3030 ps, bus_rate: 504.1 Gb/s}"
    if expected.get("bus_rate_bps") == 504_100_000_000:
        assert run.id == resolved(small, with_host(small, written_out)).id


def test_each_number_of_a_preset_has_its_source():
    for path in host_presets.FOLDER.glob("*.yaml"):
        for above, line in pairwise(path.read_text().splitlines()):
            assert line.startswith("#") or above.startswith("#"), f"{path.name}: {line}"


def test_the_page_has_all_presets():
    page = (ROOT / "docs" / "scenarios.md").read_text()
    for name in host_presets.names():
        costs = host_presets.read(name)
        cells = [costs.get("request_time", ""), costs.get("bus_rate", "")]
        assert f"| `{name}` | {' | '.join(cells)} |".replace("|  |", "| |") in page


@pytest.mark.parametrize(
    ("host", "said"),
    [
        (
            "{mesage_time: 1 us}",
            "mesage_time: there is no such key.",
        ),
        ("{message_time: 3}", "transport.host.message_time: "),
        ("{outstanding: 0}", "transport.host.outstanding: "),
        ("{bus_rate: 1 us}", "transport.host.bus_rate: "),
        (
            "{bus_credit: 32 KiB}",
            "transport.host.bus_credit: does nothing without bus_round_trip. Give both.",
        ),
        ("{bus_round_trip: 1 us}", "host.bus_round_trip: does nothing without bus_credit."),
        (
            "{request_size: 1 MB, message_time: 1 us}",
            "host.request_size: does nothing without request_time.",
        ),
        (
            "{preset: conectx7-400g}",
            "transport.host.preset: no preset 'conectx7-400g' of hosts. There are connectx6-200g,"
            " connectx7-400g. Did you mean connectx7-400g?",
        ),
        ("{preset: 7}", "transport.host.preset: "),
    ],
)
def test_what_is_no_cost_is_refused(small, host, said):
    with pytest.raises(SpecError, match="small.yaml:7: ") as error:
        resolved(small, with_host(small, host))
    assert said in str(error.value)


def test_steady_states_are_not_skipped_with_it(small):
    text = small.text.replace(FREE + "\n", COSTLY) + "engine: {skip: 1%}\n"
    with pytest.raises(SpecError, match=r"transport.host: steady states .* engine.skip"):
        resolved(small, text)
