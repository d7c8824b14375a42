# SPDX-License-Identifier: GPL-2.0-only
"""Feed a reader with broken files until one is read wrongly, or without an error of ours.

    python tests/fuzz/fuzz.py <reader> [options of libFuzzer] [corpus]

    python tests/fuzz/fuzz.py htsim_cm -max_total_time=600

atheris comes with `pip install -e .[fuzz]`. The corpus grows in build/fuzz/<reader>/; what breaks a
reader is left as crash-<hash> in the current folder: give that file instead of a corpus to see it
again. Of ten new inputs three are a valid file with up to two of `edits`, three are an older input
with such edits, and four are libFuzzer's own changes.
"""

import random
import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))
with atheris.instrument_imports(include=["pyorch", "yaml"]):
    import edits
    import targets
    from compare import low_limits

VALID_FILES = 30
LIMITS = ("-timeout=20", "-rss_limit_mb=3000", "-max_len=20000")


def main() -> None:
    reader = sys.argv[1] if len(sys.argv) > 1 else ""
    if reader not in targets.TARGETS:
        sys.exit(f"{__doc__}\nReaders: {', '.join(targets.TARGETS)}")
    target = targets.TARGETS[reader]
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{reader}-", dir=memory()))
    seen = {"read": 0, "refused": 0}

    def check(data: bytes) -> None:
        seen["read" if target.check(data, folder) else "refused"] += 1
        if sum(seen.values()) % 10_000 == 0:
            print(f"{reader}: {seen}", file=sys.stderr, flush=True)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        draw = random.Random(seed)
        kind = draw.random()
        if kind < 0.4:
            return atheris.Mutate(data, max_size)
        if kind < 0.7:
            data = target.draw(draw)
        return edits.edited(data, draw, target.words.split())[:max_size]

    options = [argument for argument in sys.argv[2:] if argument.startswith("-")]
    corpus = [argument for argument in sys.argv[2:] if not argument.startswith("-")]
    atheris.Setup(
        [sys.argv[0], *LIMITS, *options, *(corpus or [str(corpus_of(reader, target))])],
        check,
        custom_mutator=mutate,
    )
    with low_limits():
        atheris.Fuzz()


def memory() -> str | None:
    """Return a folder in memory, where a file for each input costs little."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def corpus_of(reader: str, target: targets.Target) -> Path:
    """Return the folder of what was found so far, with some valid files."""
    folder = Path(__file__).parents[2] / "build" / "fuzz" / reader
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(VALID_FILES):
        (folder / f"valid-{number}").write_bytes(target.draw(random.Random(number)))
    return folder


if __name__ == "__main__":
    main()
