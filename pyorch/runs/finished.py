# SPDX-License-Identifier: GPL-2.0-only
"""Whether the folder of a run holds its result, made by what would make it now.

There is no other notion of it: the command line, Python and Snakemake all ask here.
"""

import hashlib
from pathlib import Path

from pyorch import built, origin, traces
from pyorch.errors import PyorchError
from pyorch.simulate import provenance
from pyorch.spec.files import without_paths
from pyorch.spec.plan import canonical
from pyorch.spec.resolved import Spec
from pyorch.traces import manifest

#: Steps of a run: what they import makes its result, beside plug-ins and data.
STEPS = ("pyorch.render", "pyorch.simulate", "pyorch.traces")

#: Why most runs are run.
NOT_THERE = "it is not finished"


def is_finished(spec: Spec, folder: Path | str) -> bool:
    """Return whether a run need not be run again."""
    return not why_again(spec, folder)


def why_again(spec: Spec, folder: Path | str) -> str:
    """Return why a run has to be run; nothing if its result is there.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    folder : path
        Of the run.
    """
    if not manifest.looks_whole(folder):
        return NOT_THERE
    if manifest.read(folder).get("spec_sha256") != digest_of_spec(spec):
        return "its folder holds another run"
    return why_outdated(folder)


def why_outdated(folder: Path | str) -> str:
    """Return what has changed since a finished run was made; nothing if it would be the same."""
    try:
        recorded = traces.read_provenance(folder)
    except PyorchError as error:
        return str(error)
    if not recorded.get("code_sha256"):
        return "nobody has noted which code made it"
    if changed := origin.current(recorded["code_sha256"]):
        return f"{changed} has changed"
    for name, digest in recorded["libraries_sha256"].items():
        if not _is_current(name, digest):
            return f"{name} was built anew"
    now = provenance.package_versions()
    others = (name for name, version in now.items() if recorded["versions"].get(name) != version)
    return next((f"{name} is of another version" for name in others), "")


def digest_of_spec(spec: Spec) -> str:
    """Return the digest of a resolved spec; of a file that it names counts the content."""
    return hashlib.sha256(canonical(without_paths(spec.plain())).encode()).hexdigest()


def seal(spec: Spec, folder: Path) -> None:
    """Add what made a run to its provenance, then name its files in its manifest.

    Raises
    ------
    PyorchError
        A file of pyorch was edited while the run was going.
    """
    facts = traces.read_provenance(folder)
    paths = origin.files([*STEPS, *origin.used(), *facts.pop("used", [])])
    facts["code_sha256"] = origin.digests(paths)
    made_by = [facts["code_sha256"], facts["libraries_sha256"]]
    facts["made_by_sha256"] = origin.combined_digest([*made_by, provenance.package_versions()])
    provenance.save(folder, facts)
    manifest.seal(folder, spec_sha256=digest_of_spec(spec))


def _is_current(name: str, digest: str) -> bool:
    """Return whether a library of ours still has these bytes; one of the wheel is its version's."""
    path = built.here().libraries / name
    return origin.digest_of(path) == digest if path.exists() else name.startswith("libns3.")
