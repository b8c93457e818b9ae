"""What a node is told by its user data: nodeadm's NodeConfig.

amazon-eks-ami, documentation of nodeadm: parts of the type application/node.eks.aws, of which later
ones win, member by member; flags of the kubelet are added up. From memory: its most pods.
"""

import ast
from base64 import b64decode
from collections.abc import Mapping
from email import message_from_bytes
from typing import Any

import yaml

from embedded_aws.plain_yaml import PlainLoader

_TYPE = "application/node.eks.aws"
_ARITHMETIC = (
    *(ast.Expression, ast.BinOp, ast.Constant, ast.Name, ast.Load),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod),
)


class BadNodeConfig(Exception):
    """nodeadm cannot use a NodeConfig; the message says why."""


def node_config(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `spec` that the user data of a launch template give a node.

    Args:
        template: its data.

    Raises:
        BadNodeConfig: a part is no YAML.
    """
    spec: dict[str, Any] = {}
    for part in message_from_bytes(b64decode(str(template.get("UserData", "")))).walk():
        if part.get_content_type() != _TYPE:
            continue
        try:
            config = yaml.load(part.get_payload(decode=True) or b"", Loader=PlainLoader)
        except yaml.YAMLError as error:
            raise BadNodeConfig(f"the NodeConfig in the user data is no YAML: {error}") from error
        if isinstance(config, dict) and isinstance(config.get("spec"), dict):
            spec = _merged(spec, config["spec"])
    return spec


def block(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is an object; an empty one when it is none."""
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def flags_of(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the flags of the kubelet, without their dashes."""
    flags = block(spec, "kubelet").get("flags")
    listed = flags if isinstance(flags, list) else []
    pairs = (str(flag).lstrip("-").partition("=") for flag in listed)
    return {name: value for name, _, value in pairs}


def labels_of(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels that the kubelet is given."""
    pairs = (each.partition("=") for each in flags_of(spec).get("node-labels", "").split(","))
    return {name: value for name, _, value in pairs if name}


def taints_of(spec: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the taints with which the kubelet registers the node."""
    found = []
    for each in filter(None, flags_of(spec).get("register-with-taints", "").split(",")):
        key, _, rest = each.partition("=")
        value, _, effect = rest.rpartition(":")
        found.append({"key": key, "value": value, "effect": effect})
    return found


def most_pods(spec: Mapping[str, Any], *, interfaces: int, addresses: int) -> int:
    """Return how many pods the kubelet takes.

    Args:
        spec: as `node_config` returns it.
        interfaces: most of card 0.
        addresses: most of an interface.

    Raises:
        BadNodeConfig: the expression for it is not one.
    """
    kubelet = block(spec, "kubelet")
    fixed = flags_of(spec).get("max-pods") or block(kubelet, "config").get("maxPods")
    if fixed is not None and str(fixed).isdigit():
        return int(fixed)
    by_default = interfaces * (addresses - 1) + 2
    if expression := kubelet.get("maxPodsExpression"):
        values = {"default_enis": interfaces, "ips_per_eni": addresses, "max_pods": by_default}
        return _value(str(expression), values)
    return by_default


def _value(expression: str, values: Mapping[str, int]) -> int:
    """Return the value of an expression; those of nodeadm are CEL's, here of numbers alone."""
    wrong = f"spec.kubelet.maxPodsExpression of the NodeConfig is {expression!r}"
    try:
        tree = ast.parse(expression, mode="eval")
        if not all(isinstance(each, _ARITHMETIC) for each in ast.walk(tree)):
            raise BadNodeConfig(f"{wrong}, which is more than numbers and names")
        # Nothing but arithmetic is left in it.
        code = compile(tree, "expression", "eval")
        return int(eval(code, {"__builtins__": {}}, dict(values)))
    except (SyntaxError, NameError, ArithmeticError, TypeError) as error:
        raise BadNodeConfig(f"{wrong}: {error}") from error


def _merged(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(before)
    for name, value in after.items():
        was = merged.get(name)
        if isinstance(was, dict) and isinstance(value, dict):
            merged[name] = _merged(was, value)
        elif name == "flags" and isinstance(was, list) and isinstance(value, list):
            merged[name] = [*was, *value]
        else:
            merged[name] = value
    return merged
