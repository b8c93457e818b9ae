"""Metric math: what an expression makes of other series.

CloudWatch user guide, "Using metric math": arithmetic of series and numbers, point by point;
comparisons give 1 or 0; a point that one of the series lacks is missing, but in what the functions
of several series make of those that there are. Functions of time (RATE, DIFF, FILL and others)
are refused, and so is SEARCH. CloudWatch's syntax is Python's but for its AND, OR and ^.
"""

import ast
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping

from embedded_aws.actions import Refusal
from embedded_aws.cloudwatch.datapoints import Series

# The value of each id at one point.
_Point = Mapping[str, float | None]

_TWO: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_OF_SEVERAL: Mapping[str, Callable[[list[float]], float]] = {
    "AVG": lambda values: sum(values) / len(values),
    "MAX": max,
    "MIN": min,
    "SUM": sum,
}
# Of nodes within each other: evaluating takes up to three of Python's 1000 frames for each.
_DEEPEST = 250
_OF_ONE: Mapping[str, Callable[[float], float]] = {"ABS": abs}


def parse(expression: str) -> ast.expr:
    """Read an expression.

    Raises:
        Refusal: it is not one, or has something that is not known here.
    """
    text = re.sub(r"\bAND\b|&&", " and ", re.sub(r"\bOR\b|\|\|", " or ", expression))
    try:
        parsed = ast.parse(text.replace("^", "**").strip(), mode="eval").body
    except SyntaxError:
        raise Refusal(
            "ValidationError", f"Error in expression '{expression}': syntax error"
        ) from None
    except RecursionError:
        raise _too_deep() from None
    _check_depth(parsed)
    for node in ast.walk(parsed):
        if not _is_known(node):
            raise Refusal(
                "ValidationError",
                f"The embedded AWS does not know all of the expression '{expression}', only "
                f"arithmetic, comparisons, AND, OR, IF, {', '.join((*_OF_ONE, *_OF_SEVERAL))}",
            )
    _check_arguments(parsed)
    return parsed


def _check_depth(parsed: ast.expr) -> None:
    level: list[ast.AST] = [parsed]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in ast.iter_child_nodes(each)]
    if level:
        raise _too_deep()


def _too_deep() -> Refusal:
    return _wrong("it is too deep for the embedded AWS; SUM takes an array of many series")


def _check_arguments(parsed: ast.expr) -> None:
    arrays = [each for each in ast.walk(parsed) if isinstance(each, ast.List)]
    for node in ast.walk(parsed):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments):
                if len(arguments) != (3 if name == "IF" else 1):
                    raise _wrong("a function has other arguments")
                if name in _OF_SEVERAL and arguments[0] in arrays:
                    arrays.remove(arguments[0])
    if arrays:
        raise _wrong("an array is not a time series")


def _wrong(why: str) -> Refusal:
    return Refusal("ValidationError", f"Error in expression: {why}")


def _is_known(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in (*_OF_ONE, *_OF_SEVERAL, "IF")
        case ast.Constant(value=value):
            return isinstance(value, int | float) and abs(value) <= sys.float_info.max
        case ast.UnaryOp(op=op):
            return isinstance(op, ast.USub)
        case ast.Compare(ops=ops):
            return len(ops) == 1
        case ast.Name() | ast.BinOp() | ast.BoolOp() | ast.List():
            return True
    # The operators, and whether a name is read.
    return type(node) in _TWO or isinstance(node, ast.boolop | ast.USub | ast.Load)


def names(expression: ast.expr) -> Iterator[str]:
    """Yield the ids that an expression is made of."""
    functions = {id(node.func) for node in ast.walk(expression) if isinstance(node, ast.Call)}
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and id(node) not in functions:
            yield node.id


def evaluate(expression: ast.expr, series: Mapping[str, Series], count: int) -> Series:
    """Return the series of an expression.

    Args:
        expression: from `parse`.
        series: those that it is made of, by their ids.
        count: how many points each has.
    """
    points = ({name: each[number] for name, each in series.items()} for number in range(count))
    return [_at(expression, point) for point in points]


def _at(node: ast.expr, point: _Point) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as constant):
            return constant
        case ast.Name(id=name):
            return point[name]
        case ast.UnaryOp(operand=operand):
            value = _at(operand, point)
            return None if value is None else -value
        case ast.BinOp(left=left, op=op, right=right):
            return _two(op, left, right, point)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _two(op, left, right, point)
        case ast.BoolOp(op=op, values=parts):
            values = [_at(part, point) for part in parts]
            if None in values:
                return None
            return float(all(values) if isinstance(op, ast.And) else any(values))
        case ast.Call(func=ast.Name(id="IF"), args=[condition, first, second]):
            chosen = _at(condition, point)
            return None if chosen is None else _at(first if chosen else second, point)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _call(name, argument, point)
    raise TypeError(f"not from parse: {ast.dump(node)}")


def _two(op: ast.AST, left: ast.expr, right: ast.expr, point: _Point) -> float | None:
    first, second = _at(left, point), _at(right, point)
    if first is None or second is None:
        return None
    # CloudWatch user guide, "Using metric math": a point that is no number is missing. Inferred:
    # so is one that is too large, or complex.
    try:
        value = complex(_TWO[type(op)](float(first), float(second)))
    except ArithmeticError:
        return None
    return value.real if math.isfinite(value.real) and not value.imag else None


def _call(name: str, argument: ast.expr, point: _Point) -> float | None:
    parts = argument.elts if isinstance(argument, ast.List) else [argument]
    known = [value for part in parts if (value := _at(part, point)) is not None]
    if not known:
        return None
    return _OF_ONE[name](*known) if name in _OF_ONE else _OF_SEVERAL[name](known)
