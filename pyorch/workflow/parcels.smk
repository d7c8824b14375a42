# SPDX-License-Identifier: GPL-2.0-only
"""Chunks for machines that share no files with this one: a parcel goes there, another comes back.

Only these lie in the storage. The rule of the chunk unpacks what has come.
"""

import time

from pyorch.workflow import parcel

#: What was left in the storage by another Snakemake is not taken for what this one waits for.
STARTED = int(time.time())
ITS_CHUNKS = {chunk.name: chunk for chunk in CHUNKS}


wildcard_constraints:
    started=r"\d+",
    chunk="[a-z0-9_]+",


rule pack:
    """What a chunk needs beside pyorch: specs, data files, plug-ins and modules of the study."""
    input:
        lambda wildcards: needs(ITS_CHUNKS[wildcards.chunk]),
    output:
        temp(parcel.goes("{started}", "{chunk}")),
    params:
        plan=lambda wildcards: chunks.plan_of(wildcards.chunk),
    message:
        "Packing {wildcards.chunk}"
    shell:
        "python -P -m pyorch.workflow.parcel pack {params.plan:q} {output:q}"


rule remote:
    """The runs of a chunk on another machine; those that fail are found when it is unpacked."""
    input:
        parcel.goes("{started}", "{chunk}"),
    output:
        temp(parcel.came("{started}", "{chunk}")),
    threads: lambda wildcards: ITS_CHUNKS[wildcards.chunk].threads if ITS_CHUNKS else 1
    resources:
        mem_mb=lambda wildcards: ITS_CHUNKS[wildcards.chunk].memory_mb if ITS_CHUNKS else 300,
        disk_mb=lambda wildcards: ITS_CHUNKS[wildcards.chunk].disk_mb if ITS_CHUNKS else 1000,
        runtime=lambda wildcards: ITS_CHUNKS[wildcards.chunk].runtime_min if ITS_CHUNKS else 5,
    message:
        "Simulating {wildcards.chunk} elsewhere"
    shell:
        "python -P -m pyorch.workflow.parcel make {input:q} {output:q}"
