# SPDX-License-Identifier: GPL-2.0-only
"""A second reader of logs of NCCL: word by word, nothing of pyorch in it."""

from collections import Counter, defaultdict

import networkx as nx
from naive import need

WHITE = " \t\r\x0b\x0c"
SIZES = {"0": 1, "1": 1, "2": 4, "3": 4, "4": 8, "5": 8, "6": 2, "7": 4, "8": 8, "9": 2, "10": 1,
         "11": 1}  # fmt: skip
DIGITS, HEX = set("0123456789"), set("0123456789abcdef")


def digits(word, most=9):
    """Return a whole number of so many digits at most."""
    need(word and set(word) <= DIGITS and len(word) <= most, f"number {word!r}")
    return int(word)


def sender(text):
    """Return host, process and GPU in front of a message, and the words behind them."""
    at = text.find("] ")
    while at >= 0:
        head, tail = text[:at], text[at + 2 :]
        words = head.rpartition(" [")
        gpu, name = words[2], words[0]
        parts = name.split(":")
        is_gpu = set(gpu.removeprefix("-")) <= DIGITS and gpu.removeprefix("-")
        if words[1] and is_gpu and len(parts) >= 3:
            host = parts[-3]
            for mark in WHITE + "[]()<>":
                host = host.rpartition(mark)[2]
            numbers = parts[-2:]
            if host and all(number and set(number) <= DIGITS for number in numbers):
                first, _, rest = tail.partition(" ")
                if first and set(first) <= DIGITS:
                    tail = rest
                if tail.startswith("NCCL INFO "):
                    return (host, numbers[0]), int(gpu), tail[10:]
        at = text.find("] ", at + 1)
    return None


def is_word(word):
    return bool(word) and all(c == "_" or c.isascii() and c.isalnum() for c in word)


def plain(words):
    """Return whether no word is empty or holds white space."""
    return all(word and not set(word) & set(WHITE) for word in words)


def read(data):
    """Return ranks, sizes of messages with how often, and who sends what point to point."""
    live, members, calls, nth = {}, [], [], Counter()
    lines = data.decode("latin-1").split("\n")
    has_init = any(" - Init COMPLETE" in line for line in lines)
    for line in lines:
        if " - Init COMPLETE" in line:
            initialised(line, live, members, nth)
        elif ": opCount " in line:
            calls.append(called(line, live, members, has_init))
    need(calls, "no operation")
    if not has_init:
        number(members, calls)
    return described(members, calls, grouped(members))


def grouped(members):
    """Return the member of each rank of each communicator."""
    groups = defaultdict(dict)
    for index, member in enumerate(members):
        need(member["rank"] not in groups[member["group"]], "a rank twice")
        groups[member["group"]][member["rank"]] = index
        first = groups[member["group"]][next(iter(groups[member["group"]]))]
        need(member["ranks"] == members[first]["ranks"], "other size")
    return groups


def initialised(line, live, members, nth):
    need(len(line) <= 4096, "long")
    found = sender(line)
    need(found, "no communicator")
    process, _, text = found
    need(text.rstrip(WHITE).endswith(" - Init COMPLETE"), "end")
    first, _, rest = text.partition(" ")
    if not text.startswith("comm ") or text.startswith("comm comm "):
        need(is_word(first), "function")
        text = rest
    words = text.split(" ")
    need(len(words) > 8 and words[0::2][:4] == ["comm", "rank", "nranks", "cudaDev"], "words")
    pointer = words[1]
    need(plain([pointer]), "pointer")
    rank, ranks = digits(words[3]), digits(words[5])
    device = "".join(iter_digits(words[7]))[:9]
    need(device, "device")
    more = words[7][len(device) :] + " " + " ".join(words[8:])
    more, device = more.rpartition(" - Init COMPLETE")[0], int(device)
    need(rank < ranks <= 2**22, "ranks")
    has = {key: after(more, key) for key in ("commId", "parent", "color")}
    if has["parent"]:
        need((process, has["parent"]) in live, "parent")
        color = has["color"] or ""
        minus = "-" * color.startswith("-")
        color = "".join(iter_digits(color.removeprefix("-")))
        color = minus + color if color else ""
        name = ("split", members[live[process, has["parent"]]]["group"], color)
    else:
        name = ("id", has["commId"]) if has["commId"] else ("size", ranks)
    if name[0] != "id":
        nth[process, device, name] += 1
        name = (*name, nth[process, device, name])
    live[process, pointer] = len(members)
    members.append({"group": name, "rank": rank, "ranks": ranks, "device": (*process, device)})


def iter_digits(word):
    for c in word:
        if c not in DIGITS:
            return
        yield c


def after(text, key):
    """Return the word behind a key."""
    for part in text.split(f" {key} ")[1:]:
        word = part
        for mark in WHITE:
            word = word.partition(mark)[0]
        if word:
            return word
    return None


def called(line, live, members, has_init):
    need(len(line) <= 4096 and line.count(": opCount ") == 1, "line")
    found = sender(line)
    need(found, "no operation")
    process, gpu, text = found
    name, _, rest = text.partition(": ")
    need(is_word(name), "name")
    words = rest.rstrip(WHITE).split(" ")
    need(plain(words), "white space")
    if len(words) > 6 and words[6] == "acc":
        del words[6:8]
    keys = words[0:16:2]
    need(keys == ["opCount", "sendbuff", "recvbuff", "count", "datatype", "op", "root", "comm"],
         "keys")  # fmt: skip
    need(len(words) in (19, 23) and words[17] == "stream", "words")
    values = dict(zip(keys, words[1:16:2], strict=True))
    need(set(values["opCount"]) <= HEX, "opCount")
    count, kind = digits(values["count"], 19), digits(values["datatype"], 3)
    need(set(values["op"].removeprefix("-")) <= DIGITS and values["op"].removeprefix("-"), "op")
    root = digits(values["root"].removeprefix("-")) * (-1 if values["root"][0] == "-" else 1)
    need(words[16].startswith("[nranks=") and words[16].endswith("]"), "nranks")
    ranks = digits(words[16][8:-1])
    rank = -1
    if len(words) == 23:
        need(words[19] == "task" and words[21] == "globalrank", "task")
        need(set(words[20]) <= DIGITS, "task")
        rank = digits(words[22])
    need(name in ("AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AlltoAll",
                  "AllToAll", "Gather", "Scatter", "Send", "Recv"), "operation")  # fmt: skip
    need(str(kind) in SIZES, "datatype")
    comm = process, values["comm"]
    if comm not in live:
        need(not has_init and 1 <= ranks <= 2**22, "communicator")
        live[comm] = len(members)
        members.append({"group": (), "rank": rank, "ranks": ranks, "device": (*process, gpu, comm)})
    member = live[comm]
    need(ranks == members[member]["ranks"] and 0 <= root < ranks, "ranks")
    size = count * SIZES[str(kind)]
    times = ranks if name in ("AllGather", "ReduceScatter", "AlltoAll", "AllToAll") else 1
    need(size * times <= 2**53, "size")
    return name, member, size, root, (values["opCount"], words[18])


def number(members, calls):
    """Give ranks to the members of a log that does not have any."""
    ranks = members[0]["ranks"]
    few = len({member["device"][:2] for member in members}) == len(members) < ranks
    need(all(member["ranks"] == ranks for member in members), "several communicators")
    need(len(members) == ranks or few, "several communicators")
    if any(member["rank"] < 0 for member in members):
        need(not any(name in ("Send", "Recv") or root for name, _, _, root, _ in calls), "ranks")

        def natural(index):
            host, part = [], ""
            for c in members[index]["device"][0] + "\n":
                if c in DIGITS:
                    part += c
                else:
                    host += [part.zfill(20)] * bool(part) + [c]
                    part = ""
            return "".join(host[:-1]), members[index]["device"][2], index

        for place, index in enumerate(sorted(range(len(members)), key=natural)):
            members[index]["rank"] = place
    need(all(member["rank"] < ranks for member in members), "globalrank")


def described(members, calls, groups):
    largest = max(groups.values(), key=lambda own: members[next(iter(own.values()))]["ranks"])
    size = members[next(iter(largest.values()))]["ranks"]
    place = {}
    for rank in range(size):
        device = members[largest[rank]]["device"] if rank in largest else ("?", rank)
        need(device not in place, "one GPU twice")
        place[device] = rank
    for member in members:
        place.setdefault(member["device"], len(place))
    used = {members[member]["group"] for _, member, *_ in calls}
    is_p2p = any(name in ("Send", "Recv") for name, *_ in calls)
    lists = defaultdict(list)
    for name, member, n_bytes, root, _ in calls:
        if name not in ("Send", "Recv"):
            lists[members[member]["group"], members[member]["rank"]].append((name, n_bytes, root))
    for group in used:
        own = groups[group]
        n = members[next(iter(own.values()))]["ranks"]
        if len(own) < n:
            need(len(used) == 1 and n == len(place) and not is_p2p, "missing ranks")
            for rank in range(n):
                if rank not in own:
                    lists[group, rank] = lists[group, min(own)]
    sizes, pairs = Counter(), Counter()
    for group in used:
        own = groups[group]
        n = members[next(iter(own.values()))]["ranks"]
        where = {rank: place[members[own[rank]]["device"]] if rank in own else rank
                 for rank in range(n)}  # fmt: skip
        did = [lists[group, rank] for rank in range(n)]
        need(all(one == did[0] for one in did), "other operations")
        for name, n_bytes, root in did[0]:
            add(name, n, n_bytes, root, where, sizes, pairs)
    point_to_point(members, calls, place, pairs)
    need(0 < sizes.total() + pairs.total() <= 5_000_000, "messages")
    return len(place), sizes, pairs


def add(name, n, size, root, where, sizes, pairs):
    """Count the messages of one collective."""
    if n == 1 or not size:
        return
    if name in ("Gather", "Scatter"):
        for rank in set(range(n)) - {root}:
            ends = (where[rank], where[root])
            pairs[(*(ends if name == "Gather" else ends[::-1]), size)] += 1
    elif name in ("Broadcast", "Reduce"):
        sizes[size] += n - 1
    elif name == "AllReduce":
        sizes[-(-size // n)] += 2 * n * (n - 1)
    else:  # a part of each rank goes to all others
        sizes[size] += n * (n - 1)


def point_to_point(members, calls, place, pairs):
    """Count what is sent: the k-th send with the k-th recv."""
    queues = defaultdict(lambda: ([], []))
    for name, member, size, peer, _ in calls:
        own = members[member]
        if name == "Send":
            queues[own["group"], own["rank"], peer][0].append((size, place[own["device"]]))
        elif name == "Recv":
            queues[own["group"], peer, own["rank"]][1].append((size, place[own["device"]]))
    for (_, source, target), (sends, recvs) in queues.items():
        need([size for size, _ in sends] == [size for size, _ in recvs], "unequal")
        for (size, a), (_, b) in zip(sends, recvs, strict=True):
            if source != target and size:
                pairs[a, b, size] += 1


def may_hang(data):
    """Return whether operations of which all parts wait for all others never end."""
    live, members, calls = {}, [], []
    lines, nth = data.decode("latin-1").split("\n"), Counter()
    for line in lines:
        if " - Init COMPLETE" in line:
            initialised(line, live, members, nth)
        elif ": opCount " in line:
            calls.append(called(line, live, members, True))
    waits, turns = nx.DiGraph(), Counter()
    last, group = {}, {}  # by stream or communicator of a rank; of sends and recvs
    for number_, (name, member, _, peer, (turn, stream)) in enumerate(calls):
        its = members[member]
        device = its["device"]
        before = last.get((device, member))
        is_p2p = name in ("Send", "Recv")
        if not (is_p2p and before is not None and group.get(before) == (turn, stream)):
            for key in ((device, member), (device, stream)):
                if key in last:
                    waits.add_edge(("begin", number_), ("end", last[key]))
                last[key] = number_
            waits.add_edge(("end", number_), ("begin", number_))
            if is_p2p:
                group[number_] = turn, stream
        own = last[device, member]
        pair = (its["rank"], peer) if name == "Send" else (peer, its["rank"])
        key = (its["group"], pair) if is_p2p else (its["group"], None)
        turns[key, its["rank"], name == "Send"] += 1
        meeting = (key, turns[key, its["rank"], name == "Send"])
        waits.add_edge(("end", own), meeting)
        waits.add_edge(meeting, ("begin", own))
    return not nx.is_directed_acyclic_graph(waits)
