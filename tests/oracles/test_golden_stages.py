# SPDX-License-Identifier: GPL-2.0-only
"""Every communication of the paper's step takes its printed formula's time on an ideal network.

Each at a thousandth of its bytes and with all of its participants, around one switch that cuts
through; packets of 9000 B with a header of 1 B, links of 100 ps, hardly an
acknowledgement.
"""

from pathlib import Path

import pandas as pd
import pytest

import pyorch
from pyorch.metrics import RunTables, collective

pytestmark = pytest.mark.ns3

#: Made by another program from the formulas of [hotnets24] section 4.1.
GOLDEN = pd.read_csv(Path(__file__).parents[1] / "paper" / "golden.csv", index_col="id")
DIVIDE = 1000
#: Preset: hidden size, parameters of a layer over its square, racks of a stage.
MODELS = {"dense": (244_224, 12, 87), "moe": (109_568, 68, 98)}
SCALE_UP, SCALE_OUT = "14.4 Tb/s", "800 Gb/s"


def stages(model):
    """Return rate, operation, participants, whole bytes and golden time [ms] of each.

    X = s b h / 2 bytes of activations, two of their all-reduces a pass; g = f h^2 / 2 bytes of
    gradients, 18 devices a group, 4 groups a rack. Stage 3 is a pair, at the rate at which the
    paper's 57 MB take 100 ms; a pair is no cell of the table for MoE, so its bytes are.
    """
    hidden, factor, racks = MODELS[model]
    activations, gradients = 32_000 * hidden * 0.5, factor * hidden**2 * 0.5
    prefix = {"dense": ("p.tp.time", "p.pp.time", "p.dp"), "moe": ("p.moe.tp", "p.moe.pp", "p.moe")}
    tensor, pipeline, data = prefix[model]

    def golden(row):
        return float(GOLDEN.loc[row, "computed_value"])

    wan = f"{golden('p.wan.flow')} Gb/s"
    return {
        "tensor": (SCALE_UP, "all_reduce", 18, activations, golden(tensor) / 2),
        "pipeline": (SCALE_OUT, "all_to_all", 2, 2 * activations / 18, golden(pipeline)),
        "stage 1": (SCALE_UP, "all_reduce", 4, gradients / 18, golden(f"{data}.stage1")),
        "stage 2": (SCALE_OUT, "all_reduce", racks, gradients / 72, golden(f"{data}.stage2")),
        "stage 3": (wan, "all_to_all", 2, 2 * gradients / 72 / racks,
                    100 * golden(f"{data}.pair") / golden("p.dp.pair")),
        "stage 4": (SCALE_OUT, "all_gather", racks, gradients / 72, golden(f"{data}.stage4")),
        "stage 5": (SCALE_UP, "all_gather", 4, gradients / 18, golden(f"{data}.stage5")),
    }  # fmt: skip


def took_ms(folder, rate, operation, ranks, whole_bytes):
    algorithm = "pairwise" if operation == "all_to_all" else "ring"
    run = pyorch.run(
        {
            "name": "stage",
            "topology": {"type": "star", "hosts": ranks},
            "link": {"rate": rate, "delay": "100 ps"},
            "switch": {"buffer": "none", "cut_through": "64 B"},
            "wire": {"framing": "0 B"},
            "workload": {"type": "collective", "algorithm": algorithm, "operation": operation,
                         "ranks": ranks,
                         "bytes": f"{ranks * round(whole_bytes / DIVIDE / ranks)} B"},
            "transport": {"type": "ns3::RoceTransport",
                          "attributes": {"MtuBytes": 9000, "HeaderBytes": 1, "RethBytes": 0,
                                         "AckInterval": 1000}},
            "stop": "10 ms",
        },
        results=folder,
    )  # fmt: skip
    (row,) = collective.measure(RunTables(run.spec, run.folder)).to_dict("records")
    return row["completion_ps"] * DIVIDE / 1e9


@pytest.mark.parametrize("name", ["tensor", "pipeline", *(f"stage {n}" for n in range(1, 6))])
@pytest.mark.parametrize("model", MODELS)
def test_a_stage_takes_its_golden_time(tmp_path, model, name):
    *what, golden_ms = stages(model)[name]
    assert took_ms(tmp_path, *what) == pytest.approx(golden_ms, rel=0.02)
