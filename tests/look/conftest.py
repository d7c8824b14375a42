# SPDX-License-Identifier: GPL-2.0-only
"""Runs of small scenarios, made once."""

import pytest

from tests.look.small_runs import maker


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return maker(tmp_path_factory.mktemp("look"))
