"""What FSx refuses about the properties of a Lustre file system.

FSx API reference (CreateFileSystem, LustreConfiguration): capacity, throughput and metadata
ladders, versions, storage classes, backups. FSx user guide: EFA only on PERSISTENT_2 with a
metadata configuration, in capacity steps that follow the throughput. Inferred: the exact words.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Refusal
from embedded_aws.constraints import checks_arguments

checks_arguments("fsx", "BadRequest")

# The parameters of CreateFileSystem, or a file system's as they would be after an update.
FileSystemParams = Mapping[str, Any]

_STEP_GIB = {"SCRATCH_1": 3600, "SCRATCH_2": 2400, "PERSISTENT_1": 2400, "PERSISTENT_2": 2400}
_HDD_STEP_GIB = {12: 6000, 40: 1800}
_EFA_STEP_GIB = {1000: 4800, 500: 9600, 250: 19200, 125: 38400}
_THROUGHPUTS = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
_VERSIONS = ("2.10", "2.12", "2.15")
_TIERED_STEP_MBPS = 4000
# Storage types of one deployment type only.
_DEPLOYMENT_OF = {"HDD": "PERSISTENT_1", "INTELLIGENT_TIERING": "PERSISTENT_2"}


def bad_request(message: str) -> Refusal:
    """Return the refusal that FSx gives for most invalid values."""
    return Refusal("BadRequest", message)


def storage_type(params: FileSystemParams) -> str:
    """Return SSD, HDD or INTELLIGENT_TIERING; the default is SSD."""
    kind: str = params.get("StorageType", "SSD")
    return kind


def deployment_type(params: FileSystemParams) -> str:
    """Return the deployment type; the API's default is SCRATCH_1."""
    kind: str = params.get("LustreConfiguration", {}).get("DeploymentType", "SCRATCH_1")
    return kind


def default_version(params: FileSystemParams) -> str:
    """Return the Lustre version that FSx chooses when none is given."""
    if deployment_type(params) != "PERSISTENT_2":
        return "2.10"
    return "2.15" if "MetadataConfiguration" in params["LustreConfiguration"] else "2.12"


def check_lustre(params: FileSystemParams) -> None:
    """Refuse a Lustre file system that FSx refuses.

    Raises:
        Refusal: as FSx does.
    """
    lustre = params.get("LustreConfiguration", {})
    deployment, storage = deployment_type(params), storage_type(params)
    if deployment != _DEPLOYMENT_OF.get(storage, deployment):
        raise bad_request(f"StorageType {storage} is not supported on {deployment} file systems.")
    _check_version(params)
    _check_throughput(lustre, deployment, storage)
    _check_metadata(lustre, deployment, storage)
    _check_efa(lustre, deployment)
    _check_capacity(params)
    _check_durability(params, deployment)


def _check_version(params: FileSystemParams) -> None:
    version = params.get("FileSystemTypeVersion", default_version(params))
    with_metadata = "MetadataConfiguration" in params.get("LustreConfiguration", {})
    persistent_2 = deployment_type(params) == "PERSISTENT_2"
    if version not in _VERSIONS:
        raise bad_request(f"FileSystemTypeVersion {version} must be one of {', '.join(_VERSIONS)}.")
    if persistent_2 and (version == "2.10" or (version == "2.12" and with_metadata)):
        suffix = " with a metadata configuration" if version == "2.12" else ""
        raise bad_request(
            f"FileSystemTypeVersion {version} is not supported on PERSISTENT_2 file systems"
            f"{suffix}."
        )


def _check_throughput(lustre: Mapping[str, Any], deployment: str, storage: str) -> None:
    per_unit, capacity = lustre.get("PerUnitStorageThroughput"), lustre.get("ThroughputCapacity")
    if storage == "INTELLIGENT_TIERING":
        if not capacity or capacity % _TIERED_STEP_MBPS:
            raise bad_request(
                f"ThroughputCapacity {capacity} must be a multiple of {_TIERED_STEP_MBPS} MBps "
                "for Intelligent-Tiering file systems."
            )
    elif capacity is not None:
        raise bad_request("ThroughputCapacity is for Intelligent-Tiering file systems only.")
    allowed = _THROUGHPUTS.get((deployment, storage))
    if allowed is None and per_unit is not None:
        raise Refusal(
            "InvalidPerUnitStorageThroughput",
            f"PerUnitStorageThroughput cannot be set on {deployment} {storage} file systems.",
        )
    if allowed is not None and per_unit not in allowed:
        raise Refusal(
            "InvalidPerUnitStorageThroughput",
            f"PerUnitStorageThroughput {per_unit} is not valid for {deployment} {storage} file "
            f"systems. Valid values are {', '.join(map(str, allowed))} MB/s/TiB.",
        )


def _check_metadata(lustre: Mapping[str, Any], deployment: str, storage: str) -> None:
    metadata = lustre.get("MetadataConfiguration")
    if metadata is None:
        return
    if deployment != "PERSISTENT_2":
        raise bad_request("MetadataConfiguration is for PERSISTENT_2 file systems only.")
    mode, iops = metadata.get("Mode"), metadata.get("Iops")
    if (mode == "AUTOMATIC") == (iops is not None):
        raise bad_request("Metadata Iops is required in USER_PROVISIONED mode, and only there.")
    if iops is None:
        return
    if storage == "INTELLIGENT_TIERING":
        valid, allowed = iops in (6000, 12000), "6000, 12000"
    else:
        valid = iops in (1500, 3000, 6000) or iops % 12000 == 0
        allowed = "1500, 3000, 6000, 12000 and multiples of 12000 up to 192000"
    if not valid:
        raise bad_request(f"Metadata Iops {iops} is not valid. Valid values are {allowed}.")


def _check_efa(lustre: Mapping[str, Any], deployment: str) -> None:
    if not lustre.get("EfaEnabled"):
        return
    if deployment != "PERSISTENT_2" or "MetadataConfiguration" not in lustre:
        raise bad_request(
            "EFA is supported on PERSISTENT_2 file systems with a metadata configuration only."
        )


def _check_capacity(params: FileSystemParams) -> None:
    """Refuse an invalid storage capacity.

    Raises:
        Refusal: BadRequest with the nearest valid capacities.
    """
    capacity, storage = params.get("StorageCapacity"), storage_type(params)
    lustre, deployment = params.get("LustreConfiguration", {}), deployment_type(params)
    if storage == "INTELLIGENT_TIERING":
        if capacity is not None:
            raise bad_request("StorageCapacity cannot be set for Intelligent-Tiering file systems.")
        return
    if lustre.get("EfaEnabled"):
        step = _EFA_STEP_GIB[lustre["PerUnitStorageThroughput"]]
        small: tuple[int, ...] = ()
        kind = (
            f"EFA-enabled {deployment} file systems at "
            f"{lustre['PerUnitStorageThroughput']} MB/s/TiB"
        )
    elif storage == "HDD":
        step, small = _HDD_STEP_GIB[lustre["PerUnitStorageThroughput"]], ()
        kind = f"{deployment} HDD file systems at {lustre['PerUnitStorageThroughput']} MB/s/TiB"
    else:
        step, small = _STEP_GIB[deployment], (1200, 2400)
        kind = f"{deployment} file systems"
    if capacity in small or (capacity and capacity % step == 0):
        return
    first = f"{', '.join(map(str, small))} and multiples" if small else "multiples"
    raise bad_request(
        f"Storage capacity {capacity} GiB is not valid for {kind}. "
        f"Valid values are {first} of {step} GiB."
    )


def _check_durability(params: FileSystemParams, deployment: str) -> None:
    lustre = params.get("LustreConfiguration", {})
    scratch = deployment.startswith("SCRATCH")
    days = lustre.get("AutomaticBackupRetentionDays", 0)
    if scratch and (days or lustre.get("CopyTagsToBackups")):
        raise bad_request(f"Backups are not supported on {deployment} file systems.")
    if scratch and params.get("KmsKeyId"):
        raise bad_request(f"KmsKeyId is not supported on {deployment} file systems.")
    if ("DriveCacheType" in lustre) != (storage_type(params) == "HDD"):
        raise bad_request("DriveCacheType is required for StorageType HDD, and only there.")
    legacy = [key for key in ("ImportPath", "ExportPath", "AutoImportPolicy") if key in lustre]
    if deployment == "PERSISTENT_2" and legacy:
        raise bad_request(
            f"{', '.join(legacy)} is not supported on PERSISTENT_2 file systems; create a data "
            "repository association."
        )
