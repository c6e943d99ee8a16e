"""What a patch may use. More than enough for a package of this size, and little enough that nobody else notices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    cpu_s: int = 2
    """Processor time decides: unlike the clock on the wall it hardly depends on what else the machine does."""
    wall_s: float = 8.0
    """For patches that sleep or wait."""
    memory_bytes: int = 256 * 1024 * 1024
    """Of address space; there is one process, so this is all the memory besides the folder."""
    folder_bytes: int = 16 * 1024 * 1024
    folder_files: int = 512
    file_bytes: int = 4 * 1024 * 1024
    open_files: int = 64
    threads: int = 16
    request_bytes: int = 8 * 1024 * 1024
    answer_bytes: int = 1024 * 1024
    """What the patched package may say; the hidden tests of a case expect a few thousand bytes."""


LIMITS = SandboxLimits()
