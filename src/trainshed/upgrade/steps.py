"""The commands that upgrade a project, to be run in its folder."""

from pathlib import Path

from trainshed.upgrade.environment import OtherVersion
from trainshed.upgrade.synthesis import read_json

REQUIREMENTS = Path("requirements.txt")


def upgrade_steps(other: OtherVersion, wanted: str | None, upgraded: Path) -> list[str]:
    """Return the commands in order.

    Args:
        other: the version to upgrade to.
        wanted: a version, a wheel, or a folder of wheels; None is the newest of the index.
        upgraded: file with the upgraded requirements.
    """
    present = read_json(Path("package.json")).get("devDependencies", {})
    node = [
        f"{name}@{version}"
        for name, version in other.node_packages.items()
        if present.get(name) != version
    ]
    if wanted is None or not Path(wanted).exists():
        install = [f"pip install --no-deps trainshed=={other.version} {other.embedded_aws}"]
    else:
        install = [
            f"# replace the wheels in wheels/ by those of {other.version}",
            "pip install --no-deps wheels/*.whl",
        ]
    return [
        f"cp {upgraded} {REQUIREMENTS}",
        *install,
        f"pip install -r {REQUIREMENTS}",
        *([f"npm install --save-dev --save-exact {' '.join(node)}"] if node else []),
        "pytest && npx cdk diff      # then deploy",
    ]
