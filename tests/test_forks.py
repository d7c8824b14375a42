# SPDX-License-Identifier: GPL-2.0-only
"""A server that forks: each piece of work alone, ended with its client and with the server."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pyorch import forks

SERVER = """\
import os, signal, socket, sys, time
from pyorch import forks

def work(request, answer):
    answer({"pid": os.getpid()})
    if request["do"] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if request["do"] == "raise":
        raise ValueError("a mistake")
    if request["do"] == "wait":
        time.sleep(60)
    return request.get("status", 0)

forks.serve(socket.socket(fileno=int(sys.argv[1])), work)
"""


@pytest.fixture
def server():
    """Return a running server and its address."""
    with forks.listen() as listener:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(listener.fileno())], stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()], stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path(forks.__file__).parents[1])},
        )  # fmt: skip
        address = forks.address_of(listener)
    yield process, address
    process.kill()
    process.wait()
    process.stdin.close()
    process.stderr.close()


def ask(address, **request):
    heard = []
    return forks.ask(address, request, heard.append), heard


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def waiting(address):
    """Return the id of a process that waits, and the thread that has asked for it."""
    heard = []

    def hear():
        try:
            heard.append(forks.ask(address, {"do": "wait"}, heard.append))
        except OSError:
            heard.append("hung up")

    thread = threading.Thread(target=hear)
    thread.start()
    wait_for(lambda: heard)
    return heard[0]["pid"], thread, heard


def test_each_piece_of_work_has_a_process_and_an_exit_status_of_its_own(server):
    _, address = server
    answers = [ask(address, do="it", status=n) for n in (0, 3, 143)]

    assert [status for status, _ in answers] == [0, 3, 143]
    assert len({heard[0]["pid"] for _, heard in answers}) == 3


def test_work_that_crashes_or_raises_leaves_the_server_alive(server):
    _, address = server

    assert ask(address, do="die")[0] == -signal.SIGKILL
    assert ask(address, do="raise")[0] == 1
    assert ask(address, do="it")[0] == 0


def test_who_hangs_up_ends_the_work(server):
    _, address = server
    asking = (
        "import json, socket, sys; s = socket.socket(socket.AF_UNIX);"
        's.connect(chr(0) + sys.argv[1]); s.sendall(b\'{"do": "wait"}\\n\');'
        "print(json.loads(s.makefile('rb').readline())['pid'], flush=True); s.recv(1)"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", asking, address], stdout=subprocess.PIPE, text=True
    )
    pid = int(client.stdout.readline())
    assert not gone(pid)
    client.kill()
    client.wait()
    client.stdout.close()
    wait_for(lambda: gone(pid))


@pytest.mark.parametrize("how", ["its input ends", "kill -9"])
def test_all_work_ends_with_the_server(server, how):
    process, address = server
    pid, thread, heard = waiting(address)
    process.stdin.close() if how == "its input ends" else process.kill()
    wait_for(lambda: gone(pid))
    thread.join(20)

    assert heard[-1] in ("hung up", 143)
    assert process.wait(20) == (0 if how == "its input ends" else -signal.SIGKILL)
