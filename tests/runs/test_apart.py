# SPDX-License-Identifier: GPL-2.0-only
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pyorch.simulate import process


def sleeping(words: str) -> list[str]:
    return [sys.executable, "-c", f"import signal, time; {words}; time.sleep(60)"]


def interrupted(command: list[str]) -> int:
    """Return what `wait` says of a process after Ctrl-C that only the one who waits has heard."""
    started = process.start(command)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        return process.wait(started)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "words", ["pass", "signal.signal(signal.SIGTERM, lambda *_: exit(143))"], ids=["dies", "says"]
)
def test_who_ends_by_ctrl_c_only_when_told_to_has_ended_by_ctrl_c(words):
    assert interrupted(sleeping(words)) == 130


def test_ctrl_c_while_a_run_imports_is_an_answer_and_no_traceback():
    for wait_s in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        run = process.start(
            [sys.executable, "-P", "-m", "pyorch.runs.apart"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(wait_s)
        os.kill(run.pid, signal.SIGINT)  # it waits for its request, or has not begun to
        said, complaints = run.communicate(timeout=60)
        assert (json.loads(said)["status"], complaints) == (130, b""), wait_s
        assert run.returncode == 0
