# SPDX-License-Identifier: GPL-2.0-only
"""The constants of NCCL's own model of what a collective takes, as NVIDIA publishes them.

Source: NCCL 2.30.7: src/graph/tuning.cc (latencies, limits of bandwidth, corrections of trees),
src/graph/topo.h (NVLink), src/graph/search.cc (speeds of channels), src/include/device.h and
src/init.cc (buffers, threads). Latencies in us, bandwidths in GB/s, as there.
"""

PROTOCOLS = ("ll", "ll128", "simple")

#: Once in a collective [us], by protocol.
BASE_US = {
    "ring": (6.6, 14.0, 8.4), "tree": (6.8, 14.0, 8.4), "nvls": (0.0, 0.0, 0.0),
    "collnet": (0.0, 0.0, 0.0),
}  # fmt: skip
#: In each step inside a node, over NVLink [us].
NVLINK_US = {
    "ring": (0.6, 1.9, 3.4), "tree": (0.6, 1.25, 4.0), "nvls": (0.0, 0.0, 25.0),
    "collnet": (0.0, 0.0, 2.8),
}  # fmt: skip
#: In each step between nodes [us].
NET_US = {
    "ring": (2.7, 4.0, 14.0), "tree": (5.0, 8.5, 14.0), "collnet": (0.0, 0.0, 30.0),
}  # fmt: skip
#: What posting a step to the network takes on hosts with Intel's processors [us]; Simple posts 3.
NET_OVERHEAD_US = (1.0, 1.0, 3.0)

#: One direction of all NVLinks of a GPU [GB/s].
NVLINK_GB_PER_S = {"ampere": 12 * 20.0, "hopper": 18 * 20.6, "blackwell": 18 * 40.1}
#: The speeds that a channel may have: inside a node, between nodes [GB/s].
SPEEDS_GB_PER_S = {
    "ampere": (
        (40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0),
        (48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.4,
         1.2, 0.24, 0.12),
    ),
    "hopper": (
        (60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0),
        (48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4, 1.2, 0.24,
         0.12),
    ),
    "blackwell": (
        (90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0),
        (96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0,
         3.0, 2.4, 1.2, 0.24, 0.12),
    ),
}  # fmt: skip
#: Channels that NCCL finds in a node of 8 GPUs with NVSwitch, as its logs print for A100 and H100.
CHANNELS_IN_NODE = 12
MOST_CHANNELS = 64
#: To which places of a node its two children in a tree send, by pattern: balanced, split, tree.
TREE_CHILDREN = {1: (1, 0), 2: (1, 1), 3: (0, 0)}

#: Limits of the GPUs [GB/s]: on one node, on two, on more. LL on several nodes: those of Intel.
LL_GB_PER_S = {"ampere": 87.7, "hopper": 141.0, "blackwell": 282.0}
LL_NODES_GB_PER_S = (39.0, 20.4)
RING_LL128_GB_PER_S = {
    "ampere": (20.0, 20.0, 20.0), "hopper": (36.7, 36.7, 36.7), "blackwell": (40.0, 40.0, 40.0),
}  # fmt: skip
TREE_LL128_GB_PER_S = {
    "ampere": (20.0, 20.0, 20.0), "hopper": (36.7, 36.7, 29.0), "blackwell": (55.6, 31.67, 20.0),
}  # fmt: skip
TREE_GB_PER_S = {
    "ampere": (24.0, 23.6, 17.8), "hopper": (38.7, 41.4, 36.0), "blackwell": (70.0, 42.8, 24.0),
}  # fmt: skip
#: Share of the bandwidth that reductions in NVSwitch reach [1].
NVLS_SHARE = {"ampere": 0.0, "hopper": 0.85, "blackwell": 0.74}
#: Share of its bandwidth that an all-reduce over trees reaches [1]: protocols, from 64 B, doubling.
TREE_SHARE = (
    (1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
     1.0, 1.0, 1.0, 1.0),
    (1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9,
     0.9, 0.9, 1.0, 1.0),
    (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7,
     0.7, 0.8, 0.9, 0.9),
)  # fmt: skip

#: Bytes that carry data and bytes on the wire, of a line of each protocol.
LINES_BYTES = {"ll": (8, 16), "ll128": (120, 128), "simple": (16, 16)}
#: Data of a chunk: of rings, of trees [byte]. Simple has 4 MiB of buffer in 8 steps, rings take 4.
CHUNK_BYTES = {
    "ring": {"ll": 32 << 10, "ll128": 576_000, "simple": 2 << 20},
    "tree": {"ll": 32 << 10, "ll128": 576_000, "simple": 512 << 10},
}
THREADS = {"ll": 512, "ll128": 640, "simple": 512}
#: Data for which a thread is worth it [byte]; of a ring with LL for each rank.
THREAD_BYTES = {"ll": 8, "ll128": 8, "simple": 64}
#: Traffic for which a channel is worth it [byte].
CHANNEL_BYTES = 32 << 10
#: Up to here a message between two GPUs of a node goes by LL [byte].
POINT_TO_POINT_LL_BYTES = 16 << 10
