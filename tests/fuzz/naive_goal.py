# SPDX-License-Identifier: GPL-2.0-only
"""A second reader of GOAL: word by word, nothing of pyorch in it."""

from collections import Counter, defaultdict

from naive import Refused, need

DIGITS = set("0123456789")
LARGEST = {"size": 2**53, "ns": 10**15, "cpu": 2**31 - 1, "tag": 2**32 - 1, "rank": 2**32 - 1}


def number(word, what):
    """Return a whole number of decimal digits."""
    need(word and set(word) <= DIGITS, f"{what} {word!r}")
    value = int(word.lstrip("0")[:40] or "0")
    need(value <= LARGEST[what], f"{what} {word!r}")
    return value


def without_comments(text):
    """Return the text with lines kept; a comment that never ends stays."""
    out, at = [], 0
    while at < len(text):
        if text.startswith("//", at):
            while at < len(text) and text[at] != "\n":
                at += 1
        elif text.startswith("/*", at) and "*/" in text[at + 2 :]:
            end = text.index("*/", at + 2) + 2
            out += ["\n"] * text[at:end].count("\n")
            at = end
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def is_label(word):
    """Return whether a word is a letter and then letters, digits and underscores."""
    ok = word.replace("_", "a")
    return bool(word) and word.isascii() and ok.isalnum() and word[0].isalpha()


def options(words, names):
    """Return the values of options in this order, each of which may be left out."""
    found = {}
    for name in names:
        if words[:1] == [name]:
            need(len(words) > 1, name)
            found[name], words = words[1], words[2:]
    need(not words, f"words {words}")
    return found


def operation(words, rank, ranks):
    """Return what a line does: kind, rank, and numbers."""
    if words[:1] == ["calc"]:
        need(len(words) > 1, "calc")
        more = options(words[2:], ["cpu"])
        return "calc", rank, number(words[1], "ns"), number(more.get("cpu", "0"), "cpu")
    need(len(words) > 3 and words[0] in ("send", "recv"), f"line {words}")
    need(words[1].endswith("b"), "bytes")
    need(words[2] == {"send": "to", "recv": "from"}[words[0]], "to or from")
    more = options(words[4:], ["tag", "cpu", "nic"])
    number(more.get("cpu", "0"), "cpu")
    number(more.get("nic", "0"), "cpu")
    peer = number(words[3], "rank")
    need(peer < ranks and peer != rank, "peer")
    size = number(words[1][:-1], "size")
    need(size > 0, "size")
    return words[0], rank, peer, size, number(more.get("tag", "0"), "tag")


def lines_of(data):
    """Return the words of each line; colons and braces are words."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Refused("no text") from None
    rows = []
    for line in without_comments(text).split("\n"):
        for mark in (":", "{"):
            line = line.replace(mark, f" {mark} ")
        rows.append(line.split())
    return [row for row in rows if row]


def read(data):
    """Return the ranks, tasks and waits with how often each is there."""
    rows = lines_of(data)
    need(rows and len(rows[0]) == 2 and rows[0][0] == "num_ranks", "head")
    ranks = number(rows[0][1], "rank")
    need(0 < ranks <= 128, "ranks")  # hosts of the network
    tasks, waits, labels, starts = [], [], {}, []
    rank, inside = -1, False
    for row in rows[1:]:
        if row[0] == "rank" and len(row) == 3 and row[2] == "{":
            need(not inside and number(row[1], "rank") == rank + 1, "rank")
            rank, inside, labels = rank + 1, True, {}
            continue
        need(inside, f"outside {row}")
        if row == ["}"]:
            inside = False
        elif len(row) == 3 and row[1] in ("requires", "irequires"):
            need(row[0] in labels and row[2] in labels, "label")
            (waits if row[1] == "requires" else starts).append((labels[row[0]], labels[row[2]]))
        else:
            if len(row) > 1 and row[1] == ":":
                need(is_label(row[0]) and row[0] not in labels, "label")
                labels[row[0]], row = len(tasks), row[2:]
            tasks.append(operation(row, rank, ranks))
    need(not inside and rank + 1 == ranks, "cut short")
    return described(ranks, *with_points(tasks, waits, starts))


def with_points(tasks, waits, starts):
    """Return tasks with a point before each whose start another waits for, and all waits."""
    point = {}
    for _, b in starts:
        if b not in point:
            point[b] = len(tasks)
            tasks = [*tasks, ("calc", tasks[b][1], 0, 0)]
    moved = [(point.get(a, a), b) for a, b in waits]
    moved += [(point.get(a, a), point[b]) for a, b in starts]
    return tasks, moved + list(point.items())


def described(ranks, tasks, waits):
    """Return what `graphs.described` says of the same file."""
    partner = matched(tasks)
    need(not circle(len(tasks), waits + list(partner.items())), "a circle")
    names = [name(task) for task in tasks]
    need(any(one[0] == "message" for one in names), "no message")
    edges = {(a, b, int(tasks[b][0] == "send")) for a, b in waits}
    edges |= {(recv, send, 0) for recv, send in partner.items()}
    return ranks, Counter(names), Counter((names[a], names[b], end) for a, b, end in edges)


def name(task):
    """Return what a task is, in our words."""
    if task[0] == "send":
        return "message", task[1], task[2], task[3]
    if task[0] == "calc" and task[2]:
        return "compute", task[1], task[2] * 1000, task[3]
    return "point", task[1]


def matched(tasks):
    """Return the send of each recv: the first of the same ranks and tag that is left."""
    left = defaultdict(list)
    for index, task in enumerate(tasks):
        if task[0] == "send":
            left[task[1], task[2], task[4]].append(index)
    found = {}
    for index, task in enumerate(tasks):
        if task[0] == "recv":
            sends = left[task[2], task[1], task[4]]
            need(sends and tasks[sends[0]][3] == task[3], "no such send")
            found[index] = sends.pop(0)
    need(not any(left.values()), "a send is left")
    return found


def circle(n, waits):
    """Return whether some of `n` tasks wait for each other."""
    done = set()
    while True:
        free = {i for i in range(n) if i not in done and all(b in done for a, b in waits if a == i)}
        if not free:
            return len(done) < n
        done |= free
