# SPDX-License-Identifier: GPL-2.0-only
"""What a monitor sees, against bursts whose bytes and queues are written down by hand."""

import re

import pandas as pd
import pytest

from pyorch import metrics, traces
from pyorch.errors import TraceError
from pyorch.metrics.monitoring import measure
from pyorch.spec.resolved import Spec, Trace

#: Link of 800 Gb/s: 100 000 bytes in a sample of 1 us are all it can send.
PERIOD_PS, FULL = 1_000_000, 100_000


def spec_of(period_ps):
    return Spec.model_construct(trace=Trace(nodes=[], pcap=[], sample_ps=period_ps))


def sampled(rows, now, ports):
    """Return a run with rows of time [samples], port, queue [byte], sent [byte]."""
    n_ports = len(ports["node"])
    tables = {
        "ports": pd.DataFrame({name: [0] * n_ports for name in traces.CONTRACTS["ports"]} | ports),
        "port_samples": pd.DataFrame(
            [(time * PERIOD_PS, *port, 0, queue, sent, 0) for time, port, queue, sent in rows],
            columns=list(traces.CONTRACTS["port_samples"]),
        ),
        "summary": pd.DataFrame({"now_ps": [now * PERIOD_PS]}),
    }
    return metrics.RunTables(spec_of(PERIOD_PS), "results/hand/s1", tables)


def test_a_burst_is_averaged_away_and_its_queue_is_missed():
    # Port 4 to 6 sends at full rate in samples 3 and 4 of 100; its queue is 9 kB at the end of
    # sample 3, 20 kB in between at most. Port 4 to 7 sends a tenth in each of the first 50. Port 5
    # to 6 was never sampled: its queue does not count.
    ports = {"node": [4, 4, 5], "peer": [6, 7, 6], "rate_bps": [800 * 10**9] * 3,
             "max_queue_bytes": [20_000, 3_000, 99_000]}  # fmt: skip
    rows = [(3, (4, 6), 9_000, FULL), (4, (4, 6), 0, FULL)]
    rows += [(k, (4, 7), 3_000 if k == 20 else 0, FULL // 10) for k in range(1, 51)]
    table = measure(sampled(rows, 100, ports)).set_index("interval_ps")

    assert table.index.tolist() == [PERIOD_PS, 10 * PERIOD_PS, 100 * PERIOD_PS]
    assert table["peak_share"].tolist() == pytest.approx([1, 0.2, 0.05])
    assert table["full_share"].tolist() == pytest.approx([2 / 200, 0, 0])
    assert table["seen_queue_bytes"].tolist() == [9_000, 3_000, 0]
    assert table["max_queue_bytes"].tolist() == [20_000] * 3
    assert table["missed_share"].tolist() == pytest.approx([0.55, 0.85, 1])


def test_an_interval_that_is_not_whole_does_not_count():
    # 15 samples: one interval of ten, in which a twentieth was sent.
    ports = {"node": [4], "peer": [6], "rate_bps": [800 * 10**9], "max_queue_bytes": [0]}
    rows = [(10, (4, 6), 0, FULL // 2), (11, (4, 6), 0, FULL)]
    table = measure(sampled(rows, 15, ports))
    assert table["peak_share"].tolist() == pytest.approx([1, 0.05])
    assert table["missed_share"].isna().all()


def test_a_run_that_was_not_sampled_is_refused():
    with pytest.raises(TraceError, match=re.escape("Write trace: {sample: 10 us}")):
        metrics.ask("monitoring", metrics.RunTables(spec_of(None), "results/hand/s1"))
