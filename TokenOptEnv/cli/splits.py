"""What `--split` takes, told alike by every command that takes the same."""

from __future__ import annotations

ANY = "core, train, validation, test or imported."
LISTED = "core, validation, test or imported; train has no list."
