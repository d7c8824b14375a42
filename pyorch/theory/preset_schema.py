# SPDX-License-Identifier: GPL-2.0-only
"""The closed schema of model presets: every key a user may write, with its unit and its range."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from pyorch import units
from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed, Count, Number, RateBps, TimePs, one_of, quantity
from pyorch.theory.memory import RECOMPUTATIONS
from pyorch.theory.schedules import SCHEDULES, STEADY

_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
POWER = units.Dimension(
    "power", "W", "130 kW", {f"{p}W": f for p, f in _PREFIXES.items() if p not in ("T", "P")}
)
MONEY = units.Dimension(
    "money", "USD", "3 MUSD", {f"{p}USD": f for p, f in _PREFIXES.items() if p not in ("T", "P")}
)

#: Bytes of one number in each format.
FORMAT_BYTES = {"FP4": 0.5, "FP8": 1.0, "BF16": 2.0, "FP16": 2.0, "FP32": 4.0}
#: Rules that choose the tensor-parallel degree.
TENSOR_RULES = ("smallest", "smallest_divisor")


def _tensor_degree(value: object) -> object:
    """Return a tensor-parallel degree, or the rule that chooses it."""
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if whole or value in TENSOR_RULES:
        return value
    raise ValueError(
        f"{quoted(value)} is not a tensor-parallel degree. Write a whole number of at least 1, or"
        f" one of {', '.join(TENSOR_RULES)}.{did_you_mean(value, TENSOR_RULES)}"
    )


def _one_of(known: tuple[str, ...]) -> BeforeValidator:
    """Return a validator of names."""

    def read(value: object) -> object:
        if value in known:
            return value
        hint = did_you_mean(value, known)
        raise ValueError(f"{quoted(value)} is none of {', '.join(known)}.{hint}")

    return BeforeValidator(read, json_schema_input_type=one_of(known))


def _format_bytes(value: object) -> float:
    """Return the bytes of a number format by its name."""
    if not isinstance(value, str) or value not in FORMAT_BYTES:
        hint = did_you_mean(value, FORMAT_BYTES)
        raise ValueError(
            f"{quoted(value)} is not a number format. Write one of {', '.join(FORMAT_BYTES)}.{hint}"
        )
    return FORMAT_BYTES[value]


Watt = Annotated[int, quantity(POWER), Field(ge=1)]
Usd = Annotated[int, quantity(MONEY), Field(ge=1)]
FlopPerS = Annotated[int, quantity(units.COMPUTE), Field(ge=1)]
MemoryBytes = Annotated[int, quantity(units.SIZE), Field(ge=1)]
Format = Annotated[float, BeforeValidator(_format_bytes)]
Degree = Annotated[Any, BeforeValidator(_tensor_degree)]
#: The model of the wide-area exchange is one between pairs of twins.
Datacenters = Annotated[int, Field(strict=True, ge=1, le=2)]
Recompute = Annotated[str, _one_of(RECOMPUTATIONS)]
Schedule = Annotated[str, _one_of((STEADY, *SCHEDULES))]
NoneOrMore = Annotated[int, Field(strict=True, ge=0, le=2**20)]
Positive = Annotated[Number, Field(gt=0)]
PositiveShare = Annotated[Number, Field(gt=0, le=1)]
AtLeastOne = Annotated[Number, Field(ge=1)]


class LatentSection(Closed):
    """Multi-head latent attention: widths of what a token is compressed to."""

    query: Count
    key_value: Count
    rope: Count
    value: Count


class ModelSection(Closed):
    """Shape of a transformer; what is left out is that of a plain one."""

    layers: Count
    hidden: Count
    heads: Count
    vocabulary: Count
    kv_heads: Count | None = None
    feed_forward: Count | None = None
    feed_forward_matrices: Annotated[int, Field(strict=True, ge=2, le=3)] = 2
    experts: Count = 1
    active_experts: Count = 1
    shared_experts: NoneOrMore = 0
    expert_feed_forward: Count | None = None
    dense_layers: NoneOrMore = 0
    head: Count | None = None
    latent: LatentSection | None = None
    embeddings: Annotated[int, Field(strict=True, ge=1, le=2)] = 2

    @model_validator(mode="after")
    def _holds_together(self) -> "ModelSection":
        if self.active_experts > self.experts:
            raise ValueError(
                f"active_experts {self.active_experts} is more than experts {self.experts};"
                " a token cannot visit more experts than there are. Lower active_experts."
            )
        if (self.kv_heads or 1) > self.heads:
            raise ValueError(f"kv_heads {self.kv_heads} is more than heads {self.heads}. Lower it.")
        if self.dense_layers >= self.layers:
            raise ValueError(
                f"dense_layers {self.dense_layers} leave none of {self.layers} layers with experts;"
                " of a model without experts all are dense. Leave it out."
            )
        if self.latent is not None and self.head is None:
            raise ValueError("latent attention has heads of their own width. Add head.")
        return self


class PrecisionSection(Closed):
    """Number formats; see FORMAT_BYTES for their names."""

    weight: Format
    master: Format
    gradient: Format
    optimizer: list[Format]
    activation: Format
    activation_bytes_per_element: Positive
    dispatch: Format | None = None
    combine: Format | None = None


class JobSection(Closed):
    """What a step works on; `micro_batch` counts sequences, `micro_batches` those of a replica."""

    sequence_tokens: Count
    micro_batch: Count = 1
    micro_batches: Count = 1
    recompute: Recompute = "selective"


class LayerSection(Closed):
    """Times of one layer and micro-batch from a profile."""

    forward_ps: Annotated[TimePs, Field(ge=1)] = Field(alias="forward")
    backward_ps: Annotated[TimePs, Field(ge=1)] = Field(alias="backward")


class GpuSection(Closed):
    """One accelerator: its peak, the share of it that layers reach alone, or their times."""

    memory_bytes: MemoryBytes = Field(alias="memory")
    compute_flop_per_s: FlopPerS = Field(alias="compute")
    usable_memory_share: PositiveShare = 1.0
    efficiency: PositiveShare = 1.0
    reserved_share: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    layer: LayerSection | None = None


class ClusterSection(Closed):
    """Racks; one rack is one scale-up domain."""

    rack_gpus: Count
    racks: Count
    datacenters: Datacenters = 1


class NetworkSection(Closed):
    """Rates of one GPU."""

    scale_up_bps: RateBps = Field(alias="scale_up")
    scale_out_bps: RateBps = Field(alias="scale_out")
    wan_bps: RateBps = Field(alias="wan")
    wan_rtt_ps: TimePs = Field(alias="wan_rtt")


class ParallelismSection(Closed):
    """How the model is cut; `tensor` may be a rule that chooses the degree."""

    tensor: Degree
    layers_per_stage: Count = 1
    schedule: Schedule = STEADY
    virtual_stages: Count = 1
    data: NoneOrMore = 0
    context: Count = 1
    experts: Count = 1
    expert_racks: NoneOrMore = 0
    zero: Annotated[int, Field(strict=True, ge=0, le=3)] = 0
    shard: NoneOrMore = 0


class TrafficSection(Closed):
    """Inputs of the traffic volumes of one epoch."""

    parameters: Positive
    tokens: Positive
    samples: Positive
    batch_samples: Positive
    mini_batches: Positive | None = None
    group: Count
    tensor: Count
    pipeline: Count
    data: Count
    dataset_bytes: MemoryBytes = Field(alias="dataset")


class TrainingFile(Closed):
    """A model in training, on machines and a network."""

    kind: Literal["training"]
    title: str
    model: ModelSection
    precision: PrecisionSection
    job: JobSection
    gpu: GpuSection
    cluster: ClusterSection
    network: NetworkSection
    parallelism: ParallelismSection
    traffic: TrafficSection | None = None


class InferenceFile(Closed):
    """A model that serves users."""

    kind: Literal["inference"]
    title: str
    parameters: Positive
    users: Count
    prompt_tokens: Count
    output_tokens: Count
    layers: Count
    hidden: Count
    tensor: Count
    tokens_per_s: Positive
    parallel_efficiency: Annotated[Number, Field(ge=0, lt=1)]
    kv_deadline_ps: TimePs = Field(alias="kv_deadline")
    kv_elements: Count | None = None


class BudgetSection(Closed):
    """Money, and what must be paid for beside the racks."""

    total_usd: Usd = Field(alias="total")
    compute_share: PositiveShare
    overhead_share: Annotated[Number, Field(ge=0)]
    pue_low: AtLeastOne
    pue_high: AtLeastOne


class RackSection(Closed):
    """One rack."""

    gpus: Count
    cost_usd: Usd = Field(alias="cost")
    power_w: Watt = Field(alias="power")
    sparse_flop_per_s: FlopPerS = Field(alias="sparse")


class AuthoritySection(Closed):
    """One balancing authority."""

    name: str
    region: str
    spare_w: Watt = Field(alias="spare")


class TopologySection(Closed):
    """The scale-out network of one data centre, and its prices."""

    hosts: Count
    chip_bps: RateBps = Field(alias="chip")
    lane_bps: RateBps = Field(alias="lane")
    port_bps: RateBps = Field(alias="port")
    planes: Count
    rails: Count
    rails_combined: Count
    transceiver_usd: Usd = Field(alias="transceiver")
    network_share: PositiveShare


class PricesFile(Closed):
    """What a network costs and draws."""

    kind: Literal["prices"]
    transceiver_usd: Usd = Field(alias="transceiver")
    chip_usd: Annotated[int, quantity(MONEY), Field(ge=0)] = Field(0, alias="chip")
    transceiver_w: Watt | None = Field(None, alias="transceiver_power")
    chip_w: Watt | None = Field(None, alias="chip_power")


class SiteFile(Closed):
    """A site: money, racks, power and network."""

    kind: Literal["site"]
    title: str
    budget: BudgetSection
    rack: RackSection
    grid: list[AuthoritySection]
    datacenters: Datacenters
    topology: TopologySection
