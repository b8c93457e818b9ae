"""What a template's parameters are without a deployment: their defaults."""

from trainshed.documents.problems import Path
from trainshed.documents.yaml import Value
from trainshed.lint.model import Given, Known, Unknown
from trainshed.lint.symbol import Symbol

# Something of the account, whichever it is: an id, and one only.
_IDS = ("AWS::EC2::SecurityGroup::Id", "AWS::EC2::Subnet::Id")


def reference_to_parameter(name: str, definition: Value, path: Path) -> Given[Value]:
    """Return what `Ref` of a parameter is: its default, which a deployment may override.

    Args:
        name: of the parameter.
        definition: as the template has it.
        path: of the reference.
    """
    given = definition if isinstance(definition, dict) else {}
    kind, default = str(given.get("Type", "String")), given.get("Default")
    if default is None and kind in _IDS:
        return Known(value=Symbol(f"${{{name}}}"), path=path)
    if default is None:
        return Unknown(why=f"parameter {name}, which has no default", path=path)
    if isinstance(default, dict | list):
        return Unknown(why=f"parameter {name}, whose default is not text", path=path)
    if kind.startswith("AWS::SSM::Parameter::Value"):
        value: Value = Symbol(f"{{{{resolve:ssm:{default}}}}}")
    elif kind == "CommaDelimitedList" or kind.startswith("List<"):
        value = [entry.strip() for entry in str(default).split(",")]
    elif isinstance(default, bool):
        value = str(default).lower()
    else:
        value = default
    return Known(value=value, path=path, defaults=(name,))
