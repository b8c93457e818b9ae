"""A project whose app takes no seconds."""

from pathlib import Path

APP = """
import os, shutil
shutil.copytree({!r}, os.environ["CDK_OUTDIR"], dirs_exist_ok=True)
"""


def write_app(folder: Path, assembly: Path) -> None:
    """Make an app that copies a cloud assembly.

    Args:
        folder: of the project.
        assembly: what an app made.
    """
    (folder / "app.py").write_text(APP.format(str(assembly)))
    (folder / "cdk.json").write_text('{"app": "python3 app.py"}')
