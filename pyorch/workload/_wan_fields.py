# SPDX-License-Identifier: GPL-2.0-only
"""What `wan_demands` says of each demand, and of who follows links and demands that change."""

from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from pyorch.spec.fields import Closed, Count, FieldError, MessageBytes, RateBps, TimePs
from pyorch.spec.parts import Part, settled
from pyorch.units import TIME, format_exact
from pyorch.wan import request as requests


class Change(Closed):
    """From when on a demand asks for another rate."""

    start_ps: TimePs = Field(alias="from")
    rate_bps: RateBps = Field(alias="demand")


class Demand(requests.Demand):
    """A demand of `wan-te`, and the `message` of each of its `hosts`.

    It asks for `demand` from `start` on, and later for what its `profile` says.
    """

    hosts: Count = 1
    message_bytes: MessageBytes = Field(alias="message")
    start_ps: TimePs = Field(0, alias="start")
    profile: list[Change] = []


class Looking(Part):
    """A controller that looks at the run while it goes on."""

    PACKAGE = "pyorch.controller"


def _settle(given: object, info: ValidationInfo) -> Looking | None:
    if given is None or given == "none":
        return None
    return settled(Looking, "control.controller", given, info)


class Away(Closed):
    """From when to when there is no controller."""

    start_ps: TimePs = Field(alias="from")
    end_ps: TimePs = Field(alias="to")


class Controller(Closed):
    """What follows links that change: `delay` after each `epoch` in which one has, in `step`s.

    Lower rates come first, paths a step later, higher rates one more later. With a `controller` it
    follows what the run has counted, at each `epoch`: a file of `pyorch/controller`.
    """

    delay_ps: TimePs = Field(alias="delay")
    step_ps: TimePs = Field(0, alias="step")
    epoch_ps: TimePs = Field(0, alias="epoch")
    away: list[Away] = []
    controller: Annotated[Looking | None, BeforeValidator(_settle)] = None

    @model_validator(mode="after")
    def _comes_back(self) -> "Controller":
        for index, away in enumerate(self.away):
            if away.end_ps <= away.start_ps:
                start, end = (format_exact(t, TIME) for t in (away.start_ps, away.end_ps))
                raise FieldError(
                    f"control.away.{index}.to", f"{end} is not later than `from`, {start}."
                    " Write a later time.",
                )  # fmt: skip
        told_ps = self.delay_ps + 2 * self.step_ps
        if self.controller and self.epoch_ps < max(1, told_ps):
            raise FieldError(
                "control.epoch", f"{format_exact(self.epoch_ps, TIME)}: a plan is told in full"
                f" before the next is made. Write at least delay and two steps,"
                f" {format_exact(told_ps, TIME)}.",
            )  # fmt: skip
        return self


def check_profile(where: str, demand: Demand, control: Controller | None) -> None:
    """Raise FieldError for a demand that changes where nobody follows it, or out of order."""
    if demand.profile and not (control and control.controller):
        raise FieldError(
            f"{where}.profile", "only who looks at the run follows a demand that changes. Write"
            " control: {controller: max_min, epoch: 1 s, delay: 100 ms}.",
        )  # fmt: skip
    for index, (before_ps, change) in enumerate(
        zip([demand.start_ps, *(c.start_ps for c in demand.profile)], demand.profile, strict=False)
    ):
        if change.start_ps <= before_ps:
            raise FieldError(
                f"{where}.profile.{index}.from", f"{format_exact(change.start_ps, TIME)} is not"
                f" after {format_exact(before_ps, TIME)}. Sort the changes, after `start`.",
            )  # fmt: skip
