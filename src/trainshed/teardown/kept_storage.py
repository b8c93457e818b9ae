"""Shared storage that stays when its stack is deleted, because data is on it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from trainshed.account.billed import bucket_billed, efs_billed, lustre_billed, openzfs_billed
from trainshed.aws import Region, accepting
from trainshed.plan.storage import StorageKind
from trainshed.plan.storage.bucket import own_bucket_name
from trainshed.teardown.kept import Kept


def kept_storage(
    region: Region, kind: StorageKind, name: str, ids: Collection[str]
) -> Iterator[Kept]:
    """Name the storage of a kind with these ids, and what stacks made under a name."""
    yield from _KEPT[kind](region, {"Key": f"trainshed:{kind}", "Value": name}, ids)


def _kept_lustre(region: Region, tag: Mapping[str, str], ids: Collection[str]) -> Iterator[Kept]:
    for each in _of_fsx(region, "LUSTRE", tag, ids):
        billed = lustre_billed(each)
        yield Kept.of(
            billed,
            cost="bills for its whole size by the hour, until it is deleted",
            why=f"your data is on it; use it again with storage.lustre.existing: {billed.name}, "
            f"or delete it: {billed.command}",
        )


def _kept_efs(region: Region, tag: Mapping[str, str], ids: Collection[str]) -> Iterator[Kept]:
    for each in region.pages("efs", "describe_file_systems", "FileSystems"):
        file_system_id = each["FileSystemId"]
        ours = file_system_id in ids or tag in each.get("Tags", ())
        if not ours or each["LifeCycleState"] in ("deleting", "deleted"):
            continue
        billed = efs_billed(each)
        yield Kept.of(
            billed,
            cost="bills by the GiB and month",
            why=f"your data is on it; use it again with storage.efs.existing: {billed.name}, "
            f"or delete it: {billed.command}",
        )


def _kept_openzfs(region: Region, tag: Mapping[str, str], ids: Collection[str]) -> Iterator[Kept]:
    for each in _of_fsx(region, "OPENZFS", tag, ids):
        billed = openzfs_billed(each)
        yield Kept.of(
            billed,
            cost="bills for its whole size and its throughput by the hour, until it is deleted",
            why=f"your data is on it; use it again with storage.openzfs.existing: {billed.name}"
            f", or delete it, after a last backup: {billed.command}",
        )


def _of_fsx(
    region: Region, file_system_type: str, tag: Mapping[str, str], ids: Collection[str]
) -> Iterator[Mapping[str, Any]]:
    for each in region.pages("fsx", "describe_file_systems", "FileSystems"):
        ours = each["FileSystemId"] in ids or tag in each.get("Tags", ())
        is_there = each["FileSystemType"] == file_system_type and each["Lifecycle"] != "DELETING"
        if ours and is_there:
            yield each


def _kept_bucket(region: Region, tag: Mapping[str, str], ids: Collection[str]) -> Iterator[Kept]:
    account = region.call("sts", "get_caller_identity")["Account"]
    own = own_bucket_name(tag["Value"], account, region.name)
    for name in sorted({*ids, own}):
        with accepting("404", "NoSuchBucket"):
            region.call("s3", "head_bucket", Bucket=name)
            billed = bucket_billed(region, name)
            yield Kept.of(
                billed,
                cost="bills by the GB and month",
                why=f"your data is in it; use it again with storage.bucket.existing: {name}, or "
                f"delete it when it is empty, of versions too: {billed.command}",
            )


_KEPT: Mapping[
    StorageKind, Callable[[Region, Mapping[str, str], Collection[str]], Iterator[Kept]]
] = {
    StorageKind.LUSTRE: _kept_lustre,
    StorageKind.EFS: _kept_efs,
    StorageKind.OPENZFS: _kept_openzfs,
    StorageKind.BUCKET: _kept_bucket,
}
