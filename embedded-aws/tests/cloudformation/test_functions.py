"""The intrinsic functions, one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.functions import evaluate
from embedded_aws.cloudformation.template.references import in_order, references
from embedded_aws.cloudformation.template.scope import NO_VALUE, Scope, Unknown


def _scope(**names: Any) -> Scope:
    def resource(logical_id: str, attribute: str | None) -> Any:
        if logical_id == "New":
            return Unknown(logical_id=logical_id, attribute=attribute)
        return f"{logical_id}.{attribute}" if attribute else f"id-of-{logical_id}"

    return Scope(
        names={"AWS::Region": "us-west-2", "Name": "n", "List": ["a", "b"], **names},
        mappings={"Map": {"top": {"second": "found", "list": ["x"]}}},
        conditions={
            "Yes": {"Fn::Equals": [1, "1"]},
            "No": {"Fn::Not": [{"Condition": "Yes"}]},
            "Both": {"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]},
            "Either": {"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]},
            "Round": {"Fn::Not": [{"Condition": "Round"}]},
        },
        zones=lambda region: [f"{region}a", f"{region}b"],
        resource=resource,
        imported=lambda name: f"import-{name}",
        stack_output=lambda asked: f"output-{asked['OutputName']}",
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"Ref": "Name"}, "n", id="ref-parameter"),
        pytest.param({"Ref": "Thing"}, "id-of-Thing", id="ref-resource"),
        pytest.param({"Fn::GetAtt": ["Thing", "A.B"]}, "Thing.A.B", id="getatt"),
        pytest.param({"Fn::Join": ["-", ["a", {"Ref": "Name"}, 1]]}, "a-n-1", id="join"),
        pytest.param({"Fn::Join": [",", {"Ref": "List"}]}, "a,b", id="join-list-parameter"),
        pytest.param({"Fn::Select": ["1", {"Ref": "List"}]}, "b", id="select"),
        pytest.param({"Fn::Split": ["|", "a|b"]}, ["a", "b"], id="split"),
        pytest.param({"Fn::Sub": "${Name}/${Thing}/${Thing.A}"}, "n/id-of-Thing/Thing.A", id="sub"),
        pytest.param({"Fn::Sub": "${!Name} $Name ${ Name }"}, "${Name} $Name n", id="sub-literal"),
        pytest.param(
            {"Fn::Sub": ["${X}-${Name}", {"X": {"Ref": "Thing"}}]}, "id-of-Thing-n", id="sub-map"
        ),
        pytest.param({"Fn::Sub": ["${X}", {"X": True}]}, "true", id="sub-boolean"),
        pytest.param({"Fn::FindInMap": ["Map", "top", "second"]}, "found", id="map"),
        pytest.param(
            {"Fn::FindInMap": ["Map", "top", "no", {"DefaultValue": "d"}]}, "d", id="map-default"
        ),
        pytest.param({"Fn::If": ["Yes", 1, {"Ref": "Nowhere"}]}, 1, id="if"),
        pytest.param({"a": {"Fn::If": ["Both", 1, {"Ref": "AWS::NoValue"}]}}, {}, id="no-value"),
        pytest.param([1, {"Ref": "AWS::NoValue"}], [1], id="no-value-in-a-list"),
        pytest.param({"Fn::If": ["Either", "y", "n"]}, "y", id="or"),
        pytest.param({"Fn::Base64": "hi"}, "aGk=", id="base64"),
        pytest.param({"Fn::GetAZs": ""}, ["us-west-2a", "us-west-2b"], id="zones"),
        pytest.param(
            {"Fn::Cidr": ["10.0.0.0/16", 2, 8]}, ["10.0.0.0/24", "10.0.1.0/24"], id="cidr"
        ),
        pytest.param({"Fn::ImportValue": {"Fn::Sub": "${Name}-x"}}, "import-n-x", id="import"),
        pytest.param(
            {"Fn::Join": ["", ["a", {"Ref": "New"}]]}, Unknown(logical_id="New"), id="new"
        ),
        pytest.param({"Fn::X": 1, "b": 2}, {"Fn::X": 1, "b": 2}, id="not-a-function"),
    ],
)
def test_a_value_comes_to(value: Any, expected: Any) -> None:
    assert evaluate(value, _scope()) == expected


def test_no_value_alone_is_no_value() -> None:
    assert evaluate({"Ref": "AWS::NoValue"}, _scope()) is NO_VALUE


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param({"Fn::Select": [5, ["a"]]}, "nonexistent value at index 5", id="select"),
        pytest.param({"Fn::FindInMap": ["Map", "top", "no"]}, "mapping for Map::top::no", id="map"),
        pytest.param({"Fn::If": ["Nobody", 1, 2]}, "condition dependency Nobody", id="condition"),
        pytest.param({"Fn::If": ["Round", 1, 2]}, "circular dependency", id="circle"),
        pytest.param({"Fn::If": ["Yes", 1]}, "list argument with 3 elements", id="if"),
        pytest.param({"Fn::Join": ["-", "ab"]}, "must be a list", id="join"),
        pytest.param({"Fn::Join": ["-", [{"Ref": "List"}]]}, "must be a string", id="join-lists"),
        pytest.param({"Fn::Sub": "${List}"}, "does not resolve to a string", id="sub-list"),
        pytest.param({"Fn::Sub": {"a": 1}}, "don't specify expected arguments", id="sub"),
        pytest.param({"Fn::Cidr": ["10.0.0.0/24", 9, 5]}, "Fn::Cidr cannot take", id="cidr"),
        pytest.param({"Fn::Shout": "x"}, "unsupported function Fn::Shout", id="unknown"),
    ],
)
def test_a_wrong_use_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        evaluate(value, _scope())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(alphabet="abcXYZ", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_values_without_functions_stay_as_they_are(value: Any) -> None:
    assert evaluate(value, _scope()) == value
    assert list(references(value)) == []


@given(st.lists(st.text(alphabet="abc${}!. ", max_size=12), max_size=5))
def test_join_and_split_undo_each_other(parts: list[str]) -> None:
    joined = evaluate({"Fn::Join": ["|", parts]}, _scope())

    assert evaluate({"Fn::Split": ["|", joined]}, _scope()) == (parts or [""])


_NAMES = st.lists(st.integers(0, 30), min_size=1, max_size=30, unique=True)


@given(
    _NAMES.flatmap(
        lambda names: st.tuples(
            st.just(names),
            st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=40),
        )
    )
)
def test_an_order_exists_exactly_when_there_is_no_circle(
    case: tuple[list[int], list[tuple[int, int]]],
) -> None:
    names, edges = case
    needs = {
        str(name): frozenset(str(low) for high, low in edges if high == name) for name in names
    }

    if any(_reaches(needs, name, name) for name in needs):
        with pytest.raises(ValidationError, match="Circular dependency between resources"):
            in_order(needs)
        return
    order = list(in_order(needs))
    assert sorted(order) == sorted(needs)
    assert all(order.index(low) < order.index(high) for high in needs for low in needs[high])


def _reaches(needs: dict[str, frozenset[str]], start: str, goal: str) -> bool:
    seen: set[str] = set()
    todo = list(needs[start])
    while todo:
        if (name := todo.pop()) == goal:
            return True
        if name not in seen:
            seen.add(name)
            todo += needs[name]
    return False
