# SPDX-License-Identifier: GPL-2.0-only
"""``python -m pyorch``: see `pyorch.cli`."""

from pyorch.cli import main

if __name__ == "__main__":
    main()
