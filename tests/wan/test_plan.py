# SPDX-License-Identifier: GPL-2.0-only
"""Rates and paths against a hand-computed triangle and the definition of max-min fairness."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from pyorch.errors import TheoryError
from pyorch.wan import maxmin
from pyorch.wan.plan import plan, tables
from pyorch.wan.request import Request

GBPS = 1e9
TRIANGLE = [("a", "b", 10), ("b", "c", 10), ("a", "c", 10)]
SHORT = pytest.mark.parametrize("seed", range(8))
HUNDRED = pytest.mark.parametrize("seed", range(100))


def request_of(links, demands, **more):
    """Return a request: links (a, b, Gb/s), demands (from, to, Gb/s, weight, priority)."""
    return Request.model_validate(
        {
            "sites": sorted({site for a, b, _ in links for site in (a, b)}),
            "links": [
                {"between": [a, b], "rate": f"{rate} Gb/s", "delay": "10 ms"}
                for a, b, rate in links
            ],
            "demands": [
                {"name": f"d{i}", "from": a, "to": b, "demand": f"{rate} Gb/s",
                 "weight": weight, "priority": priority}
                for i, (a, b, rate, weight, priority) in enumerate(demands)
            ],
            **more,
        }
    )  # fmt: skip


def random_request(seed, **more):
    """Return a connected network of 4 to 8 sites with 10 to 40 demands that do not all fit."""
    random = np.random.default_rng(seed)
    n_sites = int(random.integers(4, 9))
    pairs = {(int(random.integers(i)), i) for i in range(1, n_sites)}
    pairs |= {
        tuple(sorted(map(int, random.choice(n_sites, 2, replace=False)))) for _ in range(n_sites)
    }
    links = [(f"s{a}", f"s{b}", int(random.integers(20, 60))) for a, b in sorted(pairs)]
    demands = []
    for _ in range(int(random.integers(10, 41))):
        a, b = random.choice(n_sites, 2, replace=False)
        demand, weight = int(random.integers(1, 20)), int(random.integers(1, 5))
        demands.append((f"s{a}", f"s{b}", demand, weight, int(random.integers(2))))
    return request_of(links, demands, **{"tunnels": 3, **more})


def matrices(seed, **more):
    """Return usage, owner, functions and capacity [Gb/s] of a random request."""
    usage, owner, functions, capacity = tables(random_request(seed, **more))
    return usage, owner, [[(s, r / GBPS) for s, r in f] for f in functions], capacity / GBPS


def test_the_triangle_by_hand():
    """Site a has 20 Gb/s out of it, weights are 2 to 1, and both may go either way.

    So ab gets 40/3 and ac 20/3: 10 of ab direct and 10/3 by c, which with 20/3 fill the link ac.
    With quanta of a fourth 3/4 of 40/3 are those 10.
    """
    made = plan(request_of(TRIANGLE, [("a", "b", 20, 2, 0), ("a", "c", 10, 1, 0)], tunnels=2))

    ab, ac = made.grants
    assert ab.rate_bps == pytest.approx(40 / 3 * GBPS, rel=1e-6)
    assert ac.rate_bps == pytest.approx(20 / 3 * GBPS, rel=1e-6)
    assert [(t.sites, t.split) for t in ab.tunnels] == [(("a", "b"), 0.75), (("a", "c", "b"), 0.25)]
    assert [(t.sites, t.split) for t in ac.tunnels] == [(("a", "c"), 1.0)]


def test_a_coarse_split_costs_what_it_costs_by_hand():
    """In thirds 3/4 and 1/4 are 2.25 and 0.75: two, none, and one for the larger remainder.

    The third by c: 2/3 of ab is direct, at most 10, so ab has at most 15; by c it has ab / 3
    beside ac. At the ideal 40/3 and 20/3 the link ac has 40/9 + 60/9 = 100/9, more than 10. Shares
    rise together with 2 to 1: 2 s / 3 + s = 10 at s = 6: 12 and 6.
    """
    demands = [("a", "b", 20, 2, 0), ("a", "c", 10, 1, 0)]
    ab, ac = plan(request_of(TRIANGLE, demands, tunnels=2, quanta=3)).grants

    assert [t.split for t in ab.tunnels] == pytest.approx([2 / 3, 1 / 3])
    assert (ab.rate_bps, ac.rate_bps) == pytest.approx((12 * GBPS, 6 * GBPS), rel=1e-6)


def test_a_higher_priority_goes_first_and_a_lower_gets_the_rest():
    demands = [("a", "b", 15, 1, 1), ("a", "b", 12, 1, 0), ("a", "c", 8, 1, 1)]
    low, high, other = plan(request_of(TRIANGLE, demands, tunnels=2, quanta=1000)).grants

    # 12 of 20 out of a are gone, 8 are left for two of equal weight
    assert high.rate_bps == pytest.approx(12 * GBPS, rel=1e-6)
    assert (low.rate_bps, other.rate_bps) == pytest.approx((4 * GBPS, 4 * GBPS), rel=2e-3)


def test_headroom_stays_free_and_what_can_never_be_granted_is_refused():
    (grant,) = plan(request_of(TRIANGLE, [("a", "b", 9, 1, 0)], tunnels=1, headroom=0.1)).grants
    assert grant.rate_bps == pytest.approx(9 * GBPS, rel=1e-6)

    with pytest.raises(TheoryError, match=r"demand d0: 10 Gbit/s can never be granted: its 1 tun"
                                          r"nels carry 9 Gbit/s without any other"):  # fmt: skip
        plan(request_of(TRIANGLE, [("a", "b", 10, 1, 0)], tunnels=1, headroom=0.1))


def test_sites_that_no_link_joins_are_refused():
    links = [("a", "b", 10), ("c", "d", 10)]
    with pytest.raises(TheoryError, match="demand d0: no path from site a to d. Add a link."):
        plan(request_of(links, [("a", "d", 1, 1, 0)]))


@HUNDRED
def test_nobody_can_have_more_without_somebody_having_less_who_has_no_more(seed):
    """Bertsekas and Gallager, Data Networks, section 6.5.2: that is what max-min fair means.

    For each group a linear program: its largest rate while all with no larger a share keep theirs.
    """
    usage, owner, functions, capacity = matrices(seed)
    rates = maxmin.over_tunnels(usage, owner, functions, capacity)
    own = (owner[None, :] == np.arange(len(functions))[:, None]).astype(float)
    groups = own @ rates
    weights = np.array([f[-1][1] / f[-1][0] for f in functions])
    shares = groups / weights

    assert (usage @ rates <= capacity * (1 + 1e-6)).all()
    for group, points in enumerate(functions):
        if groups[group] >= points[-1][1] * (1 - 1e-6):
            continue  # it has all that it asked for
        keep = (shares <= shares[group] * (1 + 1e-6)) & (np.arange(len(groups)) != group)
        best = linprog(
            -own[group],
            A_ub=np.concatenate([usage, -own[keep]]),
            b_ub=np.concatenate([capacity, -groups[keep] * (1 - 1e-6)]),
            bounds=(0, None), method="highs",
        )  # fmt: skip
        assert best.success
        assert -best.fun <= groups[group] * 1.01


def test_the_random_requests_do_not_fit():
    full = 0
    for seed in range(30):
        usage, owner, functions, capacity = matrices(seed)
        rates = maxmin.over_tunnels(usage, owner, functions, capacity)
        full += sum(f[-1][1] for f in functions) > rates.sum() * 1.01
    assert full >= 15


@HUNDRED
def test_no_link_is_over_capacity_when_splits_are_quantised(seed):
    made = plan(random_request(seed))

    for link, load in made.loads_bps.items():
        assert load <= made.capacities_bps[link] * (1 + 1e-9)
    for grant in made.grants:
        assert sum(tunnel.split for tunnel in grant.tunnels) == pytest.approx(1)
        assert all((tunnel.split * 4).is_integer() for tunnel in grant.tunnels)
        assert grant.rate_bps <= grant.demand.demand_bps * (1 + 1e-9)


@SHORT
def test_to_ask_for_more_never_lowers_the_least_share(seed):
    """What was granted before is still possible, and the least share is as large as it can be."""
    usage, owner, functions, capacity = matrices(seed)

    def least(given):
        rates = maxmin.over_tunnels(usage, owner, given, capacity)
        groups = [rates[owner == group].sum() for group in range(len(given))]
        return min(maxmin.share_at(f, r) for f, r in zip(given, groups, strict=True))

    before = least(functions)
    for group in range(0, len(functions), 3):
        more = [*functions]
        more[group] = [(share * 2, rate * 2) for share, rate in functions[group]]
        assert least(more) >= before * (1 - 1e-4)


def test_bandwidth_functions_bend():
    """One link of 10. Both rise alike to 2 each; then d0 gets three for each one of d1.

    d0: (1, 2), (3, 14); d1: (1, 2), (3, 6). At share s > 1: 2 + 6 (s - 1) + 2 + 2 (s - 1) = 10, so
    s = 1.75: 6.5 and 3.5.
    """
    functions = [[(0, 0), (1, 2), (3, 14)], [(0, 0), (1, 2), (3, 6)]]
    usage, capacity = np.ones((1, 2)), np.array([10.0])

    for rates in (
        maxmin.over_tunnels(usage, np.arange(2), functions, capacity),
        maxmin.over_splits(usage, functions, capacity),
    ):
        assert rates == pytest.approx([6.5, 3.5], rel=1e-6)


@SHORT
def test_with_one_tunnel_each_both_ways_to_fill_agree(seed):
    usage, owner, functions, capacity = matrices(seed, tunnels=1)

    assert maxmin.over_tunnels(usage, owner, functions, capacity) == pytest.approx(
        maxmin.over_splits(usage, functions, capacity), rel=1e-5
    )


@pytest.mark.parametrize("quanta", [4, 8])
def test_what_rounded_splits_cost_is_what_the_page_says(quanta):
    # docs/wan.md: 60 random networks, splits in fourths and eighths against thousandths.
    page = (Path(__file__).parents[2] / "docs" / "wan.md").read_text()
    lost, parts = [], []
    for seed in range(60):
        exact, rounded = (
            plan(random_request(seed, quanta=n), possible=False).grants for n in (1000, quanta)
        )
        before, after = (np.array([g.rate_bps for g in grants]) for grants in (exact, rounded))
        lost.append(100 * (1 - after.sum() / before.sum()))
        asked = np.array([g.demand.points()[-1][1] for g in exact])
        parts.append(((before - after) / asked).max())
    what = {
        4: "fourths cost {} % of the traffic on average and {} % at",
        8: "eighths {} % and {} %",
    }
    assert what[quanta].format(f"{np.mean(lost):.1f}", f"{max(lost):.1f}") in " ".join(page.split())
    assert max(parts) <= 0.5
    assert quanta == 8 or max(parts) == pytest.approx(0.5, abs=1e-3)
