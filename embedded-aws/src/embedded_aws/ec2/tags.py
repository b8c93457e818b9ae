"""Tags and filters as every EC2 Describe and Create action takes them.

EC2 API reference: `TagSpecifications`, `Filters`. A tag key comes once in a request; the words are
those of cloud-custodian issue 3792.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from moto.ec2.responses._base_response import EC2BaseResponse
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, EC2_RESOURCE_TO_PREFIX

from embedded_aws.actions import Call, Row, correction
from embedded_aws.ec2.filters import matches
from embedded_aws.ec2.refusals import invalid_value

_NEW_RESOURCES = {"placement-group": "pg", "capacity-reservation": "cr"}


@correction
def register_prefixes() -> None:
    """Register the id prefixes of our resources for moto's CreateTags and DescribeTags."""
    EC2_RESOURCE_TO_PREFIX.update(_NEW_RESOURCES)
    EC2_PREFIX_TO_RESOURCE.update({prefix: kind for kind, prefix in _NEW_RESOURCES.items()})


@correction
def refuse_duplicate_keys() -> None:
    """Have moto refuse a key that a request gives twice."""
    original = EC2BaseResponse._get_param

    def checked(response: Any, name: str, if_none: Any = None) -> Any:
        value = original(response, name, if_none)
        if name in ("TagSpecification", "TagSpecifications"):
            for specification in value or []:
                by_key(specification.get("Tags", []))
        return value

    # mypy refuses replacing methods; moto offers no other way.
    EC2BaseResponse._get_param = checked  # type: ignore[assignment,method-assign]


def by_key(tags: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the values of a request's tags by their keys.

    Raises:
        Refusal: a key is given twice.
    """
    found: dict[str, str] = {}
    for tag in tags:
        if tag["Key"] in found:
            raise invalid_value(f"Duplicate tag key '{tag['Key']}' specified.")
        found[tag["Key"]] = tag.get("Value", "")
    return found


def check_tags(call: Call, *resource_types: str) -> None:
    """Refuse tags for other types of resources than these.

    Raises:
        Refusal: a specification names another resource type.
    """
    for specification in call.params.get("TagSpecifications", []):
        if specification["ResourceType"] not in resource_types:
            raise invalid_value(
                f"'{specification['ResourceType']}' is not a valid taggable resource type "
                "for this operation."
            )


def put_tags(call: Call, resource_type: str, resource_id: str) -> None:
    """Put the tags of the call's TagSpecifications on a new resource.

    Raises:
        Refusal: a specification names another resource type.
    """
    check_tags(call, resource_type)
    for specification in call.params.get("TagSpecifications", []):
        tags = by_key(specification.get("Tags", []))
        call.backend("ec2").create_tags([resource_id], tags)


def tags_of(call: Call, resource_id: str) -> list[dict[str, str]]:
    """Return a resource's tags as the API lists them."""
    return [
        {"Key": key, "Value": value}
        for key, value in call.backend("ec2").tags.get(resource_id, {}).items()
    ]


def select(
    call: Call,
    resources: Iterable[Row],
    filters: Mapping[str, str],
) -> list[Row]:
    """Return the resources that match the call's Filters.

    Args:
        call: the Describe call.
        resources: with their `Tags`.
        filters: the field of a resource that each filter is about.

    Raises:
        Refusal: the operation has no such filter.
    """
    found = list(resources)
    for wanted in call.params.get("Filters", []):
        name = wanted["Name"]
        if not (name in filters or name == "tag-key" or name.startswith("tag:")):
            raise invalid_value(f"The filter '{name}' is invalid")
        found = [
            resource
            for resource in found
            if matches(_values(resource, name, filters), wanted.get("Values", []))
        ]
    return found


def _values(resource: Row, name: str, filters: Mapping[str, str]) -> list[str]:
    if name == "tag-key":
        return [tag["Key"] for tag in resource.get("Tags", [])]
    if name.startswith("tag:"):
        key = name.removeprefix("tag:")
        return [tag["Value"] for tag in resource.get("Tags", []) if tag["Key"] == key]
    value = resource.get(filters[name])
    return [] if value is None else [value]
