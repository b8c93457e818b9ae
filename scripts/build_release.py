"""Build the wheel and the source archive of the distribution that a release tag names.

Usage: build_release.py TAG FOLDER, for instance `build_release.py embedded-aws-v0.1.0 dist`.

In a GitHub workflow, links of the README and the metadata lead to the repository: PyPI has no files
that a relative link could lead to. This changes README.md and pyproject.toml of the checkout.

Refuses (exit code 2) a tag that names no distribution of this repository, a tag of another version
than the code's, and a version without a section in the changelog.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A relative one, of Markdown or of an image that is written in HTML to be smaller.
_LINK = re.compile(r'(\]\(|src=")(?![a-z]+:|#)([^)"]+)')


def distributions(root: Path) -> dict[str, Path]:
    """The folder of each distribution, by name: the workspace and its members."""
    workspace = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    folders = [root, *(root / each for each in workspace["tool"]["uv"]["workspace"]["members"])]
    return {
        tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "name"
        ]: folder
        for folder in folders
    }


def hatchling(folder: Path, *arguments: str) -> str:
    """Run hatchling in a folder and return what it prints."""
    command = [sys.executable, "-m", "hatchling", *arguments]
    return subprocess.run(command, cwd=folder, check=True, text=True, stdout=-1).stdout.strip()


def link(folder: Path, repository: str, tag: str) -> None:
    """Have README and metadata of a distribution lead to a repository, at a tag."""

    def address(name: str) -> str:
        path = os.path.normpath(folder.relative_to(ROOT) / name)
        kind = "raw" if path.endswith((".svg", ".png")) else "blob"
        return f"{repository}/{kind}/{tag}/{path}"

    def absolute(found: re.Match[str]) -> str:
        return found[1] + address(found[2])

    readme, metadata = folder / "README.md", folder / "pyproject.toml"
    text = _LINK.sub(absolute, readme.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8")
    owner, name = repository.rsplit("/", 2)[-2:]
    # Where .github/workflows/docs.yml publishes the site.
    site = f"https://{owner.lower()}.github.io/{name}/"
    urls = {"Source": repository, "Documentation": site, "Changelog": address("CHANGELOG.md")}
    with metadata.open("a", encoding="utf-8") as file:
        file.write("\n[project.urls]\n")
        file.writelines(f'{name} = "{url}"\n' for name, url in urls.items())


def main(tag: str, output: str) -> str | None:
    """Build into the folder `output`; return why not, or None."""
    folders = distributions(ROOT)
    name, _, version = tag.rpartition("-v")
    if name not in folders:
        return f"tag {tag!r} names none of {', '.join(sorted(folders))}; write NAME-vVERSION"
    folder = folders[name]
    if version != (actual := hatchling(folder, "version")):
        return f"tag {tag!r} does not match version {actual} of {name}; change one of them"
    changes = (folder / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    if not any(line.split()[:2] == ["##", version] for line in changes):
        return f"{name}'s CHANGELOG.md has no section '## {version}'; put it under 'Unreleased'"
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        link(folder, f"{os.environ['GITHUB_SERVER_URL']}/{repository}", tag)
    hatchling(folder, "build", "-d", str(Path(output).resolve()))
    return None


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if reason := main(*sys.argv[1:]):
        sys.stderr.write(f"error: {reason}\n")
        sys.exit(2)
