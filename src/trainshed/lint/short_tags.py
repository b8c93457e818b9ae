"""The short forms of CloudFormation's intrinsic functions in YAML.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
"""

_FUNCTIONS = (
    "And",
    "Base64",
    "Cidr",
    "Contains",
    "EachMemberEquals",
    "EachMemberIn",
    "Equals",
    "FindInMap",
    "GetAZs",
    "GetAtt",
    "GetStackOutput",
    "If",
    "ImportValue",
    "Join",
    "Length",
    "Not",
    "Or",
    "RefAll",
    "Select",
    "Split",
    "Sub",
    "ToJsonString",
    "Transform",
    "ValueOf",
    "ValueOfAll",
)
# `!Ref X` is `{"Ref": "X"}`, `!Sub X` is `{"Fn::Sub": "X"}`.
SHORT_TAGS = {
    "!Ref": "Ref",
    "!Condition": "Condition",
    **{f"!{name}": f"Fn::{name}" for name in _FUNCTIONS},
}
