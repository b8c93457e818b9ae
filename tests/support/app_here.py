"""A project's CDK app, run in the process of the tests.

CDK is loaded once there; a process of its own takes twelve CPU seconds for each synthesis.
`tests/cli/test_check.py` runs a real app as the commands do.
"""

import runpy
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from trainshed.app.synthesis import INSTALLED, App, Installation, SynthesisedStack, read_assembly


def synthesise_in_this_process(
    app: App, output: Path, _: Installation = INSTALLED
) -> dict[str, SynthesisedStack]:
    """Stand in for `trainshed.app.synthesis.synthesise`, with the same app, folder and context."""
    # Here, because loading CDK takes a second that most tests do not need.
    import aws_cdk as cdk

    (file,) = app.arguments
    make = cdk.App

    def with_context(context: dict[str, Any] | None = None, **settings: Any) -> cdk.App:
        # As variables of the environment give them, those of which Node has read at its start.
        return make(context={**(context or {}), **app.context}, outdir=str(output), **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(app.folder)
        patch.setattr(cdk, "App", with_context)
        # What is for a process of its own: no collection of garbage, no word at Ctrl-C, its path.
        patch.setattr("trainshed.startup.start_fast", lambda: None)
        patch.setattr(signal, "signal", lambda *_: None)
        patch.setattr(sys, "path", [*sys.path])
        if app.region:
            patch.setenv("CDK_DEFAULT_REGION", app.region)
        runpy.run_path(file, run_name="__main__")
    return read_assembly(output)
