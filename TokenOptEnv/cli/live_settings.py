"""What a command says of live models, over what the environment says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from TokenOptEnv.backends import LiveSettings

KINDS = "simulated, recorded:FILE or live:URL."
CAP = "What a recording may cost in all, in dollars; 1 else."
SERVED_AS = "MODEL=NAME at the live endpoint, or NAME for every model."


def told(record: Path | None, cap_usd: str | None, served_as: list[str] | None) -> LiveSettings:
    import os
    from dataclasses import replace

    from TokenOptEnv.backends import LiveSettings, live_settings

    settings = LiveSettings.from_environment(os.environ)
    return replace(
        settings,
        record=record or settings.record,
        cap_nano_usd=settings.cap_nano_usd if cap_usd is None else live_settings.nano_usd("--cap-usd", cap_usd),
        served_as=live_settings.served_as(served_as) if served_as else settings.served_as,
    )
