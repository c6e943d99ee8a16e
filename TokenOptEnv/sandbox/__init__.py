"""Runs an agent's own patch where it can harm nobody and learn nothing.

    patch_judge    what an environment asks
    verdict        a patch, applied, run and compared
    sandbox        this side of the wall: requests out, untrusted answers in
    walls          the outer wall (bubblewrap) and what is behind it (`interpreter`)
    zygote         the other side: a fork, new namespaces and an empty folder for each patch
    limits, syscalls, frames    how much, what, and in which form

`docs/sandbox.md` says what holds and what was tried against it.
"""

from TokenOptEnv.sandbox.limits import LIMITS, SandboxLimits
from TokenOptEnv.sandbox.patch_judge import SandboxedPatches, shared
from TokenOptEnv.sandbox.sandbox import End, Ran, Sandbox
from TokenOptEnv.sandbox.verdict import Verdict, judge

__all__ = ["LIMITS", "End", "Ran", "Sandbox", "SandboxLimits", "SandboxedPatches", "Verdict", "judge", "shared"]
