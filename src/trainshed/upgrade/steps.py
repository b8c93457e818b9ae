"""The commands that upgrade a project, to be run in its folder."""

from pathlib import Path

from trainshed.app.synthesis import read_json
from trainshed.upgrade.environment import OtherVersion, Source

REQUIREMENTS = Path("requirements.txt")


def upgrade_steps(other: OtherVersion, source: Source, upgraded: Path) -> list[str]:
    """Return the commands in order.

    Args:
        other: the version to upgrade to.
        source: where pip found it.
        upgraded: file with the upgraded requirements.
    """
    present = read_json(Path("package.json")).get("devDependencies", {})
    node = [
        f"{name}@{version}"
        for name, version in other.node_packages.items()
        if present.get(name) != version
    ]
    if source.is_file:
        install = [
            f"# replace the wheels in wheels/ by those of {other.version}",
            "pip install --no-deps wheels/*.whl",
        ]
    else:
        install = [f"pip install --no-deps trainshed=={other.version} {other.embedded_aws}"]
    return [
        f"cp {upgraded} {REQUIREMENTS}",
        *install,
        f"pip install -r {REQUIREMENTS}",
        *([f"npm install --save-dev --save-exact {' '.join(node)}"] if node else []),
        "pytest      # then deploy",
    ]
