# SPDX-License-Identifier: GPL-2.0-only
"""The presets that the rows of both documents are computed from, read once."""

from functools import cache

from pyorch.theory import preset
from pyorch.theory.inference import Service
from pyorch.theory.parallelism import Setup
from pyorch.theory.traffic import TrainingJob

KILO, MEGA, GIGA, TERA, PETA, EXA = (10.0**n for n in (3, 6, 9, 12, 15, 18))
#: ps in the units of the rows.
MS, US = 1e9, 1e6


@cache
def dense() -> Setup:
    """The paper's dense model on its site."""
    return preset.training("dense-100t").setup


@cache
def moe() -> Setup:
    """The paper's mixture of experts."""
    return preset.training("moe-100t").setup


@cache
def site() -> preset.SiteDesign:
    """The paper's site."""
    return preset.site("site-100b-usd")


@cache
def blog_setup() -> Setup:
    """The blog's model with mixed-precision Adam on 80 GB GPUs."""
    return preset.training("llama3-70b").setup


@cache
def blog_job() -> TrainingJob:
    """The blog's training job."""
    job = preset.training("llama3-70b").traffic
    assert job is not None, "the preset of the blog has its traffic section"
    return job


@cache
def service() -> Service:
    """The blog's inference service."""
    return preset.inference("inference-120b")
