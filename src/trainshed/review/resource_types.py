"""What is known of resource types: which hold data, and what to call them."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from embedded_aws import template_diff

# Between two words of a name: `BackupVault`, `DBCluster`.
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def holds_data(resource: Mapping[str, Any], region: str) -> bool:
    """Return whether what a resource of a template holds is lost with it.

    Args:
        resource: with its type and properties.
        region: of its stack.
    """
    kind = resource["Type"]
    if _is_listed("shares_storage", kind):
        return "DBClusterIdentifier" not in resource.get("Properties", {})
    return not _is_listed("holds_no_data", kind) and (
        _is_listed("holds_data", kind) or template_diff.holds_data(kind, region)
    )


def holds_what_passes(resource_type: str) -> bool:
    """Return whether what a resource holds is meant to pass: messages, logs."""
    return _is_listed("holds_what_passes", resource_type)


def backs_up_others(resource_type: str) -> bool:
    """Return whether a resource makes the backups of others."""
    return _is_listed("backs_up", resource_type)


def keeps_its_name(before: Mapping[str, Any], after: Mapping[str, Any], region: str) -> bool:
    """Return whether what replaces a resource would have the name that the old one still has.

    CloudFormation makes the new resource first, and refuses that:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html
    """
    return template_diff.keeps_its_name(
        after["Type"], region, before.get("Properties", {}), after.get("Properties", {})
    )


def called(resource_type: str) -> str:
    """Return what to call a resource of a type: `the backup vault`, `the DB cluster`."""
    words = _WORDS.sub(" ", resource_type.rpartition("::")[2]).split()
    return " ".join(["the", *(word if word.isupper() else word.lower() for word in words)])


def _is_listed(section: str, resource_type: str) -> bool:
    return resource_type in _overlay()[section]


@cache
def _overlay() -> Mapping[str, Mapping[str, str]]:
    text = files(__package__).joinpath("resource_types.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
