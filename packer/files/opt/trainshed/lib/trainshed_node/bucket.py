"""The client of Amazon S3: Mountpoint, which shows objects as files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainshed_node.storage_client import StorageClient
from trainshed_node.system import Finished


class BucketClient(StorageClient):
    """Mounts a bucket, or a prefix of it, to be read.

    Follows Mountpoint's guide, "Automatically mounting an S3 bucket at boot": without the first
    three options it refuses, without `allow-other` only root sees the files. It takes the node's
    own role, and finds the bucket's region itself.
    """

    component = "mountpoint-s3"
    programs: ClassVar[Mapping[str, str]] = {"mount.mount-s3": "Mountpoint for Amazon S3"}
    file_system_type = "mount-s3"
    options = "_netdev,nosuid,nodev,ro,allow-other"
    read_only = True

    def source(self, values: Mapping[str, str]) -> str:
        """Return the address of the objects; a prefix ends with a slash."""
        return f"s3://{values['bucket_name']}/{values.get('prefix', '')}"

    def why_not(self, mounting: Finished) -> str:
        """Return all that it said: its last line is that a process failed, the causes come first.

        As src/run.rs of Mountpoint writes them.
        """
        return " ".join(mounting.errors.split()) or mounting.last_line
