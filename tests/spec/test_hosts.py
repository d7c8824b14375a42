# SPDX-License-Identifier: GPL-2.0-only
"""What messages cost hosts, in a scenario, a spec and a program."""

import json
from pathlib import Path

import pytest

from pyorch import spec as specs
from pyorch.errors import SpecError
from pyorch.render import render_script

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
    ],
)
def test_what_is_no_cost_is_refused(small, host, said):
    text = small.text.replace(FREE, f"{FREE[:-1]}, host: {host}}}")
    with pytest.raises(SpecError, match="small.yaml:7: ") as error:
        resolved(small, text)
    assert said in str(error.value)


def test_steady_states_are_not_skipped_with_it(small):
    text = small.text.replace(FREE + "\n", COSTLY) + "engine: {skip: 1%}\n"
    with pytest.raises(SpecError, match=r"transport.host: steady states .* engine.skip"):
        resolved(small, text)
