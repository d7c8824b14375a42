# SPDX-License-Identifier: GPL-2.0-only
"""Changes a text file as its writers get it wrong: lines, words, numbers, and the odd byte."""

import re

NUMBERS = [
    "0", "1", "-1", "2", "007", "1.5", "1.0", "1e3", "1e-3", "2.5e1", ".5", "5.", "+4", "-0", "1_0",
    "0x10", "NaN", "sNaN", "inf", "-Infinity", "1e400", "1e-400", "1e999999999", "1e-999999999",
    "1e99999999999999999999", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "9" * 30, "9" * 5000, "0." + "0" * 30 + "1", "1." + "0" * 30 + "1",
    "\u00b2", "\u0663", "true", "2020-13-45", "12:30:45",
]  # fmt: skip
BREAKS = [
    "\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\x00", "\ufeff", "\xa0", "#", '"', "'",
    ",", ";", "\t", " ", "-", "->", ":", "{", "}", "[", "]", "&a ", "*a", "<<: ",
]  # fmt: skip


def edited(data, random, words=()):
    """Return a file with up to two changes, chosen by a `random.Random`."""
    for _ in range(random.randrange(3)):
        if b"\x00\x00" in data:  # no text
            at = random.randrange(len(data))
            data = data[:at] + random.randbytes(random.randrange(3)) + data[at + 1 :]
        else:
            text = data.decode("utf-8", errors="replace")
            data = _edited(text, random, words).encode("utf-8", errors="replace")
    return data


def _edited(text, random, words):
    kind = random.randrange(9)
    lines = text.split("\n")
    at = random.randrange(len(lines))
    if kind == 0:
        lines.insert(random.randrange(len(lines) + 1), lines[at])
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        other = random.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        parts = lines[at].split(" ")
        parts[random.randrange(len(parts))] = random.choice([*NUMBERS, *words])
        lines[at] = " ".join(parts)
    elif kind == 4:
        parts = lines[at].split(" ")
        parts.insert(random.randrange(len(parts) + 1), random.choice([*words, *NUMBERS]))
        lines[at] = " ".join(parts)
    elif kind == 5:
        return text[: random.randrange(len(text) + 1)]
    elif kind == 6:
        where = random.randrange(len(text) + 1)
        return text[:where] + random.choice(BREAKS) + text[where + random.randrange(2) :]
    elif found := list(re.finditer(r"[0-9.]+", text)):
        match = random.choice(found)
        return text[: match.start()] + random.choice(NUMBERS) + text[match.end() :]
    return "\n".join(lines)
