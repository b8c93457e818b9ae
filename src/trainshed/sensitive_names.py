"""Names that say that a value is secret, or that a policy gives far more than most need."""

import re

ADMINISTRATORS = ("AdministratorAccess", "IAMFullAccess", "PowerUserAccess")
"""Managed policies of AWS that hand over the account, or nearly so."""
_SECRET = re.compile(
    r"SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE_KEY|(API|ACCESS|AUTH)_?KEY(?!_ID)|TOKEN$"
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def names_a_secret(name: str) -> bool:
    """Return whether a variable or property is a secret by its name: `HF_TOKEN`, `AuthToken`."""
    return bool(_SECRET.search(_WORDS.sub("_", name).upper()))


def gives_wide_rights(policy: str) -> bool:
    """Return whether AWS's managed policy of a name has all rights, or all in a service."""
    return policy in ADMINISTRATORS or policy.endswith("FullAccess")
