"""`camre`: one application; a wrong word from the user is one line on stderr, never a stack trace."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from TokenOptEnv.cli import (
    bench,
    calibrate,
    catalog,
    compare_backends,
    diff,
    evaluate,
    export,
    leaderboard,
    mcp,
    play,
    policies,
    reference,
    replay,
    report,
    scenarios,
    sensitivity,
    serve,
    stability,
    verify,
)
from TokenOptEnv.errors import CamreError

_FAILED: Final = 1
_MISUSED: Final = 2
_INTERRUPTED: Final = 130
_USAGE_FAULTS: Final = tuple(
    kind for kind in typer.BadParameter.__mro__ if issubclass(kind, Exception) and kind is not Exception
)
"""What the parser raises. Taken from a class that Typer exports: where their base class lives differs by version."""

app = typer.Typer(
    name="camre",
    help="CAMRE: solve code and log tasks at the least cost.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("play")(play.play)
app.command("eval")(evaluate.evaluate)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("report")(report.report)
app.command("replay")(replay.replay)
app.command("diff")(diff.diff)
app.command("verify-run")(verify.verify_run)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("stability")(stability.stability)
app.command("compare-backends")(compare_backends.compare_backends)
app.command("export")(export.export)
app.command("mcp")(mcp.mcp)
app.command("serve")(serve.serve)
app.command("calibrate")(calibrate.calibrate)
app.command("reference")(reference.reference)
app.add_typer(policies.app, name="policies")
app.add_typer(scenarios.app, name="scenarios")
app.add_typer(catalog.app, name="catalog")
app.add_typer(bench.app, name="bench")


@app.callback()
def _camre() -> None:
    """CAMRE: solve code and log tasks at the least cost."""


@app.command()
def version(as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False) -> None:
    """The version of the package and of its scores."""
    import json

    from TokenOptEnv.version import SCORING_VERSION, VERSION

    if as_json:
        typer.echo(json.dumps({"version": VERSION, "scoring_version": SCORING_VERSION}))
    else:
        typer.echo(f"camre {VERSION} (scoring {SCORING_VERSION})")


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code of one command line."""
    try:
        code = typer.main.get_command(app).main(
            args=list(arguments) if arguments is not None else None, prog_name="camre", standalone_mode=False
        )
        sys.stdout.flush()
    except CamreError as fault:
        return _complain(str(fault), _FAILED)
    except _USAGE_FAULTS as fault:
        message = getattr(fault, "format_message", fault.__str__)()
        return _complain(f"{message.rstrip('. ')}; see: camre --help", _MISUSED)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        """Whoever read our output has gone; what Python still holds for it must not fail at exit."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except OSError as fault:
        where = f": {fault.filename}" if fault.filename else ""
        return _complain(f"{fault.strerror or fault}{where}", _FAILED)
    if code == _INTERRUPTED:  # some versions of the parser turn Ctrl-C into a code without a word
        return _complain("interrupted", _INTERRUPTED)
    return code if isinstance(code, int) else 0


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"camre: {' '.join(message.split())}\n")
    return code


def main() -> None:
    sys.exit(run())
