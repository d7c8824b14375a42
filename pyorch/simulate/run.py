# SPDX-License-Identifier: GPL-2.0-only
"""Runs a scenario's Fabric, fills the folder of the run and returns an exit status.

Exit status: 0 done, 1 the scenario is wrong, 3 the simulation aborted, 130 Ctrl-C, 143 SIGTERM.
"""

import argparse
import contextlib
import resource
import runpy
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyorch import built, jobs, origin
from pyorch.errors import PyorchError, SimulationError
from pyorch.simulate import control, loader, provenance, results, serve, stack
from pyorch.simulate import fabric as fabrics
from pyorch.simulate.control import Controller
from pyorch.simulate.fabric import Fabric
from pyorch.simulate.progress import Progress, State, time_text
from pyorch.simulate.serve import Server
from pyorch.writing import expect_room, make_folder

#: The engine returns to Python this often, for Ctrl-C and progress [s].
SLICE_S = 0.2
ABORTED = 3
MOST_THREADS = 1024
#: A run of which one thread executed more alone is told of it [1], if it has taken longer [s].
_SHARED_OUT, _LONG_S = 0.1, 30.0


class Aborted(SimulationError):
    """The engine gave up in the middle: its result may not be used."""


class Terminated(BaseException):
    """SIGTERM arrived."""


class _Clock:
    """Wall and user CPU seconds of one phase after the other."""

    def __init__(self):
        self._last = self._now()

    def lap(self) -> tuple[float, float]:
        """Return wall and user CPU time since the last lap [s]."""
        now = self._now()
        wall_s, cpu_s = (after - before for after, before in zip(now, self._last, strict=True))
        self._last = now
        return wall_s, cpu_s

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime


def main(build: Callable[[], Fabric], arguments: list[str] | None = None) -> None:
    """Run a scenario script from its command line; leaves the process.

    Parameters
    ----------
    build : callable
        Returns the Fabric to run.
    arguments : list of str, optional
        Instead of ``sys.argv[1:]``.
    """
    script = Path(build.__globals__.get("__file__", "scenario"))
    parser = argparse.ArgumentParser(description=build.__globals__.get("__doc__"))
    parser.add_argument(
        "--out", type=Path, default=script.parent, help="folder for the result (this script's)"
    )
    parser.add_argument("--threads", type=int, default=1, help="of the simulation (1)")
    parser.add_argument(
        "--domains", type=int, help="of the network, to compare (chosen by the engine)"
    )
    options = parser.parse_args(arguments)
    if not 1 <= options.threads <= MOST_THREADS:
        parser.error(f"--threads {options.threads}: write 1 to {MOST_THREADS}.")
    sys.exit(_guarded(build, options, built.shown(script.resolve())))


def run_script(script: Path | str, out: Path | str, threads: int = 1) -> int:
    """Run a scenario script as its own command line would; return the exit status."""
    arguments = sys.argv
    sys.argv = [str(script), "--out", str(out), "--threads", str(threads)]
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except PyorchError as error:
        return _complain(f"{script}: {error}", 1)
    finally:
        sys.argv = arguments
    return _complain(f"{script}: it does not call simulate.main(build), so nothing was run.", 1)


def simulate(fabric: Fabric, out: Path, name: str) -> None:
    """Run a fabric to its end and write raw columns, manifest and provenance to a folder.

    Parameters
    ----------
    fabric : Fabric
        What to run, until every flow is done or `stop_ps`.
    out : Path
        Made if it is not there.
    name : str
        Of the run, for progress and warnings.

    Raises
    ------
    PyorchError
        Before the first event: the scenario is wrong. `Aborted`: afterwards.
    """
    make_folder(out)
    expect_room(out, fabric.least_result_bytes())
    clock = _Clock()
    namespace = fabric.load()
    stack.trace(out)
    load_s, _ = clock.lap()
    facade = fabric.build(namespace, out)
    controllers, servers = fabric.controllers(), fabric.servers()
    with _engine_errors(facade, SimulationError):
        for controller in controllers:
            controller.begin(facade)
    for line in fabric.warnings(facade):
        print(f"{name}: warning: {line}", file=sys.stderr)
    build_s, _ = clock.lap()
    start_to_first_event_s = provenance.process_age_s()
    clock.lap()
    _run(facade, fabric, name, controllers, servers)
    run_wall_s, run_cpu_s = clock.lap()

    tables = fabrics.output_columns(facade) | control.tables(controllers)
    tables |= serve.tables(servers)
    outcome = {"engine": fabric.engine_type, **_outcome(facade, fabric.stop_ps)}
    process = {name: int(column[0]) for name, column in tables.pop("process", {}).items()}
    why_one = {"one_domain_because": why} if (why := str(facade.WhyOneDomain())) else {}
    facts = provenance.describe(
        engine=fabric.engine_type,
        **process,
        **why_one,
        not_modelled=fabric.not_modelled(),
        seed=fabric.seed,
        events=int(facade.Events()),
        data_packets=int(facade.DataPackets()),
        simulated_ps=int(facade.NowPs()),
        **_skipped(tables),
        start_to_first_event_s=round(start_to_first_event_s, 6),
        load_s=round(load_s, 6),
        build_s=round(build_s, 6),
        run_wall_s=round(run_wall_s, 6),
        run_cpu_s=round(run_cpu_s, 6),
    )
    # Last, because asking whether anything was left may execute an event after the stop time.
    if not _all_done(outcome):
        outcome["stop_reason"] = _stop_reason(facade)
    loader.check_unchanged()
    origin.check_unedited()
    results.save(out, tables, outcome)
    provenance.save(out, facts)
    for line in _idle_threads(fabric.threads, process, run_wall_s, **why_one):
        print(f"{name}: warning: {line} (docs/threads.md).", file=sys.stderr)
    if not _all_done(outcome):
        print(f"{name}: warning: {_unfinished(outcome, fabric.links_cut())}", file=sys.stderr)


def _idle_threads(
    threads: int,
    process: dict[str, int],
    run_wall_s: float,
    one_domain_because: str = "the network is small",
) -> Iterator[str]:
    """Yield what has kept threads of a run from their work."""
    domains = process.get("domains", 1)
    if threads > domains:
        why = f": {one_domain_because}" if domains == 1 else ""
        s = "s" if domains > 1 else ""
        yield f"{domains} of {threads} threads had work: the run has {domains} domain{s}{why}"
    share = process.get("windows_on_one_thread", 0) / max(process.get("windows", 0), 1)
    if share > _SHARED_OUT and run_wall_s > _LONG_S:
        yield (
            f"one thread executed {share:.0%} of the run: others kept the cores of its {threads}"
            " threads busy, and it was faster alone"
        )


def _run(
    facade, fabric: Fabric, name: str, controllers: list[Controller], servers: list[Server]
) -> None:
    """Run to the end in slices of wall time, showing progress between them."""
    progress = Progress(name)
    packets_total = fabric.data_packets()
    start_s = time.monotonic()
    next_id = fabric.next_id

    def aborting():
        return _engine_errors(
            facade, Aborted,
            lambda: f"the simulation aborted at {time_text(int(facade.NowPs()))}: ",
        )  # fmt: skip

    try:
        while True:
            until_ps = control.until_ps(controllers, fabric.stop_ps)
            with aborting():
                while until_ps >= 0 and not facade.RunSlice(until_ps, SLICE_S):
                    progress.show(_state(facade, packets_total, time.monotonic() - start_s))
            now_ps = int(facade.NowPs())
            if servers and (decided := [int(task) for task in facade.Decided()]):
                begun, next_id = serve.act(servers, now_ps, decided, next_id)
                with aborting():
                    for tables in begun:
                        fabrics.give(facade, tables)
                        facade.Append()
                continue
            if until_ps == fabric.stop_ps or _all_done(_outcome(facade, fabric.stop_ps)):
                break
            facade.Look()
            control.act(controllers, facade, fabrics.output_columns(facade))
        with aborting():
            facade.Finish()
    finally:
        progress.close()


@contextlib.contextmanager
def _engine_errors(facade, kind: type[SimulationError], words: Callable[[], str] = lambda: ""):
    """Raise what C++ throws, which arrives as a class of cppyy's, as an error of ours."""
    try:
        yield
    except Exception as error:
        raise kind(f"{words()}{fabrics.cpp_message(error, facade)}") from None


def _state(facade, packets_total: int, wall_s: float) -> State:
    return State(
        now_ps=int(facade.NowPs()),
        flows_done=int(facade.FlowsDone()),
        flows_total=int(facade.FlowsTotal()),
        packets_done=int(facade.DataPackets()),
        packets_total=packets_total,
        events=int(facade.Events()),
        wall_s=wall_s,
    )


def _skipped(tables: results.Tables) -> dict[str, int]:
    """Return the time and the packets that were skipped; nothing if nobody asked for it."""
    if "skips" not in tables:
        return {}
    skips = tables["skips"]
    return {key: int(skips[key].sum()) for key in ("skipped_ps", "skipped_packets")}


def _outcome(facade, stop_ps: int) -> dict[str, object]:
    return {
        "stop_reason": "all flows done",
        "now_ps": int(facade.NowPs()),
        "stop_ps": stop_ps,
        "flows_total": int(facade.FlowsTotal()),
        "flows_done": int(facade.FlowsDone()),
        **_tasks_done(facade),
    }


def _tasks_done(facade) -> dict[str, int]:
    """Return how many computations and barriers are over; nothing if there are none."""
    total = int(facade.TasksTotal())
    return {"tasks_total": total, "tasks_done": int(facade.TasksDone())} if total else {}


def _all_done(outcome: dict[str, object]) -> bool:
    flows, tasks = ((outcome.get(f"{what}_total", 0), outcome.get(f"{what}_done", 0))
                    for what in ("flows", "tasks"))  # fmt: skip
    return flows[0] == flows[1] and tasks[0] == tasks[1]


def _stop_reason(facade) -> str:
    """Return why flows are unfinished: the engine keeps no time of its own after the last event."""
    if cycle := [int(node) for node in facade.DeadlockCycle()]:
        return "deadlock: " + " -> ".join(map(str, [*cycle, cycle[0]]))
    events = int(facade.Events())  # those of ns-3's own models are not among them
    try:
        nothing_left = facade.RunSlice(fabrics.ENDLESS_PS, 0.0)
    except Exception:  # an event that fails is an event that was left
        nothing_left = False
    return "no events left" if nothing_left and int(facade.Events()) == events else "stop time"


def _unfinished(outcome: dict[str, Any], links_cut: int) -> str:
    what = "flows" if outcome["flows_done"] < outcome["flows_total"] else "tasks"
    left = outcome[f"{what}_total"] - outcome[f"{what}_done"]
    who = f"{left} of {outcome[f'{what}_total']} {what} did not finish"
    if outcome["stop_reason"] == "stop time":
        links = "link is" if links_cut == 1 else "links are"
        what = f"{links_cut} {links} cut at the end" if links_cut else "raise stop"
        return f"{who} by the stop time, {time_text(outcome['stop_ps'])}; {what}."
    if outcome["stop_reason"].startswith("deadlock"):
        return (
            f"{who}: PFC {outcome['stop_reason']}. Each of these switches waits for buffer of the"
            " next. Raising stop will not help; break the cycle of routes, or use no PFC."
        )
    return (
        f"{who}: nothing was left to happen at {time_text(outcome['now_ps'])}."
        " Raising stop will not help; this is a deadlock, or a transport lost its timer."
    )


def _guarded(build: Callable[[], Fabric], options: argparse.Namespace, name: str) -> int:
    """Run; turn everything that may end a run early into one line and an exit status."""
    signal.signal(signal.SIGTERM, _terminate)
    jobs.join()
    origin.watch()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        fabric = build()
        fabric.threads, fabric.domains = options.threads, options.domains
        simulate(fabric, options.out, name)
    except Aborted as error:
        return _complain(f"{name}: {error}", ABORTED)
    except PyorchError as error:
        return _complain(f"{name}: {error}", 1)
    except KeyboardInterrupt:
        return _complain(f"{name}: stopped by Ctrl-C; no result was written.", 130)
    except Terminated:
        return _complain(f"{name}: stopped by SIGTERM; no result was written.", 143)
    return 0


def _terminate(_signal, _frame) -> None:
    raise Terminated


def _complain(message: str, status: int) -> int:
    print(message, file=sys.stderr, flush=True)
    return status
