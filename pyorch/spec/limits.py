# SPDX-License-Identifier: GPL-2.0-only
"""Every bound on the size of what is asked for: legal one by one, absurd together.

Far beyond what a laptop can hold or wait for, so whoever meets one has made a slip.
"""

#: Runs of one scenario at one scale: the product of variants and sweep.
MOST_RUNS = 100_000
#: Links of a network, its nodes, and the largest id of one: arrays are as long as that.
MOST_LINKS = 2**22
MOST_NODES = 2**22
#: Messages of a run, and rows of a table that somebody else has made.
MOST_FLOWS = 5_000_000
MOST_ROWS = 20_000_000
#: Computations, messages and barriers of a run.
MOST_TASKS = 20_000_000
#: Which of them wait for which, as a file says it.
MOST_WAITS = 100_000_000
#: Outages of links in a run.
MOST_OUTAGES = 200_000
#: Columns of a table that somebody else has made.
MOST_COLUMNS = 100
#: One message [byte]: all sizes below are exact as floating-point numbers too.
LARGEST_MESSAGE_BYTES = 2**53
#: Packets of one message: their numbers have 32 bits, and one of them means none.
MOST_PACKETS = 2**32 - 2
#: The id of a flow of a file: others follow it.
LARGEST_ID = 2**62
#: Times of one link or workload [ps]: ten days, so that sums of several fit 64 bits.
LONGEST_PS = 10**18
#: Files that are read whole: a scenario or a spec, and a table of links or flows [byte].
LARGEST_TEXT_BYTES = 16 * 2**20
LARGEST_TABLE_BYTES = 4 * 2**30
#: Names become folders; texts go through command lines and C++ [character].
LONGEST_NAME = 64
LONGEST_TEXT = 1000
#: Nesting and values of a YAML document, all aliases written out.
DEEPEST = 40
MOST_VALUES = 100_000
#: Samples of a port until the stop.
MOST_SAMPLES = 10**8
#: Epochs of a controller of the wide area until the stop.
MOST_EPOCHS = 10**6
#: Engines and threads of one run.
MOST_THREADS = 1024
