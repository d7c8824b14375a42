# SPDX-License-Identifier: GPL-2.0-only
"""A result is there whole or not at all."""

import hashlib
import json

import numpy as np
import pytest

from pyorch.simulate import results

TABLES = {"flows": {"flow": np.array([3, 5]), "start_ps": np.array([0, -1])}, "ports": {}}


def test_columns_are_named_by_table_and_counted_in_the_manifest(tmp_path):
    results.save(tmp_path, TABLES, {"stop_reason": "stop time"})

    raw = np.load(tmp_path / "raw.npz")
    assert {key: raw[key].tolist() for key in raw.files} == {
        "flows.flow": [3, 5],
        "flows.start_ps": [0, -1],
    }
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest == {
        "stop_reason": "stop time",
        "raw_sha256": hashlib.sha256((tmp_path / "raw.npz").read_bytes()).hexdigest(),
        "tables": {
            "flows": {"rows": 2, "columns": {"flow": "int64", "start_ps": "int64"}},
            "ports": {"rows": 0, "columns": {}},
        },
    }


def test_the_same_columns_are_the_same_bytes_on_another_day(tmp_path, monkeypatch):
    results.save(tmp_path, TABLES, {})
    first = (tmp_path / "raw.npz").read_bytes()
    monkeypatch.setattr("time.localtime", lambda *_: (2001, 2, 3, 4, 5, 6, 0, 34, 0))
    monkeypatch.setattr("time.time", lambda: 981_173_106.0)
    results.save(tmp_path, TABLES, {})

    assert (tmp_path / "raw.npz").read_bytes() == first


def test_an_old_manifest_never_stands_beside_new_columns(tmp_path, monkeypatch):
    results.save(tmp_path, TABLES, {})

    def fail(path, write):
        raise OSError("disk full")

    monkeypatch.setattr(results, "write_atomically", fail)
    with pytest.raises(OSError, match="disk full"):
        results.save(tmp_path, TABLES, {})

    assert not (tmp_path / "manifest.json").exists()
