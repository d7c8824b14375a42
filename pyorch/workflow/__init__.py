# SPDX-License-Identifier: GPL-2.0-only
"""Takes scenarios and figures, leaves what the Snakefile asks for: runs, inputs, resources."""
