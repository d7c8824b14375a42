# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every test."""

import os
import signal

import pytest
from hypothesis import settings

# A shell lets its background jobs ignore Ctrl-C, and what they start would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests build is nothing to keep for the next clone of whoever runs them.
os.environ["PYORCH_CACHE"] = "off"

# The same examples on every machine; how long one takes says something of the machine alone.
settings.register_profile("same everywhere", derandomize=True, database=None, deadline=None)
settings.load_profile("same everywhere")


@pytest.fixture(scope="session")
def loaded_engine(tmp_path_factory):
    """A process that has loaded the engine."""
    from tests.loaded_runs import Loaded

    runs = Loaded(tmp_path_factory.mktemp("engine"))
    yield runs
    runs.end()


@pytest.fixture(scope="module")
def loaded(loaded_engine):
    """Runs of a file of tests are made by processes that have loaded everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyorch.api.make", loaded_engine.make)
        patch.setattr("pyorch.cli.run.make", loaded_engine.make)
        yield
