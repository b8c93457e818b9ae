"""The plug-in of the embedded AWS; an entry point in `pyproject.toml` names it."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.plugins import Plugin, Row, WithdrawnType
from trainshed.catalogue import all_regions, lookup, zones_offering
from trainshed.catalogue.lookup import withdrawn_records


class TrainshedPlugin(Plugin):
    """Instance types of the catalogue that EC2 withdrew, and what is worth seeing of a cluster."""

    def withdrawn_types(self) -> dict[str, WithdrawnType]:
        """Return the catalogue's withdrawn types, by name."""
        return {
            name: WithdrawnType(
                record=record,
                first_missing=first_missing,
                zone_ids={region: zones_offering(name, region) for region in all_regions()},
            )
            for name, record in withdrawn_records().items()
            if (first_missing := lookup(name).lifecycle.first_missing)
        }

    def guest_flavours(self) -> dict[str, str]:
        """Return the root that stands for the AMI of each cell, baked or `add_stand_in`'s."""
        return {
            r"trainshed-habana-(ec2|ecs)-.+": "ubuntu",
            r"trainshed-habana-eks-.+": "ubuntu-eks",
            r"trainshed-(neuron|nvidia)-ec2-.+": "amazon",
            r"trainshed-(neuron|nvidia)-ecs-.+": "amazon-ecs",
            r"trainshed-(neuron|nvidia)-eks-.+": "amazon-eks",
        }

    def inventory(self, client: Callable[[str], Any]) -> Iterator[Row]:
        """Yield the parameters from which nodes learn what to mount."""
        pages = (
            client("ssm")
            .get_paginator("describe_parameters")
            .paginate(
                ParameterFilters=[
                    {"Key": "Name", "Option": "BeginsWith", "Values": ["/trainshed/lustre/"]}
                ]
            )
        )
        for page in pages:
            for parameter in page["Parameters"]:
                facts = parameter.get("Description", "")
                yield {"kind": "parameter", "name": parameter["Name"], "facts": facts}


PLUGIN = TrainshedPlugin()
