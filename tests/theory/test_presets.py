# SPDX-License-Identifier: GPL-2.0-only
"""Presets: the ones that come with pyorch hold, and a bad one says what is wrong and where."""

import re

import pytest

from pyorch.errors import PyorchError, SpecError, TheoryError
from pyorch.theory import exposed, inference, preset


def test_every_preset_can_be_read_as_its_kind():
    assert {"dense-100t", "moe-100t", "llama3-405b", "deepseek-v3"} < set(preset.names("training"))
    assert preset.names("inference") == ["inference-120b"]
    assert preset.names("site") == ["site-100b-usd"]
    for name in preset.names("training"):
        assert 0 < exposed.expose_setup(preset.training(name).setup).share < 1


def test_a_copy_elsewhere_is_the_same_preset(tmp_path):
    copy = tmp_path / "mine.yaml"
    copy.write_text(preset.find("moe-100t").read_text())

    assert preset.training(str(copy)) == preset.training("moe-100t")


def test_what_is_left_out_is_a_plain_transformer(tmp_path):
    model = preset.training("dense-100t").setup.model

    # No grouped queries, feed-forward four times as wide, one expert: 12 h^2 per layer.
    assert model.layer_parameters == 12 * model.hidden**2


@pytest.mark.parametrize(("rule", "expected"), [("smallest", 16), ("smallest_divisor", 18)])
def test_a_rule_may_choose_the_tensor_degree(rule, expected):
    # (48 h^2 + 10 s h) / t <= 192 GB: 2.863e12 + 7.8e10 over 192e9 is 15.3, so 16; the next
    # divisor of 72 is 18.
    setup = preset.training("dense-100t", [("parallelism.tensor", rule)]).setup

    assert setup.tensor == expected


BAD = [
    ("model.layers", 0, "model.layers: 0 is out of range; it must be at least 1."),
    ("model.layers", "many", "model.layers: 'many' (text) is not a whole number."),
    ("model.layer", 3, "model.layer: there is no such key. Known here: layers, hidden,"),
    ("model.layer", 3, "Did you mean layers?"),
    ("network.scale_out", "-1 Gb/s", "'-1 Gb/s' is negative; a rate is 0 or more."),
    ("network.scale_out", "0 Gb/s", "network.scale_out: 0 Gb/s is out of range"),
    ("network.scale_out", 800, "network.scale_out: '800' has no unit I can read as a rate."),
    ("gpu.memory", "192 Gb", "'Gb' is not a unit of size here. Did you mean GB?"),
    ("gpu.compute", "20 PF", "'PF' is not a unit of arithmetic rate here."),
    ("gpu.usable_memory_share", 1.5, "1.5 is out of range; it must be at most 1."),
    ("precision.weight", "FP5", "'FP5' is not a number format. Write one of FP4, FP8, BF16,"),
    ("precision.optimizer", "FP8", "precision.optimizer: 'FP8' (text) is not a list."),
    ("parallelism.tensor", 0, "'0' is not a tensor-parallel degree. Write a whole number"),
    ("parallelism.tensor", "smalest", "Did you mean smallest?"),
    ("cluster.datacenters", 3, "cluster.datacenters: 3 is out of range; it must be at most 2."),
    ("model.active_experts", 9, "active_experts 9 is more than experts 1; a token cannot visit"),
    ("gpu.usable_memory_share", True, "share: true (true/false) is not a number. Write a number."),
    ("gpu.usable_memory_share", "1_0e-1", "'1_0e-1' (text) is not a number. Write a number."),
    ("precision.activation_bytes_per_element", "1e400", "is not a finite number."),
    ("precision.weight", ["FP4"], "'['FP4']' is not a number format."),
    ("model.kv_heads", 512, "kv_heads 512 is more than heads 256. Lower it."),
]


@pytest.mark.parametrize(("key", "value", "message"), BAD, ids=[f"{k}={v}" for k, v, _ in BAD])
def test_a_bad_value_is_named_with_what_is_allowed(key, value, message):
    with pytest.raises(SpecError) as error:
        preset.training("dense-100t", [(key, value)])

    assert message in str(error.value)
    assert str(error.value).startswith("dense-100t.yaml with --set: ")


def test_an_error_in_a_file_names_its_line(tmp_path):
    text = preset.find("dense-100t").read_text().replace("scale_up: 14.4 Tb/s", "scale_up: fast")
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "scale_up" in row)

    with pytest.raises(SpecError) as error:
        preset.training(str(file))

    assert str(error.value).startswith(
        f"{file}:{line}: network.scale_up: 'fast' has no unit I can read as a rate."
    )


def test_a_missing_key_is_named(tmp_path):
    text = preset.find("dense-100t").read_text()
    file = tmp_path / "mine.yaml"
    file.write_text(re.sub(r", wan_rtt: 60 ms", "", text))

    with pytest.raises(SpecError, match="19: network.wan_rtt: this key is missing. Add it."):
        preset.training(str(file))


DOES_NOT_FIT = [
    (
        [("parallelism.tensor", 9)],
        "the model does not fit: 1 layer(s) over 9 devices take 326.8 GB per device, of which"
        " 192.0 GB are usable. Raise the tensor degree, take fewer layers per stage, recompute, or"
        " shard.",
    ),
    (
        [("parallelism.tensor", 80)],
        "tensor-parallel degree 80 is larger than the rack of 72 GPUs; a tensor group lies in one"
        " rack. Take 1 to 72.",
    ),
    (
        [("parallelism.tensor", "smallest"), ("gpu.memory", "16 GB")],
        "the model does not fit: one pipeline stage takes 2,941.1 GB and a rack of 72 GPUs offers"
        " 1,152.0 GB. Take fewer layers per stage, GPUs with more memory, or narrower number",
    ),
    (
        [("cluster.racks", 200)],
        "200 racks in 2 data centre(s) hold no whole copy per data centre: 134 pipeline stages"
        " need 268 racks. Add racks, or put more layers on a stage.",
    ),
]


@pytest.mark.parametrize(("sets", "message"), DOES_NOT_FIT)
def test_a_model_that_does_not_fit_says_by_how_much(sets, message):
    with pytest.raises(TheoryError, match=re.escape(message)):
        preset.training("dense-100t", sets)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dens-100t", "no preset 'dens-100t'. There are deepseek-v3, dense-100t,"),
        ("dens-100t", "or give the path of a .yaml file. Did you mean dense-100t?"),
        ("mine.yaml", "mine.yaml: there is no such file."),
        ("inference-120b", "inference-120b.yaml: kind: this is 'inference', and 'training' is"),
    ],
)
def test_a_preset_that_is_not_there(name, message):
    with pytest.raises(PyorchError, match=re.escape(message)):
        preset.training(name)


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_bytes(b"kind: \xff")

    with pytest.raises(SpecError, match="mine.yaml: is not a text file in UTF-8. Name a preset."):
        preset.training(str(file))


def test_a_number_that_yaml_takes_for_text_is_that_number():
    assert preset.training("dense-100t", [("gpu.usable_memory_share", "97e-2")]) == (
        preset.training("dense-100t", [("gpu.usable_memory_share", 0.97)])
    )


def test_a_file_that_is_no_mapping(tmp_path):
    file = tmp_path / "list.yaml"
    file.write_text("- 1\n")

    with pytest.raises(SpecError, match="a preset is a mapping of keys to values; begin with kind"):
        preset.training(str(file))


def test_one_data_centre_has_nothing_to_cross():
    setup = preset.training("llama3-70b").setup

    with pytest.raises(TheoryError, match="one data centre has no wide-area stage"):
        exposed.expose_setup(setup, wan_model="twice-one-way")


def test_unknown_models_and_poolings_are_named():
    setup = preset.training("dense-100t").setup

    with pytest.raises(
        TheoryError,
        match="no wide-area model 'thrice'. Known: once-rtt, twice-one-way, once-one-way.",
    ):
        exposed.expose_setup(setup, wan_model="thrice")
    with pytest.raises(TheoryError, match="no pooling 'mx'. Known: max, shared, rs_ag, scale_out."):
        exposed.expose_setup(setup, pooling="mx")
    with pytest.raises(TheoryError, match="scale_up_bps 0.0: a rate must be more than 0"):
        exposed.with_rates(setup, scale_up_bps=0.0)


def test_a_missing_section_is_named(tmp_path):
    text = preset.find("inference-120b").read_text()
    file = tmp_path / "mine.yaml"
    file.write_text(re.sub(r"users: 100\n", "", text))

    with pytest.raises(SpecError, match="users: this key is missing. Add it."):
        preset.inference(str(file))


@pytest.mark.parametrize(
    ("layers", "kv_elements", "gigabytes"),
    [
        # Llama 3 70B: 8 of 64 heads of 128; all 64 would be 21.5 GB. DeepSeek-V3: 512 + 64.
        (80, 2 * 8 * 128, 2.684),
        (80, None, 21.475),
        (61, 512 + 64, 0.5757),
    ],
)
def test_grouped_and_latent_attention_keep_less_of_a_prompt(layers, kv_elements, gigabytes):
    sets = [("layers", layers), ("hidden", 8192), ("prompt_tokens", 8192)]
    if kv_elements:
        sets.append(("kv_elements", kv_elements))
    service = preset.inference("inference-120b", sets)
    assert inference.kv_cache_bytes(service) / 1e9 == pytest.approx(gigabytes, rel=1e-3)
