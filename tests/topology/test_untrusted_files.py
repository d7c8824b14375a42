# SPDX-License-Identifier: GPL-2.0-only
"""Files of strangers: whatever is wrong with one, each reader refuses it in one line."""

import gzip
import json

import pytest

from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Link
from pyorch.topology import (
    astra_sim,
    containerlab,
    from_file,
    ibnetdiscover,
    infragraph,
    nccl_xml,
    sonic,
)

LINK = Link(rate_bps=10**11, delay_ps=500_000)
TWO_HOSTS = {
    "devices": [{"name": "h", "components": [{"name": "n", "choice": "nic", "count": 1}]},
                {"name": "s", "components": [{"name": "p", "choice": "port", "count": 2}]}],
    "instances": [{"name": "a", "device": "h", "count": 2}, {"name": "b", "device": "s",
                                                             "count": 1}],
    "links": [{"name": "l"}],
    "edges": [{"ep1": {"instance": "a", "component": "n"}, "link": "l", "scheme": "one2one",
               "ep2": {"instance": "b", "component": "p"}}],
}  # fmt: skip
GPU = (
    '<pci busid="{0}"><gpu dev="{0}" sm="90" rank="{0}"><nvlink target="x" count="18"'
    ' tclass="0x068000"/></gpu></pci>'
)
#: A small network in each format, and other parameters.
FILES = {
    "astra_sim": (astra_sim, "topology: [Switch]\nnpus_count: [4]\nbandwidth: [50.0]\n"
                  "latency: [500.0]\n", {}),
    "containerlab": (containerlab, "topology:\n  nodes: {a: {kind: linux}, b: {kind: linux},"
                     " s: {kind: x}}\n  links:\n    - endpoints: [a:1, s:1]\n"
                     "    - endpoints: [b:1, s:2]\n", {}),
    "hpcc": (from_file, "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n", {}),
    "htsim": (from_file, "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\n"
              "Radix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 100\n"
              "Radix_Down 2\nDownlink_Latency_ns 1\n", {}),
    "ibnetdiscover": (ibnetdiscover, 'Switch 2 "S-1" # "s"\n[1] "H-1"[1] # "a" 4xHDR\n'
                      '[2] "H-2"[1] # "b" 4xHDR\n', {}),
    "infragraph": (infragraph, json.dumps(TWO_HOSTS), {}),
    "nccl_xml": (nccl_xml, f"<system><cpu>{GPU.format(0)}{GPU.format(1)}</cpu></system>", {}),
    "sonic": (sonic, "StartDevice,StartPort,EndDevice,EndPort,BandWidth\ns,1,t,1,100000\n"
              's,2,t,"2",100000\n', {"hosts": ["t"]}),
}  # fmt: skip
BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for name, before in zip("bcdefghi", "abcdefgh", strict=True)
)


def read(folder, kind, data):
    module, _, more = FILES[kind]
    (folder / "net").write_bytes(data)
    params = module.Params.model_validate({"file": "net", **more}, context={"folder": folder})
    counts = module.counts(params)
    assert all("\n" not in line for line in module.remarks(params)) if hasattr(
        module, "remarks") else True  # fmt: skip
    return counts["hosts"], module.tables(params, LINK)


@pytest.mark.parametrize("kind", FILES)
def test_the_file_itself_is_read(tmp_path, kind):
    assert read(tmp_path, kind, FILES[kind][1].encode())[0] in (2, 4)


BAD = {
    "empty": lambda text: b"",
    "compressed": lambda text: gzip.compress(text * 1000),
    "zeros": lambda text: bytes(4096),
    "another encoding": lambda text: text.decode().encode("utf-16"),
    "one long line": lambda text: b"9" * 10**6,
    "a page": lambda text: b"<!DOCTYPE html><html><body>Not found</body></html>",
    "nested lists": lambda text: b"[" * 10**5,
    "nested elements": lambda text: b"<system>" * 10**5,
    "aliases of aliases": lambda text: f"a: &a [1]\n{BOMB}".encode(),
    "entities": lambda text: b'<!DOCTYPE s [<!ENTITY a "aa">]><system>&a;</system>',
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("what", BAD)
def test_what_is_no_such_file_is_refused_in_one_line(tmp_path, kind, what):
    with pytest.raises((FieldError, ValueError)) as caught:
        read(tmp_path, kind, BAD[what](FILES[kind][1].encode()))
    said = str(caught.value)
    assert str(tmp_path / "net") in said and len(said) < 5000
    if isinstance(caught.value, FieldError):
        assert "\n" not in said


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_cut_off_is_refused_or_a_smaller_network(tmp_path, kind):
    whole = FILES[kind][1].encode()
    refused = 0
    for at in range(1, len(whole) - 1, 7):
        try:
            assert read(tmp_path, kind, whole[:at])[0] <= 4
        except FieldError as error:
            assert "\n" not in str(error) and "net" in str(error)
            refused += 1
    assert refused > len(whole) // 10


@pytest.mark.parametrize("kind", FILES)
def test_negative_numbers_are_refused_in_one_line(tmp_path, kind):
    # Each number in turn; those in names and comments change nothing.
    whole = FILES[kind][1]
    refused = 0
    for at, letter in enumerate(whole):
        if letter.isdigit() and not whole[at - 1].isalnum():
            try:
                read(tmp_path, kind, f"{whole[:at]}-{whole[at:]}".encode())
            except FieldError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused or kind in ("containerlab", "ibnetdiscover")  # these have numbers of ports alone
