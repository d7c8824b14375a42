# SPDX-License-Identifier: GPL-2.0-only
"""A server that forks: each piece of work alone, ended with its client and with the server."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from pyorch import forks, sockets

SERVER = """\
import os, signal, socket, sys, time
from pyorch import forks

forks.REQUEST_S = 1.0

def work(request, answer):
    if request["do"] == "be deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    answer({"pid": os.getpid()})
    if request["do"] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if request["do"] == "raise":
        raise ValueError("a mistake")
    if request["do"] in ("wait", "be deaf"):
        time.sleep(6000)
    return request.get("status", 0)

forks.serve(socket.socket(fileno=int(sys.argv[1])), work)
"""


@pytest.fixture
def server(tmp_path):
    """Return a running server and where it listens."""
    path = tmp_path / "socket"
    with sockets.listen(path) as listener:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(listener.fileno())], stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()], stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path(forks.__file__).parents[1])},
        )  # fmt: skip
    yield process, path
    process.kill()
    process.wait()
    process.stdin.close()
    process.stderr.close()


def ask(path, **request):
    heard = []
    return sockets.ask(path, request, heard.append), heard


@contextlib.contextmanager
def connected(path, words=b""):
    """Give a connection to a server that has been sent some words."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.settimeout(30)
        connection.sendall(words)
        yield connection


def state(pid):
    """Return the letter of the state of a process; X if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def gone(pid):
    return state(pid) in "ZX"


def wait_for(condition):
    end = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def begun(connection):
    """Return the id of the process that works for a connection."""
    return json.loads(connection.recv(4096).splitlines()[0])["pid"]


def test_each_piece_of_work_has_a_process_and_an_exit_status_of_its_own(server):
    _, path = server
    answers = [ask(path, do="it", status=n) for n in (0, 3, 143)]

    assert [status for status, _ in answers] == [0, 3, 143]
    assert len({heard[0]["pid"] for _, heard in answers}) == 3


def test_work_that_crashes_or_raises_leaves_the_server_alive(server):
    _, path = server

    assert ask(path, do="die")[0] == -signal.SIGKILL
    assert ask(path, do="raise")[0] == 1
    assert ask(path, do="it")[0] == 0


@pytest.mark.parametrize("do", ["wait", "be deaf"])
def test_who_hangs_up_ends_the_work(server, do):
    process, path = server
    with connected(path, json.dumps({"do": do}).encode() + b"\n") as client:
        pid = begun(client)
        assert not gone(pid)
    wait_for(lambda: gone(pid))
    assert ask(path, do="it")[0] == 0 and process.poll() is None


@pytest.mark.parametrize("ends_first", [True, False])
def test_work_that_ends_while_its_client_hangs_up_harms_no_other(server, ends_first):
    # The server is stopped meanwhile, so both are in one round of events, in either order.
    process, path = server
    with connected(path, b'{"do": "wait"}\n') as other:
        with connected(path, b'{"do": "wait"}\n') as client:
            pid, others = begun(client), begun(other)
            process.send_signal(signal.SIGSTOP)
            wait_for(lambda: state(process.pid) == "T")
            if not ends_first:
                client.close()
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: state(pid) == "Z")  # the server has not asked for its status
        process.send_signal(signal.SIGCONT)
        assert ask(path, do="it")[0] == 0
        assert not gone(others) and process.poll() is None


@pytest.mark.parametrize("do", ["wait", "be deaf"])
@pytest.mark.parametrize("how", ["its input ends", "kill -9"])
def test_all_work_ends_with_the_server(server, how, do):
    process, path = server
    with connected(path, json.dumps({"do": do}).encode() + b"\n") as client:
        pid = begun(client)
        process.stdin.close() if how == "its input ends" else process.kill()
        wait_for(lambda: gone(pid))
        assert process.wait(60) == (0 if how == "its input ends" else -signal.SIGKILL)
    with pytest.raises(sockets.Nobody):
        ask(path, do="it")


def test_who_loses_the_server_is_told(server):
    process, path = server
    heard = []

    def hear(said):
        heard.append(said)
        process.kill()

    with pytest.raises(sockets.Lost, match="ended without an answer"):
        sockets.ask(path, {"do": "wait"}, hear)
    wait_for(lambda: gone(heard[0]["pid"]))


STRANGER = """\
import os, socket, sys
os.setgroups([]), os.setgid(65534), os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b'{"do": "it"}\\n')
    print(s.makefile("rb").read())
except (BrokenPipeError, ConnectionResetError):  # it hangs up before or after the request
    print(b"")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_stranger_is_not_heard(tmp_path):
    # The folder is what keeps strangers out; with a folder and a socket open to all they are asked
    # who they are.
    folder = sockets.own_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    with tempfile.TemporaryDirectory(dir="/tmp") as public:  # a folder of pytest is not public
        os.chmod(public, 0o755)
        path = Path(public, "socket")
        with sockets.listen(path) as listener:
            path.chmod(0o777)
            command = [sys.executable, "-c", SERVER, str(listener.fileno())]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()],
                env=os.environ | {"PYTHONPATH": str(Path(forks.__file__).parents[1])},
            )  # fmt: skip
        # The system's Python: a stranger may not be able to read ours.
        said = subprocess.run(
            ["/usr/bin/python3", "-c", STRANGER, str(path)], capture_output=True, text=True,
            cwd="/", check=True,
        )  # fmt: skip
        assert said.stdout == "b''\n"
        assert ask(path, do="it")[0] == 0
        process.communicate()


def test_a_request_that_is_too_long_is_not_kept(server):
    process, path = server
    with connected(path) as client, contextlib.suppress(ConnectionError):
        for _ in range(64):
            client.sendall(b"x" * forks.MOST_BYTES)
        raise AssertionError("the server has taken 64 times what it may")
    assert ask(path, do="it")[0] == 0
    # As long as allowed, in two pieces.
    request = json.dumps({"do": "it", "more": ""}).encode()
    request = request[:-2] + b"x" * (forks.MOST_BYTES - len(request) - 1) + request[-2:] + b"\n"
    assert len(request) == forks.MOST_BYTES
    with connected(path, request[:100]) as client:
        client.sendall(request[100:])
        assert client.makefile("rb").read().endswith(b'{"status": 0}\n')
    assert process.poll() is None


@pytest.mark.parametrize("words", [b"", b'{"do": "it"'])
def test_a_request_that_does_not_end_is_given_up(server, words):
    _, path = server
    with connected(path, words) as client:
        assert client.recv(1) == b""  # within the timeout of this connection
    assert ask(path, do="it")[0] == 0


def test_a_socket_may_lie_deeper_than_an_address_is_long(tmp_path):
    folder = tmp_path.joinpath(*["deep" * 10] * 8)
    folder.mkdir(parents=True)
    with sockets.listen(folder / "socket") as listener, socket.socket(socket.AF_UNIX) as plain:
        with pytest.raises(OSError, match="too long"):
            plain.connect(str(folder / "socket"))
        asked = threading.Thread(target=sockets.ask, args=(folder / "socket", {"do": "it"}))
        asked.start()
        connection, _ = listener.accept()
        with connection:
            assert json.loads(connection.recv(4096)) == {"do": "it"}
            connection.sendall(b'{"status": 0}\n')
        asked.join()


def test_folders_of_the_dead_are_removed_and_nothing_else(tmp_path):
    holding = (
        "import sys; from pathlib import Path; from pyorch import sockets;"
        "folder = sockets.own_folder(Path(sys.argv[1])); sockets.listen(folder / 'socket');"
        "print(folder, flush=True); sys.stdin.read()"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", holding, tmp_path], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    dead, living = (Path(process.stdout.readline().strip()) for process in processes)
    (tmp_path / "socket-of-another-program").mkdir()
    processes[0].kill()
    processes[0].communicate()
    ours = sockets.own_folder(tmp_path)

    assert sorted(tmp_path.iterdir()) == sorted(
        [ours, living, tmp_path / "socket-of-another-program"]
    )
    assert (living / "socket").exists() and not dead.exists()
    processes[1].communicate()
