"""A package with a plug-in, in a folder."""

from pathlib import Path


def write_plugin(folder: Path, name: str, source: str = "") -> None:
    """Write a package whose entry point leads to `PLUGIN` of its module.

    Args:
        folder: on the path of who shall find it.
        name: of package and module.
        source: of the module; by default it is left out.
    """
    facts = folder / f"{name}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[embedded_aws]\n{name} = {name}:PLUGIN\n")
    if source:
        (folder / f"{name}.py").write_text(source)
