"""Count the walk of a cluster file from YAML to template, as docs/adr/0042-walk.md says.

Run it in a checkout: python scripts/walk.py
"""

import json
import pkgutil
import sys
from collections import Counter
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

ROOT = Path.cwd()
ROOTS = ("trainshed", "trainshed_constructs", "trainshed_stacks")
sys.path[1:1] = [str(ROOT / source) for source in ("src", "constructs", "stacks")]


def load_everything() -> None:
    """Import all modules, so that imports are no part of the walk."""
    for root in ROOTS:
        for module in pkgutil.walk_packages(import_module(root).__path__, f"{root}."):
            # Handlers run on AWS alone, and `python -m` parses the command line.
            if not module.name.endswith(("handler", "__main__")):
                with suppress(ImportError, SystemExit), redirect_stdout(StringIO()):
                    import_module(module.name)


class Walk:
    """Stops and returns, each with the part of the walk in which it came first.

    Attributes:
        part: of the walk: up to the plan, or after it.
        stops: modules of which a function ran.
        returns: functions that handed a value to another module.
    """

    def __init__(self) -> None:
        self.part = "plan"
        self.stops: dict[str, str] = {}
        self.returns: dict[tuple[str, str], str] = {}

    def profile(self, frame: FrameType, event: str, value: object) -> None:
        """Take a call or a return, as `sys.setprofile` gives them."""
        module = _module(frame)
        if event == "call" and module:
            self.stops.setdefault(module, self.part)
        elif event == "return" and module and value is not None:
            caller = frame.f_back
            while caller and not _module(caller):
                caller = caller.f_back
            function = frame.f_code.co_qualname
            if caller and _module(caller) != module and "<" not in function:
                self.returns.setdefault((module, function), self.part)


def _module(frame: FrameType) -> str | None:
    name: str = frame.f_globals.get("__name__", "")
    return name if name.partition(".")[0] in ROOTS else None


def main() -> None:
    """Walk, and print the row of the table."""
    load_everything()
    import aws_cdk as cdk

    from trainshed.plan import load_fleet
    from trainshed.spec import cluster_files
    from trainshed_stacks import add_fleet

    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    walk = Walk()
    with TemporaryDirectory() as folder:
        app = cdk.App(context=context, outdir=folder)
        sys.setprofile(walk.profile)
        files = cluster_files("clusters/train.yaml", "-c clusters=")
        fleet = load_fleet(files, account=None, region="us-west-2")
        walk.part = "stacks"
        add_fleet(app, fleet)
        app.synth()
        sys.setprofile(None)
    lines = []
    for what, found in (("stops", walk.stops), ("returns", walk.returns)):
        to_plan = sum(part == "plan" for part in found.values())
        lines.append(f"{len(found)} {what}, {to_plan} of them up to the plan")
    rooms = Counter(".".join(module.split(".")[:2]) for module in walk.stops)
    lines.append(", ".join(f"{count} {room}" for room, count in rooms.most_common()))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
