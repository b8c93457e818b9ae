"""The lock of a control plane: its add-ons of EKS, and its charts of others, by version."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from trainshed.errors import TrainshedError
from trainshed.files.reading import MissingFile, read_bytes

# EKS API reference, CreateAddon: its own form of a version.
_Version = Annotated[str, StringConstraints(pattern=r"^v?[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+$")]
_Minor = Annotated[str, StringConstraints(pattern=r"^1\.[0-9]{1,3}$")]
# Helm documentation, "Charts": versions are those of Semantic Versioning 2.
_SEMANTIC = r"^[0-9]+(\.[0-9]+){2}(-[0-9A-Za-z.-]{1,40})?$"
_Release = Annotated[str, StringConstraints(pattern=_SEMANTIC)]
_Digest = Annotated[str, StringConstraints(pattern="^sha256:[0-9a-f]{64}$")]
_Oci = Annotated[str, StringConstraints(pattern=r"^oci://[a-z0-9.-]+(/[a-z0-9._-]+)+$")]
_CONFIG = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedChart:
    """A chart that somebody else has published.

    Attributes:
        oci: where, for instance `oci://registry.k8s.io/jobset/charts/jobset`.
        version: of it.
        digest: of its manifest in the registry.
        archive: digest of the chart itself, by which a copy of it is checked.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    oci: _Oci
    version: _Release
    digest: _Digest
    archive: _Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeLock:
    """What is locked for a control plane.

    Attributes:
        kubernetes: the minor version that it is for.
        add_ons: version of each add-on of EKS, by its name.
        charts: by their name; none in a lock of an earlier trainshed.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    kubernetes: _Minor
    add_ons: Mapping[str, _Version]
    charts: Mapping[str, LockedChart] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return it as its file has it."""
        return json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"


_ADAPTER = TypeAdapter(KubeLock)


def lock_file(cluster_file: Path, control_plane: str) -> Path:
    """Return the file of a lock: clusters of one folder and one control plane have the same.

    Args:
        cluster_file: of one of its clusters.
        control_plane: its name.
    """
    # Not YAML: it would be taken for a cluster file.
    return cluster_file.parent / f"{control_plane}.lock.json"


def read_lock(file: Path) -> KubeLock | None:
    """Read a lock; None where there is none.

    Raises:
        TrainshedError: it is not one, or cannot be read.
    """
    try:
        return _ADAPTER.validate_json(read_bytes(file))
    except MissingFile:
        return None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        wrong = f"{where}: {first['msg']}" if where else first["msg"]
    raise TrainshedError(f"{file} is no lock of a control plane: {wrong}")
