# SPDX-License-Identifier: GPL-2.0-only
"""Commands of ``pyorch theory`` about the site: its size, its model, its network."""

from typing import Annotated

import typer

from pyorch.cli.theory.print import Format, FormatOption, PresetOption, SetOption, assignments, emit
from pyorch.errors import TheoryError

_MOST_DRAWS, _MOST_DAYS = 10_000, 1e6
#: Chances of larger leaves take minutes.
_MOST_PORTS = 2048


def scaling(
    preset: PresetOption = "site-100b-usd",
    days: Annotated[
        list[float] | None, typer.Option(help="Training time; may be repeated.")
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Loss-optimal size and tokens for the compute of a site, by each scaling law."""
    from pyorch.theory import infrastructure
    from pyorch.theory import preset as presets
    from pyorch.theory import scaling as laws

    design = presets.site(preset)
    rate = infrastructure.build_site(design.budget, design.rack).dense_flop_per_s
    rows = []
    for time in days or [laws.INFERRED_TRAINING_DAYS]:
        if not 0 < time <= _MOST_DAYS:
            raise TheoryError(f"--days {time:g}: a training takes more than 0, at most 1e6 days.")
        work_flop = laws.training_flop(rate, time)
        for name, law in laws.LAWS.items():
            size = law().parameters(work_flop)
            tokens = laws.optimal_tokens(work_flop, size)
            rows.append(
                {
                    "days": float(time), "compute_flop": float(work_flop), "law": name,
                    "parameters": float(size), "tokens": float(tokens),
                }
            )  # fmt: skip
    emit(rows, form)


def site(
    preset: PresetOption = "site-100b-usd", sets: SetOption = None,
    form: FormatOption = Format.table,
) -> None:  # fmt: skip
    """What a budget buys, and who in the grid can feed it."""
    from pyorch.theory import infrastructure
    from pyorch.theory import preset as presets

    design = presets.site(preset, assignments(sets))
    built = infrastructure.build_site(design.budget, design.rack)
    emit(
        [
            {
                "preset": preset,
                "racks": float(built.n_racks),
                "gpus": float(built.n_gpus),
                "dense_eflops": built.dense_flop_per_s / 1e18,
                "it_gw": built.it_w / 1e9,
                "site_low_gw": built.low_w / 1e9,
                "site_high_gw": built.high_w / 1e9,
                "authorities_whole": int(infrastructure.count_hosts(design.grid, built.low_w)),
                "authorities_half": int(infrastructure.count_hosts(design.grid, built.low_w / 2)),
            }
        ],
        form,
    )


def topology(
    hosts: Annotated[int, typer.Option(help="Hosts of the network.")] = 800_000,
    radix: Annotated[int, typer.Option(help="Ports of a chip at the rate of a whole NIC.")] = 64,
    planes: Annotated[int, typer.Option(help="Planes that a NIC is split over.")] = 1,
    rails: Annotated[int, typer.Option(help="Networks that the hosts are split over.")] = 1,
    transceiver_usd: Annotated[float, typer.Option(help="Price of one transceiver.")] = 1000,
    chip_w: Annotated[float | None, typer.Option(help="Power of one chip.")] = None,
    transceiver_w: Annotated[float | None, typer.Option(help="Power of a transceiver.")] = None,
    form: FormatOption = Format.table,
) -> None:
    """Tiers, chips, cables, optics and power of a folded Clos of full bisection."""
    from pyorch.theory.topology_cost import Clos, network_w, optics_usd

    if planes < 1 or rails < 1:
        raise TheoryError(f"{planes} planes, {rails} rails: there is at least 1 of each.")
    if (chip_w is None) != (transceiver_w is None):
        raise TheoryError("power needs both --chip-w and --transceiver-w; neither has a default.")
    clos = Clos(hosts, radix, planes, rails)
    power_w = None
    if chip_w is not None and transceiver_w is not None:
        power_w = network_w(clos, chip_w, transceiver_w)
    emit(
        [
            {
                "hosts": hosts, "radix": radix, "planes": planes, "rails": rails,
                "tiers": clos.tiers, "chips": float(clos.chips), "whole_chips": clos.whole_chips,
                "boxes": float(clos.boxes), "cables": float(clos.cables),
                "optics": float(clos.optics), "optics_usd": optics_usd(clos, transceiver_usd),
                "power_w": power_w,
            }
        ],
        form,
    )  # fmt: skip


def permutation(
    hosts: Annotated[int, typer.Option(help="2 k^2 hosts in two tiers.")] = 8192,
    seeds: Annotated[int, typer.Option(help="Number of random draws.")] = 20,
    form: FormatOption = Format.table,
) -> None:
    """Max-min fluid slowdown of a hashed permutation, one row per draw."""
    import numpy as np

    from pyorch.theory import fluid

    if not 1 <= seeds <= _MOST_DRAWS:
        raise TheoryError(f"--seeds {seeds}: draw 1 to {_MOST_DRAWS}.")
    rows = []
    for seed in range(1, seeds + 1):
        slowdown = fluid.slowdown_of_permutation(hosts, seed)
        quantiles = np.quantile(slowdown, [0.5, 0.99])
        rows.append(
            {
                "hosts": hosts, "seed": seed, "slowdown_p50": float(quantiles[0]),
                "slowdown_p99": float(quantiles[1]), "slowdown_p100": float(slowdown.max()),
                "slowdown_mean": float(slowdown.mean()),
            }
        )  # fmt: skip
    emit(rows, form)


def collisions(
    leaves: Annotated[int, typer.Option(min=2, help="Leaves.")] = 128,
    hosts_per_leaf: Annotated[
        int, typer.Option(min=1, max=_MOST_PORTS, help="Hosts below each leaf.")
    ] = 64,
    spines: Annotated[int, typer.Option(min=1, max=_MOST_PORTS, help="Spines.")] = 64,
    form: FormatOption = Format.table,
) -> None:
    """Chance that the fullest link of a hashed permutation carries so many flows."""
    from pyorch.theory.collisions import chance_in_leaf_spine

    chances = chance_in_leaf_spine(leaves, hosts_per_leaf, spines)
    found = [(most, float(chance)) for most, chance in enumerate(chances) if chance > 1e-9]
    emit([{"most_flows_on_link": most, "chance": chance} for most, chance in found], form)
