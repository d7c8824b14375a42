# SPDX-License-Identifier: GPL-2.0-only
"""Transports that `pyorch design --packets` knows by name are those of the training scenario."""

import typing
from pathlib import Path

import pytest
import yaml

from pyorch.cli.theory import design
from pyorch.training.packets import TRANSPORTS

SCENARIO = Path(__file__).parents[2] / "scenarios" / "training_step.yaml"
VARIANTS = {
    "sprayed": "sprayed",
    "roce": "rocev2",
    "dcqcn": "rocev2_dcqcn",
    "nscc": "nscc",
    "adaptive": "rocev2_adaptive",
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_named_transport_has_the_values_of_the_scenario(name):
    theirs = yaml.safe_load(SCENARIO.read_text())["variants"][VARIANTS[name]]
    assert {key: value for key, value in TRANSPORTS[name].items() if key != "label"} == {
        key: value for key, value in theirs.items() if key != "label"
    }


def test_the_help_of_design_names_them():
    _, option = typing.get_args(
        typing.get_type_hints(design.choose, include_extras=True)["transport"]
    )
    assert option.help.startswith(f"{', '.join(TRANSPORTS)} or a TypeId")
