"""A CloudFormation template without what differs between machines, for snapshots."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

# JSON has no types.
Json = Any

_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
# cdk-hnb659fds-assets-123456789012-us-west-2 and the like contain the stack's account.
_BOOTSTRAP_ACCOUNT = re.compile(r"cdk-[a-z0-9]+-[a-z-]+-(\d{12})-")
_NOISE = {
    "Parameters": ("BootstrapVersion",),
    "Rules": ("CheckBootstrapVersion",),
    "Conditions": ("CDKMetadataAvailable",),
    "Resources": ("CDKMetadata",),
}
_NOISY_METADATA = ("aws:cdk:path", "aws:asset:")


def normalise(template: Mapping[str, Json], *, accounts: Iterable[str] = ()) -> dict[str, Json]:
    """Return a template that is the same for every account, machine and asset build.

    - The hash of the nth asset, in the order of appearance, becomes `<asset-n>`.
    - Account numbers become `<account>`: the given ones, and those in the names of CDK's bootstrap
      resources. Others stay: AWS's own registries and log delivery accounts are facts.
    - What CDK adds for itself goes: metadata resource, bootstrap version check, construct paths and
      asset paths in resources' metadata. Other metadata, for instance cdk-nag's, stays.

    Args:
        template: as `cdk synth` or `aws_cdk.assertions.Template.to_json()` gives it; not changed.
        accounts: account ids to hide.
    """
    found = _BOOTSTRAP_ACCOUNT.findall(json.dumps(template))
    words = _Words(accounts={*accounts, *found})
    kept = {section: _without_noise(section, body) for section, body in sorted(template.items())}
    return {section: words.replace(body) for section, body in kept.items() if body}


class _Words:
    """Replaces hashes and accounts; remembers the hashes in their order."""

    def __init__(self, accounts: Iterable[str]) -> None:
        names = "|".join(sorted(accounts))
        self._account = re.compile(rf"(?<!\d)(?:{names})(?!\d)") if names else None
        self._assets: dict[str, str] = {}

    def replace(self, value: Json) -> Json:
        if isinstance(value, Mapping):
            return {self._text(key): self.replace(value[key]) for key in sorted(value)}
        if isinstance(value, list):
            return [self.replace(entry) for entry in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        text = _HASH.sub(self._asset, text)
        return self._account.sub("<account>", text) if self._account else text

    def _asset(self, found: re.Match[str]) -> str:
        return self._assets.setdefault(found[0], f"<asset-{len(self._assets) + 1}>")


def _without_noise(section: str, body: Json) -> Json:
    if not isinstance(body, Mapping):
        return body
    kept = {name: entry for name, entry in body.items() if name not in _NOISE.get(section, ())}
    return {name: _quiet(entry) for name, entry in kept.items()} if section == "Resources" else kept


def _quiet(resource: Mapping[str, Json]) -> dict[str, Json]:
    """Return a resource without CDK's own metadata."""
    metadata = {
        key: value
        for key, value in resource.get("Metadata", {}).items()
        if not key.startswith(_NOISY_METADATA)
    }
    rest = {key: value for key, value in resource.items() if key != "Metadata"}
    return rest | ({"Metadata": metadata} if metadata else {})
