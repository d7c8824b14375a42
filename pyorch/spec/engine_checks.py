# SPDX-License-Identifier: GPL-2.0-only
"""Takes a resolved spec, refuses what its section ``engine`` cannot do before anything is run."""

from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Spec


def check_fluid(spec: Spec) -> None:
    """Raise FieldError for what only packets have, if the run is at flow level."""
    if spec.engine.type != "fluid":
        return
    for key, of_packets in (("arrivals", "arrivals"), ("pauses", "pauses"),
                            ("sample_ps", "sample"), ("pcap", "pcap")):  # fmt: skip
        if getattr(spec.trace, key):
            raise FieldError(
                f"trace.{of_packets}",
                "a run of engine fluid has no packets to record. Leave it out, or write"
                " engine: packets.",
            )
    _refuse_losses(spec, "engine fluid loses no frames. Write engine: packets.")
    for index, load in enumerate(spec.workload):
        if getattr(load.params, "admission", "none") != "none":
            raise FieldError(
                f"workload.{index}.admission",
                "engine fluid knows no rate of a flow's own. Write none, or engine: packets.",
            )


def check_skip(spec: Spec) -> None:
    """Raise FieldError for what has no steady state, or is lost with it, if these are skipped."""
    if spec.engine.skip_ppm is None:
        return
    if spec.engine.type == "fluid":
        raise FieldError(
            "engine.skip", "a run of engine fluid has no packets to skip. Leave out one of them."
        )
    for index, load in enumerate(spec.workload):
        if hasattr(load.module, "served"):
            raise FieldError(
                "engine.skip",
                f"workload.{index}, {load.type}, makes its messages as the run goes on, and"
                " engine.skip leaves out parts of the run that decide what follows. Leave out one"
                " of them.",
            )
        if load.controller:
            raise FieldError(
                f"workload.{index}.control.controller",
                "it looks at a run again and again, and engine.skip leaves parts of it out. Leave"
                " out one of them.",
            )
    for index, transport in enumerate(spec.transport):
        if transport.host:
            raise FieldError(
                f"transport.{index}.host",
                "steady states are found only where hosts cost nothing. Leave out host, or"
                " engine.skip.",
            )
    for record in ("arrivals", "pauses", "pcap"):
        if getattr(spec.trace, record):
            raise FieldError(
                f"trace.{record}",
                "it records all that happens, and engine.skip leaves out what happens in a steady"
                " state. Leave out one of them.",
            )
    link = spec.link
    models = [link.loss_model, *(its.loss_model for its in link.classes)]
    _refuse_losses(
        spec, "what is lost now and then is not seen in a steady state, and engine.skip"
        " would leave it out. Leave out one of them.",
    )  # fmt: skip
    for key, loses in (("loss", link.loss_ratio), ("bit_error_ratio", link.bit_error_ratio),
                       ("loss_model", any(models))):  # fmt: skip
        if loses:
            raise FieldError(
                f"link.{key}",
                "what is lost now and then is not seen in a steady state, and engine.skip would"
                " leave it out. Leave out one of them.",
            )


def _refuse_losses(spec: Spec, why: str) -> None:
    """Raise FieldError if a failure loses frames on links that it does not cut."""
    for index, failure in enumerate(spec.failures):
        if getattr(failure.params, "loses", False):
            raise FieldError(f"failures.{index}", why)
