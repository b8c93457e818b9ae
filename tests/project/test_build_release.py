"""`scripts/build_release.py` builds what a tag names, and nothing that does not fit the tag."""

import email
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Those of every distribution, then those of trainshed alone.
NEEDED = [
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"),
    *("scripts/build_release.py", "action.yml", "cdk.json", "package.json", "package-lock.json"),
    *("requirements/dev.txt", "requirements/runtime.txt"),
]
FOLDERS = ["src", "constructs", "stacks", "packer", "containers", "embedded-aws/src"]
VERSION = "0.1.0"

Build = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    checkout = tmp_path / "checkout"
    for folder in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, checkout / folder, ignore=ignored)
    for name in [*NEEDED, *(f"embedded-aws/{each}" for each in NEEDED[:4])]:
        (checkout / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    return checkout


@pytest.fixture
def build(checkout: Path) -> Build:
    def run(tag: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, str(checkout / "scripts/build_release.py")]
        output = str(checkout / "dist")
        return subprocess.run([*program, tag, output], capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("name", ["trainshed", "embedded-aws"])
def test_a_tag_builds_its_distribution_and_no_other(
    build: Build, checkout: Path, name: str
) -> None:
    done = build(f"{name}-v{VERSION}")

    assert done.returncode == 0, done.stderr
    stem = f"{name.replace('-', '_')}-{VERSION}"
    built = sorted(path.name for path in (checkout / "dist").iterdir())
    assert built == [f"{stem}-py3-none-any.whl", f"{stem}.tar.gz"]
    with zipfile.ZipFile(checkout / "dist" / built[0]) as wheel:
        metadata = email.message_from_bytes(wheel.read(f"{stem}.dist-info/METADATA"))
        assert wheel.read(f"{stem}.dist-info/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Version"] == VERSION


@pytest.mark.parametrize(
    ("name", "changelog"),
    [("trainshed", "CHANGELOG.md"), ("embedded-aws", "embedded-aws/CHANGELOG.md")],
)
def test_on_pypi_every_link_leads_to_the_repository(
    build: Build, checkout: Path, name: str, changelog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "us/trainshed")
    tag = f"{name}-v{VERSION}"

    done = build(tag)

    assert done.returncode == 0, done.stderr
    [wheel] = (checkout / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [information] = [each for each in archive.namelist() if each.endswith("/METADATA")]
        metadata = email.message_from_bytes(archive.read(information))
    files = f"https://github.com/us/trainshed/blob/{tag}"
    assert metadata.get_all("Project-URL") == [
        "Source, https://github.com/us/trainshed",
        "Documentation, https://us.github.io/trainshed/",
        f"Changelog, {files}/{changelog}",
    ]
    description = str(metadata.get_payload())
    links = re.findall(r'(?:\]\(|src=")([^)"]+)', description)
    assert [each for each in links if not each.startswith("https://")] == []
    for path in re.findall(rf"{re.escape(files)}/([^)#]+)", description):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        pytest.param(f"v{VERSION}", "names none of embedded-aws, trainshed", id="no-name"),
        pytest.param(f"other-v{VERSION}", "names none of embedded-aws, trainshed", id="unknown"),
        pytest.param("trainshed-v9.9.9", f"does not match version {VERSION}", id="version"),
        pytest.param(f"trainshed-v{VERSION}", f"no section '## {VERSION}'", id="changelog"),
    ],
)
def test_a_tag_that_does_not_fit_builds_nothing(
    build: Build, checkout: Path, tag: str, reason: str
) -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (checkout / "CHANGELOG.md").write_text(text.replace(f"## {VERSION}", "## Unreleased"))

    done = build(tag)

    assert done.returncode == 2
    assert reason in done.stderr
    assert not (checkout / "dist").exists()


def test_trainshed_needs_the_embedded_aws_of_this_repository() -> None:
    ours, embedded = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in (".", "embedded-aws")
    )

    assert ours["optional-dependencies"]["offline"] == [f"embedded-aws=={embedded['version']}"]
