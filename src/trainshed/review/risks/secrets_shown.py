"""Secrets that everybody who may describe the resource can read."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.documents.sensitive_names import names_a_secret
from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.resource_types import called
from trainshed.review.risks.affected import Affected

# CloudFormation puts the value of a secret in the place of such a reference, and the service shows
# it: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
_SECRET = re.compile(r"\{\{resolve:secretsmanager:")
# Only the properties of a short list take these, none of which is a variable or a command:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm-secure-strings.html
_SECURE_PARAMETER = re.compile(r"\{\{resolve:ssm-secure:")
_VARIABLES = ("Environment", "EnvironmentVariables")
# Other properties that describing shows.
_SHOWN = ("Command", "Description", "EntryPoint", "Tags", "UserData")
_PLAIN = "PLAINTEXT"


def secrets_shown(affected: Affected) -> Iterator[Risk]:
    """Yield secrets that are new in variables, commands and the like."""
    if affected.change.effect is Effect.REMOVED:
        return
    old = {*_texts(affected.old.get("Properties", {}))}
    it = called(affected.change.resource_type)
    for name, text in dict.fromkeys(_texts(affected.new.get("Properties", {}))):
        if (name, text) in old:
            continue
        if _SECRET.search(text):
            yield affected.risk(
                RiskKind.SECRET_SHOWN,
                Level.HIGH,
                f"{name} gets the value of a secret, which everybody who may describe {it} can "
                "then read",
                "give the ARN of the secret, not its value: Secrets of a container, or have the "
                "program read it",
            )
        elif _SECURE_PARAMETER.search(text):
            yield affected.risk(
                RiskKind.DEPLOYMENT_FAILS,
                Level.MEDIUM,
                f"CloudFormation refuses ssm-secure in {name}",
                "give the ARN of the parameter in Secrets of a container, or have the program "
                "read it",
            )
        elif _is_secret(name, text):
            yield affected.risk(
                RiskKind.SECRET_SHOWN,
                Level.HIGH,
                f"{name} has its value in the template, and so everybody who may describe {it} "
                "can read it",
                "revoke it, put another one into Secrets Manager, and give its ARN",
            )


def _is_secret(name: str, text: str) -> bool:
    """Return whether a variable has a secret itself, not the name of one or where it is."""
    plain = text.startswith('"') and text != '""' and not text.startswith('"arn:')
    return plain and names_a_secret(name)


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield what is shown of a part of a resource: the name of each variable, and its value."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            if name in _VARIABLES:
                yield from _variables(entry)
            elif name in _SHOWN:
                yield name, json.dumps(entry)
            else:
                yield from _texts(entry)
    elif isinstance(value, list):
        for element in value:
            yield from _texts(element)


def _variables(value: Any) -> Iterator[tuple[str, str]]:
    """Yield variables: a list of them, as of containers, or a mapping, as of functions."""
    if isinstance(value, list):
        for each in value:
            # A build project may name a secret instead, which it reads itself.
            if isinstance(each, Mapping) and each.get("Type", _PLAIN) == _PLAIN:
                yield str(each.get("Name")), json.dumps(each.get("Value"))
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            if name in (*_VARIABLES, "Variables"):
                yield from _variables(entry)
            else:
                yield str(name), json.dumps(entry)
