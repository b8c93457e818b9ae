"""What Packer's manifest says that a build has made."""

import json
from pathlib import Path

from trainshed.errors import TrainshedError
from trainshed.files import FoundDirectory, read_text

MANIFEST = "manifest.json"


def manifest_amis(path: Path) -> dict[str, str]:
    """Return the AMI id by region, of the last build in Packer's manifest.

    Raises:
        TrainshedError: the file cannot be read, or is not a manifest with AMIs.
    """
    try:
        manifest = json.loads(read_text(path))
        last = manifest["last_run_uuid"]
        build = next(entry for entry in manifest["builds"] if entry["packer_run_uuid"] == last)
        pairs = [pair.partition(":") for pair in build["artifact_id"].split(",")]
    except FoundDirectory as error:
        raise TrainshedError(
            f"{path} is a directory; name a build's {MANIFEST}, for instance "
            f"build/neuron-ecs/{MANIFEST}, or an AMI id"
        ) from error
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration) as error:
        raise TrainshedError(
            f"{path} is not a Packer manifest of a finished build; give the manifest.json that "
            "trainshed ami build wrote, or an AMI id"
        ) from error
    return {region: image_id for region, _, image_id in pairs}
