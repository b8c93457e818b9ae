"""Writes an assembly's templates as a Python app of L1 resources: what hand-written CDK costs.

Resource by resource, with the typed classes and nothing between them and CDK; dependencies and
removal policies are left out.
"""

import importlib
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_LAMBDA = "lambda_"  # the one module whose Python name differs from the service's


def l1_source(assembly: Path) -> str:
    """Return the source of an app with every stack of an assembly."""
    stacks = {
        path.name.split(".")[0]: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(assembly.glob("*.template.json"))
    }
    services = sorted(
        {
            _service(resource["Type"])
            for template in stacks.values()
            for resource in template["Resources"].values()
        }
    )
    lines = ["import aws_cdk as cdk"]
    lines += [
        f"from aws_cdk import aws_{service} as {service.replace('lambda', _LAMBDA)}"
        for service in services
        if service != "cloudformation"
    ]
    lines.append("app = cdk.App()")
    for name, template in stacks.items():
        lines.append(f"stack = cdk.Stack(app, {name!r})")
        lines += _stack(template)
    return "\n".join([*lines, "app.synth()"]) + "\n"


def _stack(template: Mapping[str, Any]) -> Iterator[str]:
    for name, parameter in template.get("Parameters", {}).items():
        if name != "BootstrapVersion":
            arguments = f"type={parameter['Type']!r}, default={parameter['Default']!r}"
            yield f"cdk.CfnParameter(stack, {name!r}, {arguments}).override_logical_id({name!r})"
    for name, resource in template["Resources"].items():
        yield f"{_resource(name, resource)}.override_logical_id({name!r})"
    for name, output in template.get("Outputs", {}).items():
        value = f"cdk.Token.as_string({output['Value']!r})"
        yield f"cdk.CfnOutput(stack, {name!r}, value={value}).override_logical_id({name!r})"


def _service(resource_type: str) -> str:
    return (
        "cloudformation" if resource_type.startswith("Custom::") else resource_type.split("::")[1]
    ).lower()


def _resource(name: str, resource: Mapping[str, Any]) -> str:
    service, properties = _service(resource["Type"]), resource.get("Properties", {})
    if service == "cloudformation":
        kind = resource["Type"]
        return f"cdk.CfnResource(stack, {name!r}, type={kind!r}, properties={properties!r})"
    class_name = f"Cfn{resource['Type'].split('::')[2]}"
    kind = getattr(importlib.import_module(f"aws_cdk.aws_{service}"), class_name)
    parameters = {
        parameter.replace("_", "").lower(): (parameter, str(details.annotation))
        for parameter, details in inspect.signature(kind.__init__).parameters.items()
    }
    arguments = []
    for key, value in properties.items():
        parameter, annotation = parameters[key.lower()]
        arguments.append(f"{parameter}={_value(value, annotation)}")
    module = service.replace("lambda", _LAMBDA)
    return f"{module}.{class_name}({', '.join(['stack', repr(name), *arguments])})"


def _value(value: Any, annotation: str) -> str:
    if not isinstance(value, dict | list):
        return repr(value)
    if "CfnTag" in annotation and isinstance(value, list):
        tags = (f"cdk.CfnTag(key={tag['Key']!r}, value={tag['Value']!r})" for tag in value)
        return f"[{', '.join(tags)}]"
    if "IResolvable" in annotation:
        return f"cdk.Token.as_any({_camel_case(value)!r})"
    if "Any" in annotation or "Mapping" in annotation:
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(each, 'str') for each in value)}]"
    return f"cdk.Token.as_string({value!r})"


def _camel_case(value: Any) -> Any:
    """Write nested properties as CDK's structs name them; functions and policies stay."""
    if isinstance(value, list):
        return [_camel_case(each) for each in value]
    if not isinstance(value, dict) or any(key == "Ref" or key.startswith("Fn::") for key in value):
        return value
    return {
        key[:1].lower() + key[1:]: each if key == "PolicyDocument" else _camel_case(each)
        for key, each in value.items()
    }
