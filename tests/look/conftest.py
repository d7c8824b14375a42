# SPDX-License-Identifier: GPL-2.0-only
"""Runs of small scenarios, made once."""

import pytest

import pyorch


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("look")

    def make(text, **values):
        file = folder / f"{text.split()[1]}.yaml"
        file.write_text(text)
        return pyorch.run(file, results=folder / "results", set=values)

    return make
