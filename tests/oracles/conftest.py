# SPDX-License-Identifier: GPL-2.0-only
"""Let the oracles import the helpers that lie beside them, and make their runs without loading."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def loaded(tmp_path_factory):
    from loaded_runs import Loaded

    runs = Loaded(tmp_path_factory.mktemp("engine"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyorch.api.make", runs.make)
        patch.setattr("pyorch.cli.run.make", runs.make)
        yield
    runs.end()
