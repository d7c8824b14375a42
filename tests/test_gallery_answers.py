# SPDX-License-Identifier: GPL-2.0-only
"""Answers of the gallery follow from the tables beside its figures, to the last printed digit."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "gallery" / "index.md").read_text()
SECTIONS = {
    "-".join(re.findall(r"\w+(?:-\w+)*", text.splitlines()[0].lower())): " ".join(text.split())
    for text in PAGE.split("\n## ")[1:]
}


def shown(name):
    return pd.read_csv(DOCS / "gallery" / "figures" / f"{name}.csv")


def section(name):
    return next(text for text in SECTIONS.values() if f"(figures/{name}.png)" in text)


def recovery():
    table = shown("recovery")
    table["least"] = 100 * table["least_gbps"] / table["last_gbps"]
    by = table.groupby(["variant", "timeout"])
    least, back = by["least"].min(), by["back_ms"].max()
    silent = 16 * table[table["variant"] == "rocev2"].groupby("seed")["silent_share"].first()
    assert list(silent) == [5, 0]
    # 1 ms after the cut routes follow.
    assert back[[("nscc", "own"), ("falcon", "own"), ("rocev2", "own")]].between(1, 1.3).all()
    return [
        f"never fall below {least['smartt', 'own']:.0f} and"
        f" {least['mptcp', 'own']:.0f} % of the rate",
        f"when its timeout of {back['ndp', 'own']:.0f} ms is over",
        f"{least['nscc', 'own']:.0f} % are left at worst",
        f"after {back['ndp', 'same']:.2f} ms, and Falcon keeps {least['falcon', 'same']:.0f} % at"
        f" worst instead of {least['falcon', 'own']:.0f}",
        f"{silent.iloc[0]:.0f} of 16 messages stand still in one draw",
    ]


def collision_size():
    table = shown("collision_size").set_index(["message_kb", "rate_gbps", "seed"])
    long = table.loc[8000].groupby("seed")["over_optimal"]
    assert list(table["most_on_link"].groupby("seed").first()) == [4, 5]
    short = table.loc[16].groupby("rate_gbps")["over_optimal"].mean()
    spread = 100 * (long.max() / long.min() - 1).max()
    return [
        "the slowest takes {:.1f} and {:.1f} times the optimum".format(*long.mean()),
        f"within {-(-spread // 1):.0f} % at 100, 400 and 800 Gb/s",
        f"16 kB take {short[100]:.1f} times the optimum at 100 Gb/s and {short[800]:.1f} times",
    ]


def planes():
    us = shown("planes").groupby(["kind", "planes"])["slowest_us"].mean()
    path, sprayed = us["path"], us["sprayed"]
    return [
        f"and take {100 * (sprayed[4] / sprayed[1] - 1):.0f} % longer",
        f"takes {path[4] / path[1]:.1f} times as long as on one network, and"
        f" {path[4] / (8e6 * 8e6 / 800e9):.0f} times as long as its bytes",
    ]


def queue_pairs():
    table = shown("queue_pairs").assign(pairs=lambda t: t["pairs"].astype(int))
    most = table.groupby(["way", "pairs"]).max(numeric_only=True)
    mean = table.groupby(["way", "pairs"])["took_us"].mean()
    over, load, took = most["over_ideal"], most["fullest_over_mean"], most["took_us"]
    turns = [("turns", n) for n in (1, 4, 16)]
    return [
        f"takes {over['turns', 1]:.1f} times as long as on an ideal network, with sixteen"
        f" {over['turns', 16]:.1f} times, and with spraying {over['sprayed', 0]:.1f} times",
        "takes {:.1f}, {:.1f} and {:.1f} times the ideal".format(*over[turns]),
        "has {:.1f}, {:.1f} and {:.1f} times the mean".format(*load[turns]),
        f"slowest ring is {took['turns', 1] / took['turns', 16]:.1f} times as fast with sixteen"
        f" ({took['turns', 1]:.0f} and {took['turns', 16]:.0f} us, one seed), and the mean ring"
        f" {mean['turns', 1] / mean['turns', 16]:.1f} times",
        f"{took['turns', 16]:.0f} and {took['split', 16]:.0f} us",
    ]


def where_to_spray():
    by = shown("where_to_spray").groupby(["messages", "spraying"])["slowest_us"].mean()
    equal = by["equal"]
    turns = [
        by[way, who] / equal[who]
        for way in ("from", "to")
        for who in ("host_blind", "switch_blind")
    ]
    return [
        f"within {100 * (equal.max() / equal.min() - 1):.0f} % of each other",
        f"whoever sprays: {min(turns):.1f} to {max(turns):.1f} times",
        f"its own slow link ({by['from', 'switch_aware']:.0f} us)",
        f"behind the next switch ({by['to', 'switch_aware']:.0f} us)",
        f"({by['from', 'host_aware']:.0f} and {by['to', 'host_aware']:.0f} us)",
    ]


def monitoring():
    by = 100 * shown("monitoring").groupby(["interval_us", "variant"]).mean(numeric_only=True)
    queue, link = by["seen_share"], by["peak_share"]
    return [
        f"{queue[1000].min():.0f} to {queue[1000].max():.0f} % of the deepest queue",
        f"{link[1000].mean():.0f} % load on the busiest link",
        f"it finds {queue[10].min():.0f} to {queue[10].max():.0f} %",
        f"{link[50, 'rocev2']:.0f} % load against {link[50, 'nscc']:.0f}",
        f"an interval of 1 us shows up to {link[1].max() - 100:.0f} % more than a link carries",
    ]


def tenants():
    by = shown("tenants").groupby(["priorities", "kind"])
    mean = by.mean(numeric_only=True).round(2)
    step, kv = mean["step_over_alone"], mean["kv_over_alone"]
    first = max(step["training", "sprayed"], kv["service", "sprayed"])
    second = sorted([step["service", "sprayed"], kv["training", "sprayed"]])
    ranges = [
        "{:.2f} to {:.2f} times".format(
            *by["kv_over_alone"].agg(["min", "max"]).loc["service", kind]
        )
        for kind in ("path", "sprayed")
    ]
    return [
        f"first loses at most {100 * first - 100:.0f} %, and the other takes"
        " {:.2f} to {:.2f} times its time (means of five draws)".format(*second),
        f"takes {step['training', 'path']:.2f} (RoCEv2) and"
        f" {step['training', 'sprayed']:.2f} (UEC NSCC) times its time alone",
        f"within {kv['training', 'path']:.2f} and {kv['training', 'sprayed']:.2f} times theirs",
        f"takes {step['service', 'path']:.2f} and {step['service', 'sprayed']:.2f} times",
        f"within {kv['service', 'path']:.2f} and {kv['service', 'sprayed']:.2f} times theirs",
        f"takes {step['shared', 'path']:.2f} and {step['shared', 'sprayed']:.2f} times its time"
        f" alone, the transfers {kv['shared', 'path']:.2f} and {kv['shared', 'sprayed']:.2f} times",
        f"In turn these are {step['halves', 'path']:.2f} and {step['halves', 'sprayed']:.2f}, and"
        f" {kv['halves', 'path']:.2f} and {kv['halves', 'sprayed']:.2f}.",
        f"take {ranges[0]} as long as alone, with NSCC {ranges[1].partition(' to ')[2]}",
    ]


def placement():
    table = shown("placement")
    slowest = table.groupby(["network", "kind", "placement", "seed"])["took_us"].max()
    mean = slowest.groupby(["network", "kind", "placement"]).mean().unstack("placement")
    cost = mean["random"] / mean["aligned"]
    assert {round(value) for value in cost["rails"]} == {8}
    return [
        f"in the scale-up networks ({mean['aligned']['rails', 'sprayed']:.0f} us)",
        f"are relayed there: {mean['random']['rails', 'sprayed']:.0f} us.",
        f"cost sprayed packets {cost['one', 'sprayed']:.2f} and"
        f" {cost['planes', 'sprayed']:.2f} times",
        f"of one path {cost['one', 'path']:.2f} and {cost['planes', 'path']:.2f} times",
    ]


def lost_parts():
    table = shown("lost_parts")
    over = table.groupby(["kind", "lost"])["over_whole"].mean()
    whole = table[table["lost"] == "none"].groupby("kind")["step_us"].mean()
    many, one = over["sprayed"], over["path"]
    assert round(many["rack"], 2) == 1 and abs(many["planes"] / many["plane"] - 1) < 0.02
    assert round(whole["path"] / whole["sprayed"]) == 2
    assert (one - 1)[["device", "plane", "planes", "rail"]].lt(many - 1).dropna().sum() == 4
    return [
        f"a rail {many['rail']:.2f} times the step, a plane {many['plane']:.2f} times and a single"
        f" spare device {many['device']:.2f} times",
        f"a spare rack {one['rack']:.2f} times, a rail {one['rail']:.2f}, a plane"
        f" {one['plane']:.2f}, a spare device {one['device']:.2f}.",
    ]


def oversubscription():
    mean = shown("oversubscription").groupby("variant")["fct_us"].mean()
    half, quarter = mean["half"] / mean["full"], mean["quarter"] / mean["full"]
    return [
        f"the mean message takes {half:.1f} times as long, with a quarter {quarter:.1f} times",
        f"With all links up it takes {mean['full']:.0f} us, a quarter more than its bytes",
        f"and the mean message {mean['half']:.0f} and {mean['quarter']:.0f}.",
    ]


def scale_up():
    table = shown("scale_up")
    over = table.groupby(["topology", "kind", "traffic"])["over_bytes"]
    most, least = over.max(), over.min()
    good = [
        most["one switch", kind, what] for kind in ("pfc", "nscc") for what in ("exchange", "pairs")
    ]
    good += [most["18 planes", "nscc", what] for what in ("exchange", "pairs")]
    lossless = {round(most["one switch", kind, "incast"], 2) for kind in ("pfc", "credits")}
    fell = table[table["timeouts"] > 0]
    assert len(fell) == 1 and fell["kind"].item() == "lossy" and len(lossless) == 1
    return [
        f"within {-(-100 * (max(good) - 1) // 1):.0f} % of the bytes",
        f"takes {most['mesh', 'pfc', 'pairs']:.0f} times as long",
        f"{least['18 planes', 'pfc', 'exchange']:.1f} to"
        f" {most['18 planes', 'pfc', 'exchange']:.1f} times as long in an all-to-all",
        f"take {lossless.pop():.2f} times on one switch, and trimming"
        f" {most['one switch', 'nscc', 'incast']:.2f}.",
        f"Best effort takes {most['one switch', 'lossy', 'incast']:.0f} times",
        f"Planes take {most['18 planes', 'sprayed', 'incast']:.2f} times with a window",
        f"and {most['18 planes', 'nscc', 'incast']:.2f} times with UEC NSCC",
    ]


def gray():
    table = shown("gray").set_index(["case", "variant"])
    over, left = table["over_whole"], table["left_us"]
    assert (left["hole"][["smartt", "mprdma", "falcon"]] == 20).all()
    stay = ["rocev2", "sprayed", "ndp", "ndp_scores"]
    assert left["hole"][stay].isna().all() and left["hole"].notna().sum() + len(stay) == 11
    kept = table["after_share"] / table["before_share"]
    assert kept[["drops", "corrupts"]].min() > 0.9
    whole = table["whole_us"]["hole"]
    unfinished = table["unfinished"]
    assert unfinished.groupby("variant").sum().loc[["rocev2", "ndp"]].tolist() == [1, 4]
    assert unfinished.sum() == 5 and over["hole"]["mptcp"] < 1.01
    return [
        f"SRD, MPTCP and UEC with REPS after {left['hole', 'srd']:.0f},"
        f" {left['hole', 'mptcp']:.0f} and {left['hole', 'nscc']:.0f}.",
        f"costs 1 to {over['hole'].max():.0f} times",
        f"SMaRTT and MP-RDMA take {over['hole', 'smartt']:.1f} and {over['hole', 'mprdma']:.1f}"
        f" times as long with a timeout of 1 ms, and UEC {over['hole', 'nscc']:.1f} times",
        f"its timeouts, which double, cost {over['hole', 'falcon']:.1f} times",
        f"{over['slow', 'ndp_scores']:.2f} times instead of {over['slow', 'ndp']:.2f}",
        f"waits for the slow link, at {over['slow', 'sprayed']:.1f} times",
        f"it takes {whole['mptcp'] / whole['sprayed']:.0f} times as long as spraying",
    ]


def mrc_links():
    """Of the second message: small network, and 8192 hosts."""
    small, large = (
        shown(name).pivot_table(index="variant", columns=["message", "gone"], values="over_least")
        for name in ("mrc_links", "mrc_links_paper")
    )
    assert large.shape == small.shape == (4, 8)
    second, none, most = small[1, 64], large[1, 0], large[1, 64]
    table = shown("mrc_links_paper")
    waited = table[table["waited"] > 0]
    assert waited[["variant", "gone", "message"]].values.tolist() == [["mrc", 64, 0]]
    assert large.loc["rocev2"].nunique() == 1 and set(table["of"]) == {8192}
    lost = table[(table["variant"] == "sprayed") & (table["gone"] > 0)]["over_least"]
    return [
        f"so the slowest message takes {lost.min():.2f} to {lost.max():.2f} times.",
        f"takes {second['mrc']:.1f} times the time of its payload with MRC-like,"
        f" {second['nscc']:.1f} with UEC and {second['sprayed']:.1f} sprayed",
        f"takes {most['mrc']:.2f} times with MRC-like, {most['nscc']:.2f} with UEC and"
        f" {most['sprayed']:.2f} sprayed",
        f"without a lost link {none['mrc']:.2f}, {none['nscc']:.2f} and {none['sprayed']:.2f}",
        f"do {waited['waited'].item()} of 8192 first messages with 64 links gone, and none",
        f"takes {most['rocev2']:.1f} times whatever is gone",
    ]


def eight_planes():
    table = shown("eight_planes_paper").set_index("variant")
    by = table.groupby(["case", "variant"])["over_least"].mean().unstack()
    many = by[["mrc", "nscc", "sprayed"]]
    long, short = many.loc["all send 97.4 MB"], many.loc["all send 2 MB"]
    few = shown("eight_planes").set_index("variant")["over_least"]
    alike, single = few[many.columns], few["rocev2"]
    assert round(by.loc["all send 2 MB", "rocev2"]) == round(by.loc["all send 97.4 MB", "rocev2"])
    return [
        f"take {long.min():.2f} to {long.max():.2f} times the time of the payload for 97.4 MB, and"
        f" {short.min():.1f} to {short.max():.1f} for 2 MB",
        f"RoCEv2 takes {by.loc['all send 2 MB', 'rocev2']:.0f} times for both",
        f"takes {100 * (long['mrc'] / long['sprayed'] - 1):.0f} % longer than spraying with 97.4",
        f"so it takes at least {table.loc['rocev2', 'over_least'].min():.1f} times",
        f"takes {long['nscc']:.2f} times with 97.4 MB",
        f"RoCEv2 takes {single.min():.0f} to {single.max():.0f} times, the others"
        f" {alike.min():.2f} to {alike.max():.1f}",
    ]


def mrc():
    by = shown("mrc").set_index(["kind", "case"])["over_least"]
    fails = ["port", "switch", "flap"]
    longer = 100 * (by["mrc"][fails] / by["mrc"]["none"] - 1)
    others = pd.concat([by["nscc"][fails], by["sprayed"][fails]])
    return [
        f"takes {longer.min():.0f} to {longer.max():.0f} % longer if a switch, a link or a port",
        f"take {others.min():.1f} to {others.max():.1f} times the time of their payload",
        f"but for losses, with {by['mrc', 'loss']:.2f}",
    ]


def test_the_page_of_exposed_shares_has_the_step_with_an_all_to_all_of_its_figure():
    by = shown("deepseek_v3").set_index(["variant", "micro_batches"])
    names = ("rocev2", "rocev2_adaptive", "rocev2_window", "nscc", "sprayed")
    columns = [(name, 16) for name in names]
    step = " | ".join(f"{share:.0f}" for share in by.loc[columns, "exposed_percent"])
    further = " | ".join(f"{share:.1f}" for share in by.loc[columns, "further_percent"])
    page = (DOCS / "exposed.md").read_text()
    assert f"| of the step | {step} |" in page
    assert f"| of the time that one more micro-batch adds | {further} |" in page


def deepseek_v3():
    table = shown("deepseek_v3").set_index(["variant", "micro_batches"])
    share, experts = table["exposed_percent"], table["expert_percent"]
    further = table["further_percent"].groupby("variant").first()
    return [
        f"a further one exposes {further['sprayed']:.1f} % of the time",
        f"adaptive routing it exposes {further['rocev2_adaptive']:.1f} %, with NSCC"
        f" {further['nscc']:.1f} and on single paths {further['rocev2']:.1f} %",
        f"a step of 16 exposes {share['rocev2_window', 16]:.1f} % over adaptive routing",
        f"and {share['rocev2_adaptive', 16]:.0f}, {share['nscc', 16]:.0f} and"
        f" {share['rocev2', 16]:.0f} % with the others",
        f"of 4 micro-batches exposes {share['sprayed', 4]:.0f} % with sprayed packets, of 16 only"
        f" {share['sprayed', 16]:.1f} %",
        f"{experts['sprayed', 4]:.0f} of the {share['sprayed', 4]:.0f} % with sprayed packets",
    ]


def gpu_rate():
    table = shown("gpu_rate")
    mean = table.groupby(["gpu", "variant"])["exposed_percent"].mean()
    fast, slow = mean["moe-100t"], mean["moe_dense_fp4"]
    ideal = table.groupby("gpu")["ideal_percent"].first()["moe_dense_fp4"]
    beyond, many = slow - ideal, slow[["rocev2_adaptive", "sprayed"]]
    assert f"{many['sprayed']:.1f}" == f"{many['rocev2_adaptive']:.1f}"
    return [
        f"RoCEv2 exposes {slow['rocev2']:.0f} % instead of {fast['rocev2']:.0f}, best effort"
        f" {slow['rocev2_irn']:.0f} instead of {fast['rocev2_irn']:.0f} and NSCC"
        f" {slow['nscc']:.0f} instead of {fast['nscc']:.0f}.",
        f"sprayed packets expose {many['sprayed']:.1f} % each ({fast['rocev2_adaptive']:.0f} and"
        f" {fast['sprayed']:.0f})",
        f"expose {beyond['rocev2']:.0f} and {beyond['rocev2_irn']:.0f} points, NSCC"
        f" {beyond['nscc']:.0f}, and the other two {many.max() - ideal:.1f}",
    ]


def cable_length():
    table = shown("cable_length")
    of = table.groupby(["variant", "delay_ns"])["exposed_percent"].mean()
    nscc, queue = of["nscc"], of["nscc_queue"]
    return [
        f"it exposes {nscc[50]:.0f} %, with 100 ns {nscc[100]:.0f} % and with 500 ns, 100 m of"
        f" fibre, {nscc[500]:.0f} %.",
        f"RoCEv2 exposes {of['rocev2'].min():.0f} to {of['rocev2'].max():.0f} % and sprayed packets"
        f" {of['sprayed'].min():.0f} to {of['sprayed'].max():.0f} % with any of them.",
        f"NSCC exposes {queue.min():.0f} to {queue.max():.0f} % with any cable",
        f"lose {of['sprayed'][500] - of['sprayed'][50]:.0f} points with cables of 500 ns",
    ]


def unequal_cables():
    table = shown("unequal_cables")
    mean = table.groupby(["message_kb", "network", "variant"])["over_equal"].mean()
    long, short = mean[8000], mean[400]
    assert short["one"].idxmax() == "rocev2_adaptive"
    return [
        f"takes {long['one'].min():.2f} to {long['one'].max():.2f} times as long as with cables of"
        f" 500 ns on one network, and {long['planes'].min():.2f} to {long['planes'].max():.2f}",
        f"up to {short.max():.2f} times as long (RoCEv2 over adaptive routing; sprayed packets"
        f" {short['one', 'sprayed']:.2f})",
        f"NDP needs {100 * (1 - short['one', 'ndp']):.0f} % less on one network",
        f"400 kB: {short['one'].min():.2f} to {short['one'].max():.2f} on one network,"
        f" {short['planes'].min():.2f} to {short['planes'].max():.2f} on four planes",
    ]


def fabrics():
    table = shown("fabrics")
    by = table.groupby(["traffic", "variant", "network"])["over_least"].mean()
    ring, exchange = by["ring"], by["exchange"]
    many = by.unstack("variant")[["nscc", "sprayed"]]
    single, adaptive = exchange["rocev2"], exchange["rocev2_adaptive"]
    assert ring["rocev2", "rails"] == ring["rocev2", "rails, no spines"]
    assert abs(ring["rocev2_dcqcn"] / ring["rocev2"] - 1)[["racks", "rails"]].max() < 0.05
    assert (by[:, "rocev2_dcqcn", "four planes"] > by[:, "rocev2", "four planes"]).all()
    assert adaptive["four planes"] > 0.99 * single["four planes"]
    spines = single.drop("rails, no spines")
    return [
        f"takes {ring['rocev2', 'rails']:.2f} times as long as its bytes need at the rate of the"
        f" ports, on racks {ring['rocev2', 'racks']:.1f} times and on four planes"
        f" {ring['rocev2', 'four planes']:.1f} times",
        f"within {np.ceil(100 * (many.max().max() - 1) - 0.5):.0f} % of that time",
        f"takes {ring['rocev2_adaptive', 'racks']:.2f} and {adaptive['racks']:.2f} times the bytes",
        f"costs less: {spines.min():.1f} to {spines.max():.1f} times",
    ]


@pytest.mark.parametrize("answer", [
    fabrics, unequal_cables, cable_length, gpu_rate, deepseek_v3, eight_planes, gray, mrc,
    mrc_links, recovery,
    collision_size, where_to_spray, monitoring, tenants, placement, lost_parts, scale_up,
    oversubscription, queue_pairs, planes,
], ids=lambda answer: answer.__name__)  # fmt: skip
def test_an_answer_has_the_numbers_of_its_figure(answer):
    text = section(answer.__name__)
    assert [said for said in answer() if said not in text] == []


def test_answers_on_the_page_of_the_paper_have_the_numbers_of_the_pages_behind_them():
    open_ones = (DOCS / "paper.md").read_text().partition("## Questions that")[2]
    rows = [row.split("|")[1:4] for row in re.findall(r"^\| [\d.]+.*:.*\|$", open_ones, re.M)]
    for _, answer, where in rows:
        links = re.findall(r"\]\(([^)#]+)#?([^)]*)\)", where)
        behind = " ".join(
            SECTIONS[anchor] if page == "gallery/index.md" else (DOCS / page).read_text()
            for page, anchor in links
        )
        numbers = re.findall(r"\d+\.\d+|\d{2,}", answer)
        assert links and [number for number in numbers if number not in behind] == [], answer
    assert sum("gallery/" in where for *_, where in rows) >= 8
