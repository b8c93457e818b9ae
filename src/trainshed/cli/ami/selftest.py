"""What an AMI's self-test says, as a table."""

from typing import Any

from trainshed.cli.output import print_records, say


def print_selftest(selftest: dict[str, Any]) -> None:
    """Print a self-test's JSON for people, with its verdict."""
    print_records(
        selftest["components"],
        columns=("name", "version", "expected", "state", "detail"),
        headings={"name": "component"},
        title=" ".join(str(value) for value in selftest["ami"].values()),
    )
    states = [component["state"] for component in selftest["components"]]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ("ok", "failed", "unchecked"))
    say(selftest.get("error") or f"{'passed' if selftest['ok'] else 'failed'}: {counts}")
