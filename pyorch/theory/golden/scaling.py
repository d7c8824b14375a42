# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [hotnets24] sections 3.1 and 3.2: loss-optimal sizes, depth and width."""

import math

from pyorch.theory import architecture, infrastructure, scaling
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden.claims import printed

#: Days of a year as figure 1 counts them: twelve months of 30 days.
YEAR_DAYS = 360


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _sizes() | _times() | _shape()


def _site_flop_per_s() -> float:
    design = given.site()
    return infrastructure.build_site(design.budget, design.rack).dense_flop_per_s


def _sizes() -> dict[str, float]:
    budget_flop = scaling.training_flop(_site_flop_per_s(), scaling.INFERRED_TRAINING_DAYS)
    year_flop = scaling.training_flop(_site_flop_per_s(), YEAR_DAYS)
    size = {name: law().parameters(budget_flop) for name, law in scaling.LAWS.items()}
    return {
        **{f"p.scale.exp{n}": scaling.hoffmann_fit(n).exponent for n in (1, 2, 3)},
        "p.scale.N_chosen": size["hoffmann2"],
        "p.scale.C_1440": budget_flop,
        "p.scale.N_12mo": scaling.hoffmann_fit(2).parameters(year_flop),
        "p.scale.D_1440": scaling.optimal_tokens(budget_flop, printed("p.scale.N_chosen")),
        "p.scale.kaplan_1440": size["kaplan"],
        "p.scale.a1_1440": size["hoffmann1"],
        "p.scale.a3_1440": size["hoffmann3_table"],
        "p.scale.a3p_1440": size["hoffmann3_closed"],
        # [hoffmann22] quotes 4.68e9 at 1e21 FLOP; [kaplan20] gives C_min = C / 2 there.
        "p.scale.kaplan_check": scaling.KAPLAN.parameters(1e21 / 2),
    }


def _times() -> dict[str, float]:
    work_flop = scaling.hoffmann_fit(2).compute_flop(printed("p.scale.N_chosen"))
    dense_rate = _site_flop_per_s()
    return {
        "p.scale.days_for_103_8T": scaling.training_days(work_flop, dense_rate),
        "p.scale.days_for_103_8T_sparse": scaling.training_days(work_flop, 2 * dense_rate),
    }


def _shape() -> dict[str, float]:
    setup = given.dense()
    model = setup.model
    root = architecture.levine_depth(printed("p.scale.N_chosen"))
    return {
        # The abstract of [levine20]: a width of about 30K for 1T, at 95 layers.
        "p.arch.levine_1T_depth": architecture.levine_width(95),
        "p.arch.vocab": model.vocabulary,
        "p.arch.layers": model.layers,
        "p.arch.heads": model.heads,
        "p.arch.hidden": model.hidden,
        "p.arch.headdim": model.head_dimension,
        "p.arch.levine_depth": math.ceil(root),
        "p.arch.levine_width": architecture.levine_width(model.layers),
        "p.arch.hidden_rule": architecture.hidden_for(printed("p.arch.params"), model.layers),
        "p.arch.params": model.parameters,
        "p.arch.seq_nominal": setup.job.sequence_tokens,
    }
