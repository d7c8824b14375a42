# SPDX-License-Identifier: GPL-2.0-only
"""Shows how far runs are: one line that updates itself, on a terminal or in a notebook."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

from pyorch.workflow.events import Progress, line


def is_watched() -> bool:
    """Whether a line can update itself: on a terminal, or in a notebook."""
    return _in_notebook() or sys.stderr.isatty()


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def one_line(wanted: bool = True) -> Iterator[Callable[[str], None]]:
    """Give a function that shows a text where the one before was; nothing where nobody sees it."""
    with _bar(wanted, "{desc}") as bar:
        yield lambda text: bar().set_description_str(text) if bar else None


@contextmanager
def of_runs(wanted: bool = True) -> Iterator[Callable[[Progress], None]]:
    """Give a function that shows a progress as a bar; what should be read stays above it."""
    said = [""]
    with _bar(wanted, "{bar:24} {desc}") as bar:

        def show(progress: Progress) -> None:
            if bar is None:
                return
            news = [*progress.news()]
            if progress.estimate not in said:
                said.append(progress.estimate)
                news.insert(0, progress.estimate)
            for text in news:
                bar().write(text, file=sys.stderr)
            if bar().total != progress.due:
                bar().reset(progress.due)
            bar().n = progress.done
            bar().set_description_str(line(progress))

        yield show


@contextmanager
def _bar(wanted: bool, form: str) -> Iterator[Callable | None]:
    """Give a function that returns a bar, which is there from its first call to the end."""
    made: list = []

    def bar() -> object:
        if not made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a notebook without widgets has a line of text
                from tqdm.auto import tqdm
            # A terminal that does not say how large it is has 24 lines of 80.
            columns, lines = (None, None) if _in_notebook() else get_terminal_size()
            made.append(tqdm(bar_format=form, leave=False, ncols=columns, nrows=lines))
        return made[0]

    try:
        yield bar if wanted and is_watched() else None
    finally:
        for one in made:
            one.close()
