# SPDX-License-Identifier: GPL-2.0-only
"""A Slurm of one node on this machine, from Debian's packages: start, stop, look.

    sudo apt-get install --yes --no-install-recommends slurmctld slurmd slurm-client

It has no accounting and no cgroups; memory is watched once a second, and a job that takes more than
it asked for is killed.
"""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

CONFIG = Path("/etc/slurm/slurm.conf")  # job steps look nowhere else
STATE = Path("/tmp/pyorch-slurm")
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
MARK = "# Written by the tests of pyorch; may be deleted.\n"
_CONFIG = """\
ClusterName=pyorch
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
ReturnToService=2
JobRequeue=1
SchedulerParameters=sched_interval=2,batch_sched_delay=0
KillWait=2
MinJobAge=600
StateSaveLocation={state}/ctld
SlurmdSpoolDir={state}/d
SlurmctldPidFile={state}/slurmctld.pid
SlurmdPidFile={state}/slurmd.pid
SlurmctldLogFile={state}/slurmctld.log
SlurmdLogFile={state}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory_mb} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def lacking() -> str:
    """Return why there can be no cluster here; nothing if there can."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)}: apt-get install slurmctld slurmd slurm-client"
    if os.geteuid() != 0:
        return "its daemons are started as root"
    if CONFIG.exists() and not CONFIG.read_text().startswith(MARK):
        return f"{CONFIG} is there and is not ours"
    return ""


def start() -> None:
    """Write the configuration, start both daemons, wait until the node is idle."""
    shutil.rmtree(STATE, ignore_errors=True)
    for folder in (STATE / "ctld", STATE / "d", CONFIG.parent):
        folder.mkdir(parents=True, exist_ok=True)
    host = socket.gethostname().partition(".")[0]
    memory_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20 * 8 // 10
    # What slurmd counts itself: on a virtual machine that is not always what Python counts.
    counted = subprocess.run(["slurmd", "-C"], capture_output=True, text=True).stdout.split()
    cpus = dict(word.split("=", 1) for word in counted if "=" in word).get("CPUs", "1")
    CONFIG.write_text(MARK + _CONFIG.format(host=host, state=STATE, cpus=cpus, memory_mb=memory_mb))
    for daemon in ("slurmctld", "slurmd"):
        subprocess.run([daemon], check=True)
    end_s = time.monotonic() + 60
    while "idle" not in said("sinfo", "--noheader", "--format=%t"):
        if time.monotonic() > end_s:
            logs = [(STATE / f"{name}.log").read_text()[-2000:] for name in ("slurmctld", "slurmd")]
            raise RuntimeError("\n".join(["the node does not become idle", *logs]))
        time.sleep(0.2)


def stop() -> None:
    """End all jobs and both daemons, by the ids that they have written, and tidy up."""
    subprocess.run(["scancel", "--user=root"], capture_output=True)
    for name in ("slurmctld", "slurmd"):
        path = STATE / f"{name}.pid"
        if path.exists():
            os.kill(int(path.read_text()), 15)
    time.sleep(1)
    CONFIG.unlink(missing_ok=True)
    shutil.rmtree(STATE, ignore_errors=True)


def said(*command: str) -> str:
    """Return what a command of Slurm says."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def jobs(state: str = "RUNNING") -> dict[str, str]:
    """Return the comment, which names what runs, of each job in a state, by id."""
    rows = said("squeue", "--noheader", f"--states={state}", "--format=%i|%k|%j").splitlines()
    return {row.split("|")[0]: row for row in rows}
