# SPDX-License-Identifier: GPL-2.0-only
"""Runs what shows that results can be trusted, and writes one page of what each has counted.

    python tests/trust.py build/trust.md battery drill ...

Each word is a target of the Makefile. Ends with status 1 if one of them fails; the others are run.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What a line of numbers looks like: of pytest, of the test runner of ns-3, of our own scripts.
_NUMBERS = re.compile(r"\d+ ((passed|failed|comparisons|tests|run)\b|kills\b(?!$))")
_MOST_LINES = 6


def numbers(said: str) -> list[str]:
    """Return the last lines of an output that count something, without what redraws a line."""
    lines = [line.rpartition("\r")[2].strip(" =") for line in said.split("\n")]
    return [line for line in lines if _NUMBERS.search(line)][-_MOST_LINES:]


def page(found: dict[str, tuple[int, str]], commit: str) -> str:
    """Return the page: targets in their order, status 0 is a pass."""
    day = datetime.now(UTC).date()
    rows = [
        f"# What was checked\n\n{commit}, {day}.\n",
        "| make | result | numbers |",
        "|---|---|---|",
    ]
    for target, (status, said) in found.items():
        result = "passed" if status == 0 else f"**failed** ({status})"
        rows.append(f"| {target} | {result} | {'; '.join(numbers(said)).replace('|', '/')} |")
    return "\n".join(rows) + "\n"


def run(target: str) -> tuple[int, str]:
    """Run one target, its words on the screen as they come; return status and words."""
    print(f"make {target}", flush=True)
    with subprocess.Popen(
        ["make", "--no-print-directory", target], cwd=ROOT, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        said = []
        for line in process.stdout:
            sys.stdout.write(line)
            said.append(line)
    return process.returncode, "".join(said)


def main(out: str, *targets: str) -> int:
    """Run targets, write the page after each of them; return the exit status."""
    described = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(described, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    found: dict[str, tuple[int, str]] = {}
    for target in targets:
        found[target] = run(target)
        Path(out).write_text(page(found, commit or "no repository"))
    print(out)
    return int(any(status for status, _ in found.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
