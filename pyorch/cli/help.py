# SPDX-License-Identifier: GPL-2.0-only
"""The help of a group: its commands below their headings, as plain text.

What typer writes with rich has frames and colours, and takes longer to import than all the rest.
"""

from typing import Any

from typer.core import TyperGroup

#: Of a line of help; a narrower terminal has shorter ones [columns].
MOST_COLUMNS = 100
#: Longer than any help of a command: none is cut.
_WHOLE = 1000


class Headings(TyperGroup):
    """A group whose help has one section for each ``rich_help_panel``, in order of appearance."""

    def format_commands(self, ctx, formatter) -> None:
        """Write name and help of each command below the heading that it has."""
        width = max(map(len, self.commands), default=0)
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                heading = getattr(command, "rich_help_panel", None) or "Commands"
                row = name.ljust(width), command.get_short_help_str(_WHOLE)
                sections.setdefault(heading, []).append(row)
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows, col_max=width)


#: How each group of commands is made.
PLAIN: dict[str, Any] = {
    "cls": Headings,
    "rich_markup_mode": None,
    "context_settings": {"max_content_width": MOST_COLUMNS},
}
