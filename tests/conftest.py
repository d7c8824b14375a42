# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every test."""

import os
import signal
import sys

import pytest
from hypothesis import settings

# A shell lets its background jobs ignore Ctrl-C, and what they start would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests build is nothing to keep for the next clone of whoever runs them.
os.environ["PYORCH_CACHE"] = "off"
# Nor are their studies to be trusted later.
os.environ["PYORCH_TRUST"] = "1"

# The same examples on every machine; how long one takes says something of the machine alone.
settings.register_profile("same everywhere", derandomize=True, database=None, deadline=None)
settings.load_profile("same everywhere")


@pytest.fixture(scope="module")
def loaded():
    """Runs of a file of tests are made by processes that have loaded everything."""
    from tests import loaded_runs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyorch.api.make", loaded_runs.make)
        patch.setattr("pyorch.cli.run.make", loaded_runs.make)
        yield


def pytest_sessionfinish():
    """End what tests have loaded."""
    if loaded_runs := sys.modules.get("tests.loaded_runs"):
        loaded_runs.end()
