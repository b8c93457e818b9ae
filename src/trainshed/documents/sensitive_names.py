"""Names that say that a value is secret, or that a policy gives far more than most need."""

import re

ADMINISTRATORS = ("AdministratorAccess", "IAMFullAccess", "PowerUserAccess")
"""Managed policies of AWS that hand over the account, or nearly so."""
_SECRET = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|SECRET(?!S?_?MANAGER)|(^|_)PASS$|_PWD$|TOKEN$"
    r"|(ACCESS|ACCOUNT|API|APP|AUTH|CLIENT|DECRYPTION|DEPLOY|ENCRYPTION|HMAC|JWT|LICENSE|MASTER"
    r"|PRIVATE|SERVICE|SESSION|SHARED|SIGNING|SSH|STORAGE|SUBSCRIPTION)_?KEYS?$"
    r"|AMZ_SIGNATURE$"
)
# What tells where a secret is, or of what kind.
_ABOUT = re.compile(r"_(ARN|FILE|IDS?|LENGTH|NAME|PATH|PREFIX|REGION|TTL|TYPE|URI|URL|VERSION)$")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-.]")
_ADMINISTRATOR = re.compile(r"ADMIN|FULL_?ACCESS|POWER_?USER|ROOT|SUPER_?USER|GOD_?MODE")


def names_a_secret(name: str) -> bool:
    """Return whether a variable or property is a secret by its name: `HF_TOKEN`, `AuthToken`."""
    words = _WORDS.sub("_", name).upper()
    return bool(_SECRET.search(words)) and not _ABOUT.search(words)


def gives_wide_rights(policy: str) -> bool:
    """Return whether AWS's managed policy of a name has all rights, or all in a service."""
    return policy in ADMINISTRATORS or policy.endswith("FullAccess")


def sounds_like_an_administrator(policy: str) -> bool:
    """Return whether a policy has far more rights than most need, by its name: `TeamAdmin`."""
    return bool(_ADMINISTRATOR.search(_WORDS.sub("_", policy).upper()))
