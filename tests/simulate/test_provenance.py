# SPDX-License-Identifier: GPL-2.0-only
"""A provenance says how to repeat a run and names no machine."""

import json
import platform
import socket
import subprocess

from pyorch import built
from pyorch.simulate import loader, provenance


def test_nothing_names_the_machine_or_its_folders(tmp_path, monkeypatch):
    library = loader.Loaded(tmp_path / "libx.so", "2d71", (1, 2))
    monkeypatch.setattr(loader, "loaded", {"libx.so": library})
    # Names that no word of a provenance can hold, whoever runs the tests, and where.
    names = {"LOGNAME": "zq7login", "USER": "zq7login", "HOSTNAME": "zq7host"}
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(platform, "node", lambda: "zq7host")
    monkeypatch.setattr(socket, "gethostname", lambda: "zq7host")

    text = json.dumps(provenance.describe(seed=1))

    for private in ("zq7", str(tmp_path), str(built.REPOSITORY)):
        assert private not in text


def test_the_facts_of_the_run_and_of_its_parts_are_there(tmp_path, monkeypatch):
    library = loader.Loaded(tmp_path / "libx.so", "2d71", (1, 2))
    monkeypatch.setattr(loader, "loaded", {"libx.so": library})

    facts = provenance.describe(seed=3, events=7)

    assert (facts["seed"], facts["events"]) == (3, 7)
    assert facts["libraries_sha256"] == {"libx.so": "2d71"}
    assert facts["peak_memory_bytes"] > 10**7
    assert set(facts["versions"]) == {"pyorch", "python", "ns3", "cppyy", "numpy"}


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(built, "REPOSITORY", tmp_path)

    assert provenance.git_commit() is None


def test_an_edited_repository_says_so(tmp_path, monkeypatch):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    git("init", "--quiet")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "--quiet", "--message", "one")
    monkeypatch.setattr(built, "REPOSITORY", tmp_path)
    clean = provenance.git_commit()
    (tmp_path / "file").write_text("2")

    assert len(clean) == 40
    assert provenance.git_commit() == f"{clean}-dirty"


def test_the_age_of_a_process_grows_with_the_clock():
    assert 0 < provenance.process_age_s() < provenance.process_age_s()
