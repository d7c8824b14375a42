# SPDX-License-Identifier: GPL-2.0-only
"""Takes a figure and what it shows, writes five files, byte-identical when drawn again."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyorch.calls import checked
from pyorch.writing import make_folder, write_atomically, write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Dates, versions and random ids are left out of the files.
_METADATA = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": "pyorch"},
    "svg": {"Date": None, "Creator": "pyorch"},
    "png": {"Software": None},
}
RC_PARAMS: dict[Any, Any] = {
    "svg.hashsalt": "pyorch",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "#dddddd",
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 300,
}


@checked
def save(
    figure: "Figure", name: str, data: "pd.DataFrame", out: Path | str, caption: str
) -> list[Path]:  # fmt: skip
    """Write ``<out>/<name>.{pdf,svg,png,csv,txt}`` and return their paths.

    Parameters
    ----------
    figure : Figure
        What to write.
    name : str
        File name without suffix.
    data : DataFrame
        What is drawn; columns carry their unit in the name.
    out : path
        Folder, made if it is not there.
    caption : str
        What a reader has to know; the file ``.txt`` beside the figure.

    Returns
    -------
    list of Path
        The five files.

    Raises
    ------
    OutputError
        One cannot be written.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> figure, data = Figure(figsize=(3, 2)), pd.DataFrame({"n": [1, 2], "square": [1, 4]})
    >>> line = figure.subplots().plot(data["n"], data["square"])
    >>> [path.suffix for path in save(figure, "squares", data, "figures", "Squares.")]
    ['.pdf', '.svg', '.png', '.csv', '.txt']
    """
    import matplotlib

    out = Path(out)
    make_folder(out)
    with matplotlib.rc_context(RC_PARAMS):
        for suffix, metadata in _METADATA.items():
            draw = partial(figure.savefig, format=suffix, metadata=metadata)
            write_atomically(out / f"{name}.{suffix}", draw)
    text = data.to_csv(index=False, float_format="%.10g", lineterminator="\n")
    write_text(out / f"{name}.csv", text)
    write_text(out / f"{name}.txt", caption)
    return [out / f"{name}.{suffix}" for suffix in (*_METADATA, "csv", "txt")]
