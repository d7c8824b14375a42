# SPDX-License-Identifier: GPL-2.0-only
"""Runs the scenarios of docs/gallery or docs/papers and draws their figures into its figures/.

make gallery                     # all of docs/gallery
make papers                      # all of docs/papers
python docs/gallery/draw.py incast
python docs/gallery/draw.py mrc_links_paper    # at --scale paper
"""

import contextlib
import io
import runpy
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd

import pyorch
from pyorch import figures
from pyorch.figures import provenance
from pyorch.figures.command import drawn
from pyorch.look import packed
from pyorch.runs.choose import choose

DOCS = Path(__file__).resolve().parents[1]
#: Scenarios of each folder.
NAMES = {
    folder: sorted(path.stem for path in (DOCS / folder / "scenarios").glob("*.yaml"))
    for folder in ("gallery", "papers")
}
RESULTS = ""  # elsewhere than in results/ of the folder
PAPER = "_paper"  # a scenario of this ending is drawn at --scale paper
#: What the pages of runs show, in looks/: two variants side by side, and what is recorded of them.
#: The site makes the pages.
LOOKS = {
    "incast": (("no_control", "pfc"), {}),
    "collisions": (("one_path", "sprayed"), {"trace.sample": "10 us"}),
    "link_failure": (("one_path", "sprayed"), {}),
}


def place_of(name: str) -> Path:
    """Return the folder that a scenario lies in."""
    return DOCS / next(folder for folder, names in NAMES.items() if name in names)


def runs_of(name: str, scale: str) -> dict[str, list]:
    """Return the finished runs of a scenario by variant; what is finished is not run again."""
    place, found = place_of(name), {}
    file = place / "scenarios" / f"{name}.yaml"
    folder = Path(RESULTS).parent if RESULTS else place
    # One process loads the engine once and makes all runs.
    with contextlib.chdir(folder), ProcessPoolExecutor(1) as one:
        pyorch.sweep(file, scale=scale, executor=one, progress=False)
    for point in choose(file, scale):
        run = pyorch.run(
            file, scale=scale, variant=point.variant or None, case=point.case or None,
            seed=point.spec.seed, set=point.point, results=RESULTS or place / "results",
        )  # fmt: skip
        found.setdefault(point.variant or name, []).append(run)
    return found


def draw(name: str, width: str = "page", scale: str = "laptop") -> tuple:
    """Return the figure of a scenario, the table of what it shows, and its caption."""
    script = runpy.run_path(str(place_of(name) / "plots" / f"{name}.py"))
    figure, data = drawn(script["draw"], {"runs": runs_of(name, scale)}, "", width)
    said = "" if scale == "laptop" else f" Scale: {scale}."
    return figure, data, " ".join(script["__doc__"].split()) + said + "\n"


def made(name: str, scale: str = "laptop") -> pd.DataFrame:
    """Return which runs the figure of a scenario shows, what made them, and what they cost."""
    rows = [
        {
            **{key: getattr(run, key) for key in provenance.RUN if key != "run"},
            "run": run.id,
            **provenance.made_by(run.provenance),
        }
        for runs in runs_of(name, scale).values()
        for run in runs
    ]
    return pd.DataFrame(rows, columns=list(provenance.COLUMNS))


def look(name: str) -> bytes:
    """Return what the page of the runs of a scenario shows."""
    place = place_of(name)
    variants, values = LOOKS[name]
    file, results = place / "scenarios" / f"{name}.yaml", RESULTS or place / "results"
    return packed([pyorch.run(file, variant=v, set=values, results=results) for v in variants])


def as_csv(data) -> io.StringIO:
    """Return a table as `figures.save` writes it."""
    return io.StringIO(data.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


def main(words: list[str]) -> None:
    """Draw the figures of these scenarios, or of these folders."""
    for name in [name for word in words for name in NAMES.get(word, [word])]:
        scenario = name.removesuffix(PAPER)
        scale = "laptop" if scenario == name else "paper"
        figure, data, caption = draw(scenario, scale=scale)
        folder = place_of(scenario) / "figures"
        figures.save(figure, name, data, folder, caption)
        made(scenario, scale).to_csv(
            folder / f"{name}.provenance.csv", index=False, lineterminator="\n"
        )
        for suffix in ("pdf", "svg"):  # the pages show the PNG
            (folder / f"{name}.{suffix}").unlink()
        if name in LOOKS:
            (place_of(name) / "looks" / f"{name}.json.gz").write_bytes(look(name))
        print(f"{name}: {folder.relative_to(DOCS.parent)}/{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
