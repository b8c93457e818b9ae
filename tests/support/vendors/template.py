"""The copy of packer/ that is baked with stub vendors: only what confirms downloads differs."""

import json
import shutil
from pathlib import Path

from vendors.pins import expand
from vendors.site import Site, owner_of

from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import write_recipes


def copy_template(packer: Path, target: Path, site: Site) -> None:
    """Copy a template; its keys, fingerprints and checksums become those of the stub vendors.

    Versions, URLs and packages stay, so that the bake asks for what a real one asks for.
    """
    shutil.copytree(packer, target, symlinks=True)
    document = json.loads(json.dumps(site.pins.document))
    for repository in document["repositories"].values():
        repository["fingerprint"] = site.keys.fingerprint(owner_of(repository["key"]))
    for component in document["components"].values():
        for source in component["sources"].values():
            if source.get("fingerprint"):
                owner = owner_of(source["key"])
                source["fingerprint"] = site.keys.fingerprint(owner)
                if not source["key"].startswith("https://"):
                    # A key that the template brings along.
                    (target / "scripts" / "lib" / source["key"]).write_bytes(
                        site.keys.public(owner)
                    )
            if source.get("sha256"):
                url = expand(source["url"], source.get("version", component["version"]))
                source["sha256"] = site.checksums[url]
    (target / "pins.json").write_text(json.dumps(document, indent=2) + "\n")
    if (target / "recipes").exists():
        write_recipes(target, read_pins(target / "pins.json"))
