# SPDX-License-Identifier: GPL-2.0-only
"""Over a hundred bad inputs of somebody who has read the documentation: each has its one line."""

import copy
import json
import os
import shutil

import malformed
import pytest
import yaml
from by_hand import BASE, CASES

import pyorch
import pyorch.training.goal
from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3  # attributes are those of the built modules


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return a finished run of BASE, and with it import what a run imports."""
    return pyorch.run(BASE, results=tmp_path_factory.mktemp("done"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_has_one_line_that_says_what_is_wrong(case, done, tmp_path, monkeypatch):
    if case.call:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(PyorchError) as caught:
            eval(case.call, {"pyorch": pyorch, "base": BASE, "one": done})
        said = str(caught.value)
        assert [part for part in case.says if part not in said] == [], said
        assert len(said.splitlines()) == 1 and os.listdir(tmp_path) == []
        return
    files = {"small.yaml": scenario(case)} | {
        name: os.mkfifo if content is None else content for name, content in case.files.items()
    }
    if case.edit:
        files["DONE"] = lambda folder: edited(done.folder, *case.edit, folder=folder)
    given = malformed.Case(case.name, case.command, files, case.says)
    assert not malformed.verdict(given, malformed.run(given))


def scenario(case):
    """Return the text of a case's scenario."""
    if case.text is not None:
        return case.text
    given = copy.deepcopy(BASE)
    for path, value in case.change.items():
        *above, last = (int(word) if word.isdigit() else word for word in path.split("."))
        inner = given
        for key in above:
            inner = inner[key] if isinstance(key, int) else inner.setdefault(key, {})
        inner[last] = copy.deepcopy(value)
    return yaml.safe_dump(given, sort_keys=False)


def edited(run, file, *change, folder):
    """Make `folder` a copy of a run, one of whose files is text, or has another value at a key."""
    shutil.copytree(run, folder)
    if len(change) == 1:
        (folder / file).write_text(*change)
        return
    at, new = change
    data = json.loads((folder / file).read_text())
    *above, last = at.split(".")
    inner = data
    for key in above:
        inner = inner[key]
    inner[last] = json.loads(new)
    (folder / file).write_text(json.dumps(data))
