# SPDX-License-Identifier: GPL-2.0-only
"""All that touches the insides of Snakemake, which promise nothing; guarded, so they may change."""

import atexit
import functools
import inspect
import logging
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from pyorch.errors import OutputError
from pyorch.workflow import events, slurm

#: Options with which Snakemake does something else than to run jobs.
OTHER_MODES = (
    "dryrun", "touch", "lint", "list_target_rules", "list_rules", "print_compilation",
    "containerize", "generate_unit_tests", "dag", "rulegraph", "filegraph", "d3dag", "unlock",
    "cleanup_metadata", "conda_cleanup_envs", "conda_create_envs_only", "list_conda_envs",
    "cleanup_shadow", "container_cleanup_images", "list_changes", "list_input_changes",
    "list_params_changes", "list_untracked", "summary", "detailed_summary", "archive",
    "delete_all_output", "delete_temp_output",
)  # fmt: skip

#: A line says how far the jobs are at most so often [s].
SHOW_S = 10

#: Files of a job that are named.
MOST_FILES = 12

_log = logging.getLogger(__name__)


def _options() -> dict:
    """Return the options of the Snakemake that reads the Snakefile now; nothing if unknown.

    Snakemake tells them to no Snakefile, so the call that has parsed the command line is asked.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "args_to_api":
        frame = frame.f_back
    return vars(frame.f_locals["args"]) if frame is not None else {}


def will_run_jobs() -> bool:
    """Whether the Snakemake that reads the Snakefile now has been asked to run jobs.

    A dry run, ``--list``, ``--report``, ``--unlock`` and the like have not. Where that is not known
    the answer is no, and nothing is built, removed or waited for.
    """
    options = _options() or {"dryrun": True}
    reports = options.get("reporter") and not options.get("report_after_run")
    return not reports and not any(options.get(name) for name in OTHER_MODES)


def cores() -> int | None:
    """Return how many cores, or jobs on other machines, there may be at a time; None: unknown."""
    options = _options()
    if not runs_here():
        jobs = str(options.get("jobs") or "")
        return int(jobs) if jobs.isdecimal() else None
    said = str(options.get("cores") or "")
    is_default = options.get("dryrun") and said == "1"  # what Snakemake sets if nothing is given
    return int(said) if said.isdecimal() and not is_default else None


def runs_here() -> bool:
    """Whether its jobs run on this machine: ``workflow.local_exec`` is always true at this time."""
    return _options().get("executor") in (None, "local", "dryrun", "touch")


def check_queue() -> None:
    """Raise OutputError if the queue to which jobs go would not answer."""
    options = _options()
    if options.get("executor") == "slurm":
        given = options.get("slurm_status_command")  # a mark of its own where nothing is
        slurm.check(given if isinstance(given, str) else "")


def shares_files(workflow) -> bool:
    """Whether jobs on other machines see the files of this folder (``--shared-fs-usage``).

    Some executors, as that of Kubernetes, say that there is no such thing, but not at this time.
    """
    shared = {str(use.item_to_choice()) for use in workflow.storage_settings.shared_fs_usage}
    return "input-output" in shared and (runs_here() or not _is_apart(_options()["executor"]))


def _is_apart(executor: str) -> bool:
    from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

    return ExecutorPluginRegistry().get_plugin(executor).common_settings.implies_no_shared_fs


def keep_here(workflow, rule: str, folder: str) -> None:
    """Let one rule alone go to other machines, and only files of one folder lie in the storage.

    Where nothing is shared Snakemake has all files in its default storage, results as well, and
    stages each one for each job.

    Parameters
    ----------
    workflow
        Of Snakemake.
    rule, folder : str
        Of this rule inputs and outputs lie in this folder.

    Raises
    ------
    PyorchError
        This Snakemake cannot be told so.
    """
    modifier = workflow.modifier.path_modifier
    if not hasattr(modifier, "apply_default_storage") or not hasattr(workflow, "is_local"):
        raise OutputError("this Snakemake has another storage: its machines have to share files.")
    if workflow.storage_settings.default_storage_provider is None:
        raise OutputError(
            "--shared-fs-usage: machines that share no files need a storage. Add"
            " --default-storage-provider and --default-storage-prefix."
        )
    into_storage = modifier.apply_default_storage

    def apply_default_storage(path: Any) -> Any:
        return into_storage(path) if str(path).startswith(f"{folder}/") else path

    modifier.apply_default_storage = apply_default_storage
    workflow.is_local = lambda one: workflow.local_exec or one.name != rule


def asked_rule() -> str:
    """Return the rule of which this Snakemake makes one job, for another one; nothing if none."""
    targets = _options().get("target_jobs") or [None]
    return getattr(targets[0], "rulename", "")


def leave_alone(is_one: Callable[[str], bool], job: Any = None, persistence: Any = None) -> None:
    """Let Snakemake neither remove what a chunk of runs has made, nor write down what made it.

    Whether a run is finished is said by its manifest. Of a chunk that fails or is begun again, runs
    are finished; and what Snakemake writes down, a dozen files for each run, would tell it to make
    a run again where another rule has it. Without these methods nothing is changed.

    Parameters
    ----------
    is_one : callable
        Whether a rule of this name makes a chunk.
    job, persistence : type, optional
        Classes whose methods are replaced; those that Snakemake uses by default.
    """
    job, persistence = job or _job(), persistence or _persistence()
    #: Methods, and which of their arguments is the job.
    ours = [(job, name, 0) for name in ("cleanup", "remove_existing_output")]
    ours += [(persistence, name, 1) for name in ("started", "finished")]
    if not all(hasattr(kind, name) for kind, name, _ in ours):
        _log.info("This Snakemake has other jobs: runs of a job that fails may be made again.")
        return
    for kind, name, which in ours:
        setattr(kind, name, _but_for(is_one, getattr(kind, name), which))


def _but_for(is_one: Callable[[str], bool], method: Callable, which: int) -> Callable:
    """Return a method that does nothing for some jobs; the job is one of its arguments."""

    @functools.wraps(method)
    def call(*given: Any, **named: Any) -> Any:
        return None if is_one(given[which].rule.name) else method(*given, **named)

    @functools.wraps(method)
    async def call_async(*given: Any, **named: Any) -> Any:
        return None if is_one(given[which].rule.name) else await method(*given, **named)

    return call_async if inspect.iscoroutinefunction(method) else call


def _job() -> Any:
    """Return Snakemake's class of one job, if it is where it was."""
    try:
        from snakemake.jobs import Job
    except ImportError:
        return None
    return Job


def _scheduler() -> Any:
    """Return Snakemake's class that picks the next jobs, if it is where it was."""
    try:
        from snakemake.scheduling.job_scheduler import JobScheduler
    except ImportError:
        return None
    return JobScheduler


def keep_one_timer(scheduler: Any = None) -> None:
    """Let Snakemake's scheduler wait for one timer at a time, in place of one per finished job.

    Its rounds go over all jobs that are ready. Each starts a timer for another round in a second,
    and each finished job starts a round, so with n finished jobs there are n rounds a second: the
    CPU time of a workflow grows with the square of its jobs. Seen in Snakemake 9.27; of 300 jobs of
    0.3 s this takes away half of all CPU time. Without that method nothing is changed.
    """
    scheduler = scheduler or _scheduler()
    if not hasattr(scheduler, "_schedule_reevalutation"):
        _log.info("This Snakemake has another scheduler: many short jobs may cost more time.")
        return

    def look_again_after(self, delay_s: float) -> None:
        def look_again() -> None:
            self.waits_for_timer = False
            self._open_jobs.release()

        if not getattr(self, "waits_for_timer", False):
            self.waits_for_timer = True
            threading.Timer(delay_s, look_again).start()

    scheduler._schedule_reevalutation = look_again_after


def look_and_lock_at_once(
    turn: Callable[[], AbstractContextManager], persistence: Any = None
) -> None:
    """Let one Snakemake at a time look for the locks of others and write its own.

    Snakemake looks, then writes, and who ends removes the locks of all: two that are started
    together see none, make the same files and both fail. Seen in Snakemake 9.27. Without these
    methods nothing is changed.

    Parameters
    ----------
    turn : callable
        Gives a context that only one process of the folder is in.
    persistence : type, optional
        Snakemake's class whose ``lock()`` is replaced; the one that it uses by default.
    """
    persistence = persistence or _persistence()
    if not all(hasattr(persistence, name) for name in ("lock", "locked", "_write_locks")):
        _log.info("This Snakemake has other locks: start one at a time for the same files.")
        return

    from snakemake.exceptions import WorkflowError

    @contextmanager
    def lock(self) -> Iterator[None]:
        with turn():
            if self.locked:
                events.tell({"refused": True})
                raise WorkflowError(
                    f"{Path.cwd()}: another Snakemake is making some of the same files. Start this"
                    " again when it has ended; what it has made is used."
                )
            Path(self._lockdir).mkdir(exist_ok=True)
            self._write_locks("input", map(str, self.all_inputfiles()))
            self._write_locks("output", map(str, self.all_outputfiles()))
        try:
            yield
        finally:
            for file in self._lockfile.values():
                Path(file).unlink(missing_ok=True)
            self._lockfile.clear()

    persistence.lock = lock


def _persistence() -> Any:
    """Return Snakemake's class that locks with files, if it is where it was."""
    try:
        from snakemake.persistence.file import FilePersistence
    except ImportError:
        return None
    return FilePersistence


def name_few_files() -> None:
    """Let Snakemake's lines on a job name some of its files: a chunk or a metric has thousands."""
    logging.getLogger("snakemake.logging").addFilter(_few_files)


def _few_files(record: logging.LogRecord) -> bool:
    for name in ("input", "output"):
        paths = getattr(record, name, None)
        if isinstance(paths, list | tuple) and len(paths) > MOST_FILES:
            setattr(record, name, [*paths[:MOST_FILES], f"and {len(paths) - MOST_FILES} more"])
    return True


class _Teller(logging.Handler):
    """Hands on what Snakemake logs of its jobs, in words of our own.

    ``{"jobs": {rule: count}}``, ``{"job": id, "rule": name, "wildcards": {...}}``, ``{"started":
    [ids]}``, ``{"finished": id}``, ``{"failed": id}``; and ``{"refused": true}`` of the whole.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write the event of a record, if it is one of those above; a display may never harm."""
        with suppress(Exception):
            told = _event(str(getattr(record, "event", "") or ""), vars(record))
            if told:
                events.tell(told)


def _event(kind: str, said: dict) -> dict | None:
    kind = kind.rpartition(".")[2].lower()
    if kind == "run_info":
        return {"jobs": said["stats"]}
    if kind == "job_info":
        wildcards = {str(k): str(v) for k, v in dict(said["wildcards"] or {}).items()}
        return {"job": said["jobid"], "rule": said["rule_name"], "wildcards": wildcards}
    if kind == "job_started":
        return {"started": list(said["jobs"])}
    if kind == "job_finished":
        return {"finished": said["job_id"]}
    return {"failed": said["jobid"]} if kind == "job_error" else None


def tell_events() -> bool:
    """Tell the process that has started this Snakemake what happens; return whether one listens."""
    if events.listen():
        logging.getLogger("snakemake.logging").addHandler(_Teller(logging.INFO))
        return True
    return False


class _Shower(logging.Handler):
    """Says on the screen how long the jobs may take before they begin, and now and then how far."""

    def __init__(
        self, begin: Callable[[Mapping[str, int]], events.Progress], is_dry: Callable[[], bool]
    ):
        super().__init__(logging.INFO)
        self._begin, self._is_dry = begin, is_dry
        self._progress: events.Progress | None = None
        self._shown_s = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Take the event of a record, if it is one of those above; a display may never harm."""
        with suppress(Exception):
            if told := _event(str(getattr(record, "event", "") or ""), vars(record)):
                self._take(told)

    def _take(self, told: dict) -> None:
        if "jobs" in told and self._progress is None:
            self._progress = self._begin(told["jobs"])
            if self._is_dry():  # a list of all jobs follows, so last
                atexit.register(self._say, self._progress.estimate)
            else:
                self._say(self._progress.estimate)
        if self._progress is not None:
            self._progress.tell(told)
            is_news = "finished" in told or "failed" in told
            if is_news and time.monotonic() - self._shown_s >= SHOW_S:
                self._say(events.line(self._progress))

    def _say(self, text: str) -> None:
        self._shown_s = time.monotonic()
        print(f"pyorch: {text}", file=sys.stderr, flush=True)


def show_progress(
    workflow,
    begin: Callable[[Collection[str], Collection[str], Mapping[str, int]], events.Progress],
    chunks: Mapping[str, list[str]],
) -> None:
    """Say on the screen how long the jobs may take before they begin, and now and then how far.

    Parameters
    ----------
    workflow
        Of Snakemake.
    begin : callable
        Is given the folders of all runs that are asked for, those of the runs that are due, and how
        many jobs each rule has; returns the progress at the beginning.
    chunks : mapping
        Folders of the runs of each rule that makes several.
    """

    def with_runs(counts: Mapping[str, int]) -> events.Progress:
        asked, due = (
            {folder for job in jobs for folder in chunks.get(job.rule.name, _folders(job))}
            for jobs in (workflow.dag.jobs, workflow.dag.needrun_jobs())
        )
        progress = begin(asked, due, counts)
        progress.chunks = chunks
        return progress

    logging.getLogger("snakemake.logging").addHandler(_Shower(with_runs, lambda: workflow.dryrun))


def _folders(job) -> list[str]:
    """Return the folder of the run that a job of Snakemake makes; none if it makes none."""
    if job.rule.name != events.RUN_RULE:
        return []
    return [f"{job.wildcards.scenario}/{job.wildcards.run}"]
