"""The desired state of a stack: a template with its parameters, checked and in order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from embedded_aws.cloudformation.clients import client
from embedded_aws.cloudformation.stack_output import stack_output
from embedded_aws.cloudformation.template import creation_policy, update_policy
from embedded_aws.cloudformation.template.checks import check_references, check_rules, unresolved
from embedded_aws.cloudformation.template.document import Template
from embedded_aws.cloudformation.template.functions import condition, evaluate, function_in
from embedded_aws.cloudformation.template.parameters import StackParameter, resolve_parameters
from embedded_aws.cloudformation.template.references import depends_on, in_order, references
from embedded_aws.cloudformation.template.scope import Scope, Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredState:
    """A template with everything resolved that is known before anything exists.

    Attributes:
        parameters: with their values.
        names: what `Ref` returns of parameters and pseudo parameters.
        tags: the stack's tags.
        resources: the resources whose condition holds, functions `Fn::If` decided, those of
            creation and update policies evaluated.
        outputs: the outputs whose condition holds.
        dependencies: what each resource needs to exist before it.
        order: logical ids, each after its dependencies.
        imports: names of the exports that it uses, with their values.
    """

    template: Template
    parameters: Mapping[str, StackParameter]
    names: Mapping[str, Any]
    tags: Mapping[str, str]
    resources: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[str, Mapping[str, Any]]
    dependencies: Mapping[str, frozenset[str]]
    order: Sequence[str]
    imports: Mapping[str, str]

    def scope(self, resource: Callable[[str, str | None], Any]) -> Scope:
        """Return a scope in which `resource` gives the values of resources."""
        return _scope(self.template, self.names, resource, self.imports.__getitem__)


def prepare(
    template: Template,
    *,
    given: Mapping[str, str],
    tags: Mapping[str, str],
    pseudo_parameters: Mapping[str, Any],
    export: Callable[[str], str],
) -> DesiredState:
    """Check a whole template, as CloudFormation does before it changes anything.

    Args:
        template: what to deploy.
        given: parameter values, previous ones already filled in.
        tags: the stack's tags.
        pseudo_parameters: their values for the stack.
        export: gives the value of an export; raises ValidationError when there is none.

    Raises:
        ValidationError: in AWS's words.
    """
    account, region = pseudo_parameters["AWS::AccountId"], pseudo_parameters["AWS::Region"]
    fetch = partial(_fetch, client("ssm", account=account, region=region))
    parameters = resolve_parameters(template.section("Parameters"), given, fetch)
    names: dict[str, Any] = {name: parameter.value for name, parameter in parameters.items()}
    names |= pseudo_parameters
    check_references(template, names, region)
    imports: dict[str, str] = {}

    def imported(name: str) -> str:
        imports[name] = export(name)
        return imports[name]

    scope = _scope(
        template,
        names,
        lambda logical_id, attribute: Unknown(logical_id=logical_id, attribute=attribute),
        imported,
    )
    check_rules(template.section("Rules"), scope)
    resources = {
        logical_id: _with_policies(logical_id, resource, scope)
        for logical_id, resource in _active(template.resources, scope).items()
    }
    outputs = _active(template.section("Outputs"), scope)
    dependencies = _dependencies(template, resources, outputs)
    for resource in resources.values():
        evaluate(resource.get("Properties", {}), scope)
    for output in outputs.values():
        evaluate(output, scope)
    return DesiredState(
        template=template,
        parameters=parameters,
        names=names,
        tags=tags,
        resources=resources,
        outputs=outputs,
        dependencies=dependencies,
        order=in_order(dependencies),
        imports=imports,
    )


def _fetch(ssm: Any, name: str) -> str | None:
    try:
        value: str = ssm.get_parameter(Name=name)["Parameter"]["Value"]
    except ssm.exceptions.ParameterNotFound:
        return None
    return value


def _scope(
    template: Template,
    names: Mapping[str, Any],
    resource: Callable[[str, str | None], Any],
    imported: Callable[[str], Any],
) -> Scope:
    def zones(region: str) -> list[str]:
        ec2 = client("ec2", account=names["AWS::AccountId"], region=region)
        return [zone["ZoneName"] for zone in ec2.describe_availability_zones()["AvailabilityZones"]]

    return Scope(
        names=names,
        mappings=template.section("Mappings"),
        conditions=template.section("Conditions"),
        zones=zones,
        resource=resource,
        imported=imported,
        stack_output=partial(
            stack_output, account=names["AWS::AccountId"], region=names["AWS::Region"]
        ),
    )


def _active(section: Mapping[str, Any], scope: Scope) -> dict[str, Mapping[str, Any]]:
    return {
        name: _decided(part, scope)
        for name, part in section.items()
        if "Condition" not in part or condition(part["Condition"], scope)
    }


def _decided(value: Any, scope: Scope) -> Any:
    """Replace every `Fn::If` by the branch that its condition chooses."""
    if call := function_in(value):
        name, argument = call
        if name == "Fn::If" and isinstance(argument, list) and len(argument) == 3:
            chooser, then, otherwise = argument
            return _decided(then if condition(chooser, scope) else otherwise, scope)
    if isinstance(value, dict):
        return {key: _decided(item, scope) for key, item in value.items()}
    if isinstance(value, list):
        return [_decided(item, scope) for item in value]
    return value


def _with_policies(logical_id: str, resource: Mapping[str, Any], scope: Scope) -> Mapping[str, Any]:
    """Evaluate the policies of a resource, which refer to parameters only, and check them."""
    names = (creation_policy.ATTRIBUTE, update_policy.ATTRIBUTE)
    policies = {name: evaluate(resource[name], scope) for name in names if name in resource}
    evaluated = {**resource, **policies}
    creation_policy.check_creation_policy(logical_id, evaluated)
    update_policy.check_update_policy(logical_id, evaluated)
    return evaluated


def _dependencies(
    template: Template, resources: Mapping[str, Any], outputs: Mapping[str, Any]
) -> dict[str, frozenset[str]]:
    """Which resource depends on which; refuse references to a resource whose condition is false."""

    def needed(part: Any, block: str) -> set[str]:
        needs = {name for name, _ in references(part) if name in template.resources}
        if absent := sorted(needs - set(resources)):
            raise unresolved(absent, block)
        return needs

    for output in outputs.values():
        needed(output, "Outputs")
    return {
        logical_id: frozenset(
            # An explicit dependency on a resource whose condition is false is ignored, as on AWS.
            needed(resource.get("Properties", {}), "Resources")
            | (set(depends_on(resource)) & set(resources))
        )
        for logical_id, resource in resources.items()
    }
