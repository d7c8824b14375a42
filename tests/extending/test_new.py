# SPDX-License-Identifier: GPL-2.0-only
"""Every kind that `pyorch new` writes works as written, in a copy of the project."""

import pytest

from pyorch.scaffold import KINDS
from pyorch.scaffold.kinds import Module


def test_no_kind_is_left_out():
    from every_kind import FILES, MODULES

    modules = [name for name, kind in KINDS.items() if isinstance(kind, Module)]
    assert [*MODULES] == modules
    assert [*modules, *FILES] == [*KINDS]


@pytest.mark.ns3
@pytest.mark.long
def test_every_kind_works_as_written(copy):
    from every_kind import make_and_use

    before = copy.files()
    make_and_use(copy.run, copy.folder)
    after = copy.files()
    assert {path: after.get(path) for path in before} == before
