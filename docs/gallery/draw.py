# SPDX-License-Identifier: GPL-2.0-only
"""Runs the scenarios of this folder and draws their figures into figures/.

make gallery                     # all of them
python docs/gallery/draw.py incast
"""

import io
import runpy
import sys
from pathlib import Path

import pyorch
from pyorch import figures
from pyorch.figures.command import drawn
from pyorch.runs.choose import choose

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
NAMES = sorted(path.stem for path in (HERE / "scenarios").glob("*.yaml"))


def runs_of(name: str) -> dict[str, list]:
    """Return the finished runs of a scenario by variant; what is finished is not run again."""
    file, found = HERE / "scenarios" / f"{name}.yaml", {}
    for point in choose(file):
        run = pyorch.run(
            file, variant=point.variant or None, seed=point.spec.seed, set=point.point,
            results=RESULTS,
        )  # fmt: skip
        found.setdefault(point.variant or name, []).append(run)
    return found


def draw(name: str, width: str = "page") -> tuple:
    """Return the figure of a scenario, the table of what it shows, and its caption."""
    script = runpy.run_path(str(HERE / "plots" / f"{name}.py"))
    figure, data = drawn(script["draw"], {"runs": runs_of(name)}, "", width)
    return figure, data, " ".join(script["__doc__"].split()) + "\n"


def as_csv(data) -> io.StringIO:
    """Return a table as `figures.save` writes it."""
    return io.StringIO(data.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


def main(names: list[str]) -> None:
    """Draw the figures of these scenarios."""
    for name in names or NAMES:
        figure, data, caption = draw(name)
        figures.save(figure, name, data, HERE / "figures", caption)
        for suffix in ("pdf", "svg"):  # the pages show the PNG
            (HERE / "figures" / f"{name}.{suffix}").unlink()
        print(f"{name}: docs/gallery/figures/{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
