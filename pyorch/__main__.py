# SPDX-License-Identifier: GPL-2.0-only
"""``python -m pyorch``: see `pyorch.cli`.

Python puts the folder that it is called in first on the path of imports, and a study may hold a
``yaml.py``: so the folder goes before anything else is imported. The script ``pyorch`` has no need.
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from pyorch.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
