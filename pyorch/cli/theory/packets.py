# SPDX-License-Identifier: GPL-2.0-only
"""Runs a smaller step on networks of a design, unless that has been done; says what is exposed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pyorch.errors import SimulationError, TheoryError, counted

if TYPE_CHECKING:
    from pyorch.theory.design import Design
    from pyorch.theory.full_step import Fabric
    from pyorch.theory.parallelism import Setup
    from pyorch.training.smaller import Smaller


@dataclass(frozen=True)
class Asked:
    """What is to be simulated: whose step, with which transports, and how much smaller."""

    preset: str
    setup: "Setup"
    transports: list[str]
    peers: int
    divide: int | None
    cores: int | None

    def check(self) -> None:
        """Raise PyorchError unless there is such a step, and such transports."""
        from pyorch.training import packets, smaller

        for transport in self.transports:
            packets.variant(transport)
        smaller.smaller(self.setup, self.peers, self.divide)

    def simulated(self, found: "Sequence[Design]") -> "list[Design]":
        """Return the networks that packets can be sent on.

        Raises
        ------
        TheoryError
            There is none.
        """
        from pyorch.training.smaller import is_simulated

        can = [one for one in found if is_simulated(self.setup, one.fabric, one.tiers)]
        if not can:
            raise TheoryError(
                "--packets: none of these networks has a rail for each device of a rack. Take"
                f" --rails {self.setup.cluster.rack_gpus}."
            )
        return can


@dataclass(frozen=True)
class Measured:
    """What is exposed of a smaller step: of each network, by transport [1]."""

    shares: "dict[Fabric, dict[str, float]]" = field(default_factory=dict)
    transports: Sequence[str] = ()
    one: "Smaller | None" = None

    def share(self, design: "Design") -> float:
        """Return what a network exposes with the first transport, or what is known without."""
        if design.fabric not in self.shares:
            return design.best_share
        return self.shares[design.fabric][self.transports[0]]

    def columns(self, design: "Design") -> dict[str, float | None]:
        """Return the columns of one network; empty where it was not simulated."""
        if self.one is None:
            return {}
        shares = self.shares.get(design.fabric, {})
        percent = {name: 100 * share for name, share in shares.items()}
        first, *others = self.transports
        found: dict[str, float | None] = {
            "smaller_percent": 100 * self.one.share if shares else None,
            "packets_percent": percent.get(first),
        }
        for other in others:
            found[f"packets_{other.removeprefix('ns3::')}_percent"] = percent.get(other)
        if {"sprayed", "roce"} <= set(self.transports):
            added = percent["roce"] - percent["sprayed"] if shares else None
            found["single_path_adds_points"] = added
        return found

    def words(self) -> str:
        """Return what was simulated."""
        if self.one is None:
            return ""
        stages, peers, members, tensor, _ = self.one.shape
        return (
            f"Packets: {', '.join(self.transports)}; {counted(stages, 'stage')} of"
            f" {counted(peers, 'rack')} of {members * tensor},"
            f" {counted(self.one.layers, 'layer')} in a model chunk,"
            f" {counted(self.one.micro_batches, 'micro-batch')}, divided by {self.one.divide}."
        )


def measure(asked: Asked, chosen: "Sequence[Design]") -> Measured:
    """Run a smaller step on each network with each transport.

    Raises
    ------
    PyorchError
        A run is refused, before any is made, or does not come to its end.
    """
    from pyorch.cli.run import say_remarks, say_unfinished
    from pyorch.cli.sweep import display
    from pyorch.runs import names
    from pyorch.runs.choose import choose
    from pyorch.runs.run import RunResult
    from pyorch.simulate import modules
    from pyorch.training import packets
    from pyorch.workflow.sweep import sweep

    modules.bring_up_to_date()
    one = packets.step(asked.setup, chosen, asked.peers, asked.divide)
    scenario = packets.scenario(asked.preset, asked.setup, chosen, asked.transports, one)
    runs = choose(scenario, asks=True)
    names.note(runs)
    say_remarks(runs)
    with display() as show:
        outcome = sweep(runs, asked.cores, show=show)
    if outcome.stop:
        typer.echo(outcome.end(), err=True)
        raise typer.Exit(outcome.exit_status)
    if outcome.exit_status:
        raise SimulationError("\n".join(outcome.failures() or [outcome.end()]))
    fabrics = {packets.case(each): each.fabric for each in chosen}
    transports = {packets.variant(name)[0]: name for name in asked.transports}
    shares: dict[Fabric, dict[str, float]] = {fabric: {} for fabric in fabrics.values()}
    for run in runs:
        result = RunResult.of(run, Path("results") / run.folder)
        if say_unfinished(result):
            raise SimulationError(f"{result.folder}: this step has no end, so nothing is compared.")
        ends_ps = result.table("tasks")["end_ps"].max(), result.flows["receiver_end_ps"].max()
        share = one.exposed_share(float(max(ends_ps)))
        shares[fabrics[run.case]][transports[run.variant]] = share
    return Measured(shares, asked.transports, one)
