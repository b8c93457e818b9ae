"""Which resource types hold data, as far as published data say."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from embedded_aws.cloudformation.schema import import_from_cfnlint, resolved, schema_of

# Properties that only what holds data has: how long its backups are kept, and what protects it
# from being deleted.
_BACKED_UP: Final = re.compile(
    r"(Automated)?(Backup|Snapshot)Retention(Period|Limit|Policy)?|FinalSnapshot(Name|Identifier)"
    r"|PointInTimeRecovery(Enabled|Specification)"
)
_PROTECTED: Final = re.compile(r"(Deletion|Termination)Protection(Enabled)?")


@cache
def holds_data(resource_type: str, region: str) -> bool:
    """Return whether a resource of a type has what is lost with it.

    It is on the list of stateful types that cfn-lint and the CDK share, or its published schema has
    a property for backups, or one that is true to protect it.

    Args:
        resource_type: for instance `AWS::RDS::DBCluster`.
        region: whose schemas count.
    """
    if resource_type in _listed():
        return True
    schema = schema_of(resource_type, region)
    if schema is None:
        return False
    return any(
        _BACKED_UP.fullmatch(name)
        or (_PROTECTED.fullmatch(name) and _is_boolean(part, schema.document))
        for name, part in schema.document.get("properties", {}).items()
    )


def _is_boolean(part: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    return bool(resolved(part, document).get("type") == "boolean")


@cache
def _listed() -> frozenset[str]:
    folder = files(import_from_cfnlint("data.AdditionalSpecs"))
    text = folder.joinpath("StatefulResources.json").read_text(encoding="utf-8")
    return frozenset(json.loads(text)["ResourceTypes"])
