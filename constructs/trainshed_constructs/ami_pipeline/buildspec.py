"""What AWS CodeBuild runs to bake and publish an AMI."""

import json
from collections.abc import Iterator

from trainshed.pins.model import BuildTools, FileTool
from trainshed.spec import AmiPipelineSpec

# Of the CodeBuild image; the project needs 3.11 or later.
_PYTHON = "3.12"
_TRAINSHED = "python -m trainshed.cli"
_OUTPUT = "build/ami"


def ami_buildspec(spec: AmiPipelineSpec, tools: BuildTools) -> str:
    """Return the build specification, as JSON, which is YAML.

    ACCELERATOR, ORCHESTRATOR and INSTANCE_PROFILE of its environment say which cell it bakes, and
    with which instance profile.

    Args:
        spec: the pipeline.
        tools: what bakes; each file is checked against its sha256.
    """
    variables = ["iam_instance_profile=$INSTANCE_PROFILE"]
    if spec.kms_key:
        variables.append(f"kms_key_id={spec.kms_key}")
    if spec.regions:
        # In single quotes for the shell, in double quotes for HCL.
        variables.append(f"ami_regions={json.dumps(spec.regions)}".replace('"', '\\"'))
    build = [
        f'{_TRAINSHED} ami build "$ACCELERATOR" "$ORCHESTRATOR"',
        f"--output {_OUTPUT}",
        f"--timeout-minutes {spec.timeout_minutes}",
        *(f"--subnet {subnet}" for subnet in spec.subnets),
        *(f'--var "{variable}"' for variable in variables),
    ]
    publish = [
        f"{_TRAINSHED} ami publish {_OUTPUT}/manifest.json --channel {spec.channel} --test",
        *(f"--subnet {subnet}" for subnet in spec.subnets[:1]),
    ]
    return json.dumps(
        {
            "version": 0.2,
            "env": {"shell": "bash", "variables": {"PYTHONPATH": "src", "CHECKPOINT_DISABLE": "1"}},
            "phases": {
                "install": {
                    "runtime-versions": {"python": _PYTHON},
                    "on-failure": "ABORT",
                    "commands": [*_install(tools)],
                },
                "build": {
                    "on-failure": "ABORT",
                    "commands": [" ".join(build), " ".join(publish)],
                },
            },
            "artifacts": {"base-directory": _OUTPUT, "files": ["*.json", "*.md", "*.txt"]},
        },
        indent=1,
    )


def _install(tools: BuildTools) -> Iterator[str]:
    folder = "/tmp/tools"
    yield f"mkdir -p {folder}"
    yield from _download(tools.packer, f"{folder}/packer.zip")
    yield f"unzip -q -o {folder}/packer.zip packer -d /usr/local/bin"
    yield from _download(tools.plugin, f"{folder}/plugin.zip")
    yield f"unzip -q -o {folder}/plugin.zip 'packer-plugin-amazon*' -d {folder}/plugin"
    yield (
        f"packer plugins install --path {folder}/plugin/packer-plugin-amazon* "
        "github.com/hashicorp/amazon"
    )
    yield from _download(tools.session_manager, f"{folder}/session-manager.deb")
    yield f"dpkg --install {folder}/session-manager.deb"
    yield (
        "python -m pip install --quiet --disable-pip-version-check --require-hashes "
        "-r requirements/runtime.txt"
    )


def _download(tool: FileTool, file: str) -> Iterator[str]:
    yield (
        f"curl --fail --silent --show-error --location --proto =https --retry 3 "
        f"--output {file} {tool.url}"
    )
    yield f'echo "{tool.sha256}  {file}" | sha256sum --check --strict'
