"""Run a project's CDK app with one Python or another, and read the cloud assembly that it makes.

It needs no account, and no CDK CLI.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trainshed import __version__
from trainshed.errors import TrainshedError
from trainshed.files import LARGEST_MADE, read_text
from trainshed.region import environment_region

CONFIGURATION = "cdk.json"
# The CLI gives these: names of resources by their path, and nothing that changes with the version.
_CONTEXT = {"aws:cdk:enable-path-metadata": True, "aws:cdk:version-reporting": False}
_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
# Metadata of a resource.
_PATH = "aws:cdk:path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A Python that has a version of trainshed, and what it needs.

    Attributes:
        python: its program.
        version: of trainshed.
    """

    python: Path
    version: str


INSTALLED = Installation(python=Path(sys.executable), version=__version__)
"""The one that runs this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A CDK app in Python.

    Attributes:
        folder: of the project.
        arguments: what Python is called with.
        context: of the files that the CDK CLI reads.
        region: of the environment, for stacks that name none.
        account: of the environment, likewise; None to leave it open.
    """

    folder: Path
    arguments: tuple[str, ...]
    context: Mapping[str, Any]
    region: str | None
    account: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisedStack:
    """A synthesised stack.

    Attributes:
        path: of its construct in the app.
        region: where it is deployed.
        file: of its template.
        template: its template.
        after: names of the stacks that it is deployed after.
        account: where it is deployed; not one where the app leaves that open.
        protected: nobody can delete it (termination protection).
    """

    path: str
    region: str
    file: Path
    template: Mapping[str, Any]
    after: frozenset[str] = frozenset()
    account: str = "unknown-account"
    protected: bool = False

    def construct(self, logical_id: str) -> str:
        """Return the path of a resource's construct, or one made of its logical id."""
        resource = self.template.get("Resources", {}).get(logical_id, {})
        return str(resource.get("Metadata", {}).get(_PATH, f"{self.path}/{logical_id}"))

    def name(self, logical_id: str) -> str:
        """Return the path of a resource's construct in the stack, or its logical id."""
        path = self.construct(logical_id).removeprefix(f"{self.path}/")
        return path.removesuffix("/Default").removesuffix("/Resource")


def read_app(folder: Path) -> App:
    """Read how the project in a folder starts its app.

    Raises:
        TrainshedError: there is no project, or its app is not started by a plain `python3`.
    """
    configuration = read_json(folder / CONFIGURATION)
    app, own_context = configuration.get("app") or "", configuration.get("context", {})
    if not isinstance(app, str):
        raise TrainshedError(
            f'{CONFIGURATION}: app is not a text; write a command, for instance "python3 app.py"'
        )
    if not isinstance(own_context, dict):
        raise TrainshedError(f"{CONFIGURATION}: context is not a JSON object; give it names")
    if not app.strip():
        raise TrainshedError(
            f"{folder / CONFIGURATION} with an app is missing: run this in the folder of a "
            "project, such as trainshed init writes"
        )
    try:
        python, *arguments = shlex.split(app)
    except ValueError as error:
        raise TrainshedError(f"{CONFIGURATION}: app: {app!r} is not a command: {error}") from error
    if python not in ("python", "python3"):
        raise TrainshedError(
            f"{CONFIGURATION}: app: {python} cannot be swapped for another Python; start the app "
            "by python3"
        )
    context = {
        **own_context,
        **read_json(folder / "cdk.context.json"),
        **_CONTEXT,
    }
    return App(
        folder=folder,
        arguments=tuple(arguments),
        context=context,
        region=environment_region(os.environ),
    )


def synthesise(
    app: App, output: Path, installation: Installation = INSTALLED
) -> dict[str, SynthesisedStack]:
    """Return the stacks of an app by name, in the order of its cloud assembly.

    Args:
        app: the project's.
        output: folder for the cloud assembly.
        installation: runs it.

    Raises:
        TrainshedError: the app fails.
    """
    # What a stopped app leaves in its temporary folder goes, too: jsii unpacks itself there. Node,
    # which may end after Python, may still be writing.
    with TemporaryDirectory(prefix="trainshed-app-", ignore_cleanup_errors=True) as temporary:
        done = subprocess.run(
            [str(installation.python), *app.arguments],
            cwd=app.folder,
            env=_environment(app, installation.python, output) | {"TMPDIR": temporary},
            capture_output=True,
            text=True,
            errors="replace",
        )
    if done.returncode or not (output / "manifest.json").is_file():
        said = done.stderr.rstrip().splitlines()[-10:]
        if not done.returncode:
            said.append("it ended without a cloud assembly; let it end with app.synth()")
        elif not said:
            said.append(f"it ended with exit code {done.returncode}, and printed nothing")
        raise TrainshedError(
            f"with trainshed {installation.version} the app does not synthesise:", *said
        )
    return read_assembly(output)


def with_needed(name: str, stacks: Mapping[str, SynthesisedStack]) -> dict[str, SynthesisedStack]:
    """Return a stack and those that it is deployed after, each after what it needs.

    Args:
        name: the stack's.
        stacks: of an assembly.
    """
    ordered: dict[str, SynthesisedStack] = {}

    def add(each: str) -> None:
        for needed in sorted(stacks[each].after):
            add(needed)
        ordered.setdefault(each, stacks[each])

    add(name)
    return ordered


def read_assembly(folder: Path) -> dict[str, SynthesisedStack]:
    """Return the stacks of a cloud assembly by name, in its order; those of its stages too."""
    stacks: dict[str, SynthesisedStack] = {}
    for manifest in sorted(folder.rglob("manifest.json")):
        artifacts = {
            key: artifact
            for key, artifact in read_json(manifest)["artifacts"].items()
            if artifact["type"] == "aws:cloudformation:stack"
        }
        # Artifacts name each other by their own ids, and stacks may have other names.
        names = {key: each["properties"].get("stackName", key) for key, each in artifacts.items()}
        for key, artifact in artifacts.items():
            file = manifest.parent / artifact["properties"]["templateFile"]
            stacks[names[key]] = SynthesisedStack(
                # With a stack name that is not the path, it follows in brackets.
                path=artifact.get("displayName", key).partition(" (")[0],
                region=artifact["environment"].rpartition("/")[2],
                file=file,
                template=read_json(file),
                after=frozenset(
                    names[other] for other in artifact.get("dependencies", ()) if other in names
                ),
                account=artifact["environment"].removeprefix("aws://").partition("/")[0],
                protected=artifact["properties"].get("terminationProtection", False),
            )
    return stacks


def _environment(app: App, python: Path, output: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _REGION or not name.startswith(("AWS_", "CDK_DEFAULT_"))
    }
    if app.region:
        kept["CDK_DEFAULT_REGION"] = app.region
    if app.account:
        kept["CDK_DEFAULT_ACCOUNT"] = app.account
    return kept | {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_OUTDIR": str(output),
        "CDK_CONTEXT_JSON": json.dumps(app.context),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
    }


def read_json(path: Path) -> Any:
    """Return the object in a JSON file; an empty one when there is no file.

    Raises:
        TrainshedError: it is not JSON, or not an object.
    """
    try:
        found = json.loads(read_text(path, LARGEST_MADE)) if path.is_file() else {}
    except (ValueError, RecursionError) as error:
        raise TrainshedError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise TrainshedError(f"{path} is not a JSON object, as in {{...}}")
    return found
