# SPDX-License-Identifier: GPL-2.0-only
"""RoCEv2 with PFC against htsim, on its topologies and matrices (docs/validation.md)."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))
import htsim

pytestmark = pytest.mark.ns3
PEERS = htsim.peers()


def peer(topo, matrix):
    """Return htsim's row of a case with its default thresholds."""
    chosen = PEERS[(PEERS["topo"] == topo) & (PEERS["matrix"].str.startswith(matrix))]
    return chosen[chosen["pfc_packets"] == "15/12"].iloc[0]


@pytest.mark.parametrize("topo", ["ls128_100", "ls128_800"])
def test_a_flow_alone_takes_exactly_as_long(topo):
    # By hand, 100 Gb/s: 489 packets of 4160 B on the first link and 3 more hops of one, 492 *
    # 332.8 ns; 4 links of 1 us there and back; an ACK of 64 B over 4 links, 4 * 5.12 ns. Sum
    # 171.75808 us. htsim prints 171.758 (and 28.470 for 800 Gb/s).
    theirs = peer(topo, "single")
    ours = htsim.run(topo, theirs["matrix"], 2_000_000)
    gbps = int(topo.rpartition("_")[2])

    assert ours["fct_max_us"] == pytest.approx((492 * 4160 + 4 * 64) * 8 / gbps / 1e3 + 8, abs=1e-6)
    assert ours["fct_max_us"] == pytest.approx(theirs["fct_max_us"], abs=6e-4)


@pytest.mark.parametrize("senders", [8, 32, 100])
def test_the_last_of_an_incast_takes_as_long(senders):
    # The receiver's link is busy until the end in both; what is left is when the first packet
    # comes and how the last ACK gets back.
    theirs = peer("ls128_100", f"incast_128_2000000_1_1.0_{senders}.")
    ours = htsim.run("ls128_100", theirs["matrix"], 2_000_000)

    assert ours["fct_max_us"] == pytest.approx(theirs["fct_max_us"], rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "topo",
    ["ls128_100", "ls128_800"]
    + [pytest.param(name, marks=pytest.mark.long) for name in ("ls1024_100", "ls1024_800")],
)
def test_a_permutation_takes_as_much_longer_than_its_fluid_value(topo):
    # Three matrices, ten draws of the hash each; htsim has one draw of each.
    matrices = [f"perm_{topo[2:].partition('_')[0]}_2000000_{i}_1.0_0.cm" for i in (1, 2, 3)]
    theirs = pd.DataFrame([peer(topo, matrix) for matrix in matrices])
    ours = pd.concat([htsim.draws(topo, matrix, 2_000_000, "15/12", 10) for matrix in matrices])

    ratio = ours.median(numeric_only=True) / theirs.median(numeric_only=True)
    assert ratio["fct_p50_us"] == pytest.approx(1, abs=0.1)
    assert ratio["mean_over_fluid"] == pytest.approx(1, abs=0.05)
    assert ratio["tail_over_fluid"] == pytest.approx(1, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("topo", ["ft128_100", "ft128_800"])
def test_a_permutation_on_three_tiers_takes_as_long(topo):
    # Fluid values of htsim's paths are not known here, so completion times are compared: htsim's
    # single draw of each matrix over the median of ten of ours, mean of three matrices. The slowest
    # flow of a single draw says too little for that; its place among our draws is in the docs.
    ratios = []
    for matrix in [f"perm_128_2000000_{i}_1.0_0.cm" for i in (1, 2, 3)]:
        theirs, ours = peer(topo, matrix), htsim.draws(topo, matrix, 2_000_000, "15/12", 10)
        ratios.append(
            [theirs[name] / ours[name].median() for name in ("fct_p50_us", "fct_mean_us")]
        )

    assert pd.DataFrame(ratios).mean().tolist() == pytest.approx([1, 1], abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("topo", ["ft128_100", "ft128_800"])
def test_the_slow_matrix_on_three_tiers_is_a_draw_with_six_flows_on_a_link(topo):
    # The slowest flow has a fluid value of six in three to four of a hundred draws, in none of our
    # first sixty. With such a draw matrix 1 takes as long here as with htsim's only one.
    theirs = peer(topo, "perm_128_2000000_1_")
    ours = htsim.draws_alike(topo, theirs["matrix"], 6, range(61, 135))

    assert len(ours) >= 5
    for name in ("fct_p50_us", "fct_max_us"):
        assert ours[name].min() < theirs[name] < ours[name].max()


@pytest.mark.slow
def test_two_stages_of_our_hash_are_as_even_as_ideal_ones():
    # Slowest fluid value of a permutation, that is its most loaded link: ours against uniform and
    # independent choices. Without a salt per switch both stages would choose alike.
    seeds, matrix = range(1, 201), "perm_128_2000000_1_1.0_0.cm"
    values = [htsim.fluid_draws("ft128_100", matrix, seeds, ideal) for ideal in (False, True)]
    counts = [[np.sum(v < 4.5), np.sum((v > 4.5) & (v < 5.5)), np.sum(v > 5.5)] for v in values]

    assert stats.chi2_contingency(counts).pvalue > 1e-3  # seeds are fixed
