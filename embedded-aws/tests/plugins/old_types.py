"""A plug-in as another package would bring it: instance types that EC2 withdrew in 2026."""

import json
from datetime import date
from pathlib import Path

from embedded_aws.plugins import Plugin, WithdrawnType


class OldTypes(Plugin):
    """dl1 and p3, by the EC2 API's last records of them."""

    def withdrawn_types(self) -> dict[str, WithdrawnType]:
        found = json.loads(Path(__file__).with_suffix(".json").read_text())
        return {
            name: WithdrawnType(
                record=entry["record"],
                first_missing=date.fromisoformat(entry["first_missing"]),
                zone_ids={region: tuple(zones) for region, zones in entry["zones"].items()},
            )
            for name, entry in found.items()
        }


PLUGIN = OldTypes()
