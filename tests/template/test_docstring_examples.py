"""The examples in the docstrings of constructs and stacks are apps that synthesise."""

import inspect
import textwrap
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk.assertions import Template
from constructs import Construct

import trainshed_constructs
from trainshed_constructs.ami_pipeline.pipeline import AmiPipeline
from trainshed_stacks import TrainClusterStack

EXPLAINED = [
    found
    for found in (getattr(trainshed_constructs, name) for name in trainshed_constructs.__all__)
    if isinstance(found, type) and issubclass(found, Construct)
] + [AmiPipeline, TrainClusterStack]


@pytest.mark.parametrize("construct", EXPLAINED, ids=lambda found: found.__name__)
def test_the_example_of_a_construct_synthesises(construct: type[Construct]) -> None:
    _, marker, example = inspect.getdoc(construct).partition("Example::\n")  # type: ignore[union-attr]  # documented
    names: dict[str, Any] = {}

    exec(textwrap.dedent(example), names)

    assert marker
    [stack] = [value for value in names.values() if isinstance(value, Stack)]
    Template.from_stack(stack)
    assert any(isinstance(child, construct) for child in stack.node.find_all())
