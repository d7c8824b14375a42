# SPDX-License-Identifier: GPL-2.0-only
"""Takes a scenario and a scale, returns its runs: one resolved spec for each point, named by hash.

A run's name comes from everything that decides its result and nothing else, so a comment in the
YAML changes no name and one more seed adds only its own runs.
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyorch.errors import SpecError, did_you_mean, quoted
from pyorch.spec import engine as engines
from pyorch.spec import typeids
from pyorch.spec.files import without_paths
from pyorch.spec.network import Network
from pyorch.spec.planning import PLANNING_KEYS, SCALES, WORDS, Planning, no_such, too_many
from pyorch.spec.resolve import Resolver
from pyorch.spec.resolved import Engine, Spec
from pyorch.spec.scenario import DEFAULT_SCALE, ScenarioFile
from pyorch.spec.yaml_lines import KeyPath
from pyorch.writing import make_folder, write_text

#: Main programs of runs; part of the package, like the code that fills them in.
TEMPLATES = Path(__file__).resolve().parents[1] / "render" / "templates"
#: Around the template of a run that says something of its engine.
ENGINE_TEMPLATE = "engine"
#: Given questions, ``{"parts": types with attributes and roles, "switches": links of switches that
#: have these}``, returns for each what the engine says against its parts or against having them
#: together; "" if nothing.
Refusals = Callable[[list[dict]], list[str]]
#: A scenario, and the parts of it that the engine is asked about, by their key paths.
_Question = tuple[ScenarioFile, dict[KeyPath, dict]]


@dataclass(frozen=True)
class Run:
    """One simulation: its spec, its name, and which point of the scenario it is.

    Attributes
    ----------
    id : str
        ``s<seed>-<10 hex digits of the content hash>``.
    spec : Spec
        Everything that decides its result, in integers with their unit in the name.
    variant, label : str
        Name and label of the variant; both are empty without variants.
    case, case_label : str
        Name and label of the case; both are empty without cases.
    threads : int
        How many the scenario gives it; they decide no result.
    point : dict
        Swept key path to its value; the seed is not among them.
    """

    id: str
    spec: Spec = field(repr=False)
    scale: str
    variant: str = ""
    label: str = ""
    point: dict = field(default_factory=dict)
    case: str = ""
    case_label: str = ""
    threads: int = 1

    @property
    def scenario(self) -> str:
        """Name of the scenario, which is the name of its folder of results."""
        return self.spec.name

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.spec.seed

    @property
    def folder(self) -> str:
        """Folder of the run below results/."""
        return f"{self.scenario}/{self.id}"


def plan(
    scenario: ScenarioFile,
    scale: str = DEFAULT_SCALE,
    sets: Iterable[tuple[str, object]] = (),
    *,
    variant: str | None = None,
    case: str | None = None,
    refusals: Refusals | None = None,
    typeids_file: Path | str | None = None,
    templates: Path | str = TEMPLATES,
) -> list[Run]:
    """Return all runs of a scenario at a scale, in the order of cases, variants and sweep.

    Overrides come in this order, later ones win: the file, the scale, the case, the variant, the
    sweep, `sets`. A key in `sets` is not swept.

    Parameters
    ----------
    scenario : ScenarioFile
        From `read_scenario`.
    scale : str
        ``smoke``, ``laptop`` or ``paper``.
    sets : iterable of (key path, value)
        From ``--set``.
    variant, case : str, optional
        Only this one.
    refusals : callable, optional
        Asks the engine once for each distinct type with attributes of these runs, and for those
        that meet at a switch; without it only what the types declare is checked: names, kinds of
        values, ranges.

    Raises
    ------
    SpecError
        Something in the scenario cannot be used; says where, what is allowed and what to do.
    """
    sets = list(sets)
    base = scenario.at_scale(scale)
    for key, value in sets:
        if key.split(".")[0] in PLANNING_KEYS:
            if key.split(".")[0] == "scales":
                raise SpecError(f"--set {quoted(key)[1:-1]}: a scale is chosen with --scale NAME.")
            base = base.with_value(key, value, "--set")
    sets = [(key, value) for key, value in sets if key.split(".")[0] not in PLANNING_KEYS]
    fixed = {key for key, _ in sets}
    planning = base.planning()
    if message := too_many(planning):
        raise base.error(("sweep",), message)
    sweep = {key: values for key, values in planning.sweep.items() if key not in fixed}
    resolver = Resolver(typeids.load(typeids_file))
    digests: dict[tuple[str, ...], str] = {}
    asked: dict[str, _Question] = {}
    runs = []
    for of_case, of_variant in _pairs(scenario, base, planning, case, variant):
        changed = _changed(base, planning, of_case, of_variant)
        for values in itertools.product(*sweep.values()):
            point = dict(zip(sweep, values, strict=True))
            settled = changed
            for key, value in point.items():
                settled = settled.with_value(key, value, base.place(("sweep", key)))
            for key, value in sets:
                settled = settled.with_value(key, value, "--set")
            spec, network = resolver.resolve_with_network(settled)
            for parts, switches in _questions(spec, network) if refusals else ():
                question = {"parts": list(parts.values()), "switches": switches}
                asked.setdefault(canonical(question), (settled, parts))
            template = spec.template
            made_of = (template, ENGINE_TEMPLATE) if spec.engine != Engine() else (template,)
            if made_of not in digests:
                try:
                    digests[made_of] = template_digest(Path(templates), *made_of)
                except SpecError as error:
                    raise settled.error(("template",), str(error)) from None
            digest = digests[made_of]
            point.pop("seed", None)
            runs.append(
                Run(
                    id=run_id(spec, digest),
                    spec=spec,
                    scale=scale,
                    variant=of_variant,
                    label=planning.variants.get(of_variant, {}).get("label", of_variant),
                    point=point,
                    case=of_case,
                    case_label=planning.cases.get(of_case, {}).get("label", of_case),
                    threads=engines.threads_of(settled.values.get("engine")),
                )
            )
    _refuse(asked, refusals)
    for other in planning.scales:  # what is not asked for now is wrong all the same
        scenario.at_scale(other).planning()
    return runs


def _questions(spec: Spec, network: Network) -> Iterator[tuple[dict[KeyPath, dict], list]]:
    """Yield what the engine is asked of a spec: its types one by one, then those that meet.

    Where steady states are skipped, the engine knows of it when it is asked of a type.
    """
    engine = typeids.engine_part(spec)
    for path, part in typeids.typed_parts(spec):
        yield {path: part} | engine, []
    yield from typeids.combinations(spec, network)


def _refuse(asked: dict[str, _Question], refusals: Refusals | None) -> None:
    """Raise SpecError for the first question to which the engine has something to say."""
    said = refusals([json.loads(question) for question in asked]) if refusals else []
    for (scenario, parts), message in zip(asked.values(), said, strict=refusals is not None):
        if message:
            # A message about several begins with the type of the one to be changed.
            changed = message.split(maxsplit=1)[0].removesuffix(":")
            named = (path for path, part in parts.items() if part["type"] == changed)
            path = next(named, next(iter(parts)))
            if attribute := typeids.blamed(parts[path], message):
                path = (*path, "attributes", attribute)
            raise scenario.error(path, message)


def runs_by_id(runs: Iterable[Run]) -> dict[str, Run]:
    """Return runs by name; points that turn out to be the same simulation share one."""
    return {run.id: run for run in runs}


def _pairs(
    scenario: ScenarioFile,
    base: ScenarioFile,
    planning: Planning,
    case: str | None,
    variant: str | None,
) -> list[tuple[str, str]]:
    """Return names of case and variant of the joint changes that a choice leaves."""
    known = scenario.planning().variants | planning.variants
    for name, changes in planning.cases.items():
        for excluded in changes.get("exclude", []):
            if excluded not in known:
                raise base.error(("cases", name, "exclude"), no_such("variant", excluded, known))
    for what, chosen, found in (
        ("case", case, planning.cases), ("variant", variant, planning.variants)
    ):  # fmt: skip
        if chosen is not None and chosen not in (found or {"": {}}):
            elsewhere = _at_other_scales(scenario, f"{what}s", chosen)
            raise SpecError(f"{base.source}: {no_such(what, chosen, found)}{elsewhere}")
    pairs = [
        pair for pair in planning.pairs if case in (None, pair[0]) and variant in (None, pair[1])
    ]
    if not pairs:
        chosen = f"case {case}" if case else "every case"
        excluded = f"variant {variant}" if variant else "all variants"
        raise SpecError(
            f"{base.source}: cases: {chosen} excludes {excluded}, so there is no run. Exclude"
            " fewer, or choose another."
        )
    return pairs


def _at_other_scales(scenario: ScenarioFile, section: str, name: str) -> str:
    """Return with which scales a scenario has a case or variant that was not found; or nothing."""
    found = []
    for scale in SCALES:
        with suppress(SpecError):  # another scale than the one that was asked for
            if name in getattr(scenario.at_scale(scale).planning(), section):
                found.append(f"--scale {scale}")
    return f" {name} is there with {' and '.join(found)}." if found else ""


def _changed(base: ScenarioFile, planning: Planning, case: str, variant: str) -> ScenarioFile:
    """Return the scenario with the changes of a case, then those of a variant."""
    result = base
    for section, name in (("cases", case), ("variants", variant)):
        for key, value in getattr(planning, section).get(name, {}).items():
            if key not in WORDS[section]:
                result = result.with_value(key, value, base.place((section, name, key)))
    return result


def canonical(plain: object) -> str:
    """Return the one JSON text of plain values: sorted keys, no spaces."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def run_id(spec: Spec, digest: str) -> str:
    """Return the name of a run: its seed, and a hash of its spec and of its template.

    Of a file that the scenario names it counts what it holds, not where it lies.
    """
    text = canonical(without_paths(spec.plain()))
    content = hashlib.sha256(f"{text}\n{digest}".encode()).hexdigest()
    return f"s{spec.seed}-{content[:10]}"


def template_digest(folder: Path, name: str, *around: str) -> str:
    """Return the sha256 of a main program's template, of the base it extends, and of those around.

    Raises
    ------
    SpecError
        There is no such template.
    """
    known = sorted(path.name.removesuffix(".py.jinja") for path in folder.glob("*.py.jinja"))
    if name not in known or name in ("base", ENGINE_TEMPLATE):
        offered = [other for other in known if other not in ("base", ENGINE_TEMPLATE)]
        raise SpecError(
            f"no template {quoted(name)}. Found in pyorch/render/templates:"
            f" {', '.join(offered)}.{did_you_mean(name, offered)}"
        )
    content = b"".join(
        (folder / f"{part}.py.jinja").read_bytes() for part in ("base", name, *around)
    )
    return hashlib.sha256(content).hexdigest()


def write_spec(run: Run, path: Path | str) -> None:
    """Write the resolved spec of a run as readable JSON."""
    write_resolved(run.spec, path)


def write_resolved(spec: Spec, path: Path | str) -> None:
    """Write a resolved spec as readable JSON."""
    path = Path(path)
    make_folder(path.parent)
    write_text(path, json.dumps(spec.plain(), indent=2, sort_keys=True) + "\n")
