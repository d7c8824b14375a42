# SPDX-License-Identifier: GPL-2.0-only
"""Takes the name or path of a preset, returns the objects that the formulas work on.

The presets that come with pyorch lie in presets/; a copy anywhere else works the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from pyorch import plugins
from pyorch.errors import SpecError, did_you_mean, quoted
from pyorch.reading import read_bytes
from pyorch.spec import messages, overrides, yaml_lines
from pyorch.spec.limits import LARGEST_TEXT_BYTES
from pyorch.spec.yaml_lines import KeyPath
from pyorch.theory import preset_schema as schema
from pyorch.theory.architecture import Latent, Model
from pyorch.theory.inference import Service
from pyorch.theory.infrastructure import Authority, Budget, Rack
from pyorch.theory.memory import Cluster, Degrees, Job, Precision, smallest_tensor
from pyorch.theory.parallelism import Network, Setup
from pyorch.theory.topology_cost import Chip, Clos
from pyorch.theory.traffic import TrainingJob, mini_batches

if TYPE_CHECKING:
    from pyorch.theory.design import Prices

FOLDER = Path(__file__).parent / "presets"
#: Feed-forward width over hidden width of a plain transformer.
PLAIN_FEED_FORWARD = 4

_FILES: dict[str, type[BaseModel]] = {
    "training": schema.TrainingFile,
    "inference": schema.InferenceFile,
    "site": schema.SiteFile,
    "prices": schema.PricesFile,
}


def names(kind: str | None = None) -> list[str]:
    """Return the names of the presets that come with pyorch, of one kind or all."""
    found = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    return [name for name in found if kind is None or _kind(FOLDER / f"{name}.yaml") == kind]


def _kind(path: Path) -> object:
    values, _ = yaml_lines.parse(path.read_text(encoding="utf-8"), str(path))
    return values.get("kind") if isinstance(values, dict) else None


def find(name: str) -> Path:
    """Return the file of a preset by its name, or `name` itself if it is a path to YAML.

    Raises
    ------
    SpecError
        Neither exists.
    """
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        if path.is_file():
            return path
        raise SpecError(f"{path}: there is no such file.")
    known = names()
    if name not in known:
        raise SpecError(
            f"no preset '{name}'. There are {', '.join(known)}, or give the path of a .yaml file."
            f"{did_you_mean(name, known)}"
        )
    return FOLDER / f"{name}.yaml"


def read(name: str, kind: str, sets: Iterable[tuple[str, object]] = ()) -> Any:
    """Return the checked content of a preset.

    Parameters
    ----------
    name : str
        Name or path.
    kind : str
        ``training``, ``inference`` or ``site``.
    sets : iterable of (key path, value)
        Values that replace those of the file.

    Raises
    ------
    SpecError
        The file cannot be read, or a key is unknown, missing, or out of range.
    """
    path = find(name)
    shown = path.name if path.parent == FOLDER else str(path)
    try:
        text = read_bytes(path, LARGEST_TEXT_BYTES, SpecError).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(f"{shown}: is not a text file in UTF-8. Name a preset.") from None
    values, lines = yaml_lines.parse(text, shown)
    if not isinstance(values, dict):
        raise SpecError(f"{shown}: a preset is a mapping of keys to values; begin with kind:.")
    changed = [(overrides.split(key), value) for key, value in sets]
    for key, value in changed:
        values = overrides.replaced(values, key, value)
    if values.get("kind") != kind:
        raise SpecError(
            f"{shown}: kind: this is {quoted(values.get('kind'))}, and '{kind}' is needed here."
            f" Presets of that kind: {', '.join(names(kind))}."
        )
    try:
        return _FILES[kind].model_validate(values)
    except ValidationError as error:
        at, sentence = messages.first(error, _FILES[kind])
        where = _where(shown, at, lines, [key for key, _ in changed])
        place = f"{yaml_lines.dotted(at)}: " if at else ""
        sentence = sentence.replace("the scenario needs", "a preset needs")
        raise SpecError(f"{where}: {place}{sentence}") from None


def _where(shown: str, at: KeyPath, lines: dict[KeyPath, int], changed: list[KeyPath]) -> str:
    """Return who wrote the value at a path: ``--set``, or a line of the file."""
    if any(at[: len(key)] == key or key[: len(at)] == at for key in changed):
        return f"{shown} with --set"
    line = next((lines[at[:n]] for n in range(len(at), 0, -1) if at[:n] in lines), 1)
    return f"{shown}:{line}"


@dataclass(frozen=True)
class Training:
    """A training preset as the formulas want it."""

    title: str
    setup: Setup
    traffic: TrainingJob | None


def training(name: str, sets: Iterable[tuple[str, object]] = ()) -> Training:
    """Return a training preset; raises SpecError or, if the model does not fit, TheoryError."""
    file = read(name, "training", sets)
    job = Job(**file.job.model_dump())
    model, precision, cluster = _model(file.model), _precision(file.precision), _cluster(file)
    layers = file.parallelism.layers_per_stage
    tensor = file.parallelism.tensor
    degrees = Degrees(**file.parallelism.model_dump(exclude={"tensor", "layers_per_stage"}))
    network = Network(**file.network.model_dump())

    def setup_of(tensor: int) -> Setup:
        return Setup(model, precision, job, cluster, network, tensor, layers, degrees)

    if isinstance(tensor, str):
        tensor = smallest_tensor(
            lambda degree: setup_of(degree).held_bytes,
            cluster,
            must_divide_rack=tensor == "smallest_divisor",
        )
    setup = setup_of(tensor)
    setup.check()
    return Training(file.title, setup, _traffic(file))


def _model(section: schema.ModelSection) -> Model:
    given = section.model_dump()
    given["kv_heads"] = section.kv_heads or section.heads
    given["feed_forward"] = section.feed_forward or PLAIN_FEED_FORWARD * section.hidden
    given["latent"] = section.latent and Latent(**section.latent.model_dump())
    return Model(**given)


def _precision(section: schema.PrecisionSection) -> Precision:
    return Precision(
        weight_bytes=section.weight,
        master_bytes=section.master,
        gradient_bytes=section.gradient,
        optimizer_bytes=sum(section.optimizer),
        activation_bytes=section.activation,
        activation_bytes_per_element=section.activation_bytes_per_element,
        dispatch_bytes=section.dispatch,
        combine_bytes=section.combine,
    )


def _cluster(file: schema.TrainingFile) -> Cluster:
    layer = file.gpu.layer
    return Cluster(
        gpu_memory_bytes=file.gpu.memory_bytes,
        gpu_flop_per_s=float(file.gpu.compute_flop_per_s),
        rack_gpus=file.cluster.rack_gpus,
        n_racks=file.cluster.racks,
        datacenters=file.cluster.datacenters,
        usable_memory_share=file.gpu.usable_memory_share,
        efficiency=file.gpu.efficiency,
        reserved_share=file.gpu.reserved_share,
        layer_ps=None if layer is None else (layer.forward_ps, layer.backward_ps),
    )


def _traffic(file: schema.TrainingFile) -> TrainingJob | None:
    section = file.traffic
    if section is None:
        return None
    batches = section.mini_batches or mini_batches(section.samples, section.batch_samples)
    return TrainingJob(
        parameters=section.parameters,
        layers=file.model.layers,
        hidden=file.model.hidden,
        tokens=section.tokens,
        mini_batches=batches,
        group=section.group,
        tensor=section.tensor,
        pipeline=section.pipeline,
        data=section.data,
        dataset_bytes=float(section.dataset_bytes),
    )


def inference(name: str, sets: Iterable[tuple[str, object]] = ()) -> Service:
    """Return an inference preset."""
    given = read(name, "inference", sets).model_dump()
    return Service(**{key: given[key] for key in Service.__dataclass_fields__})


def prices(name: str) -> "Prices":
    """Return a file of prices."""
    file = read(name, "prices")
    return plugins.on_demand("pyorch.theory.design").Prices(
        float(file.transceiver_usd), float(file.chip_usd), float(file.transceiver_w or 0),
        float(file.chip_w or 0),
    )  # fmt: skip


@dataclass(frozen=True)
class SiteDesign:
    """A site preset as the formulas want it."""

    title: str
    budget: Budget
    rack: Rack
    grid: tuple[Authority, ...]
    datacenters: int
    topology: schema.TopologySection

    @cached_property
    def chip(self) -> Chip:
        """The switch chip."""
        return Chip(float(self.topology.chip_bps), float(self.topology.lane_bps))

    def clos(self, *, hosts: float | None = None, planes: int = 1, rails: int = 1) -> Clos:
        """Return a network of this chip; without arguments the fat tree of one data centre."""
        radix = int(self.chip.ports(self.topology.port_bps))
        return Clos(self.topology.hosts if hosts is None else hosts, radix, planes, rails)


def site(name: str, sets: Iterable[tuple[str, object]] = ()) -> SiteDesign:
    """Return a site preset."""
    file = read(name, "site", sets)
    rack = file.rack
    return SiteDesign(
        title=file.title,
        budget=Budget(**{k: float(v) for k, v in file.budget.model_dump().items()}),
        rack=Rack(
            rack.gpus, float(rack.cost_usd), float(rack.power_w), float(rack.sparse_flop_per_s)
        ),
        grid=tuple(Authority(**a.model_dump()) for a in file.grid),
        datacenters=file.datacenters,
        topology=file.topology,
    )
