"""What tests report of exceptions in a server's log."""

import json
import traceback

import pytest
from server_logs import no_traceback

REQUEST = '127.0.0.1 - - [28/Nov/2026 23:40:00] "POST / HTTP/1.1" 200 -\n'


def thrown(text: str) -> str:
    """Return a traceback that is as long as those of the server."""
    try:
        json.loads(text)
    except ValueError:
        first, *others = traceback.format_exc().splitlines(keepends=True)
        return "".join([first, *others[:-1] * 40, f"    ^^{REQUEST}^^^^\n", others[-1]])
    raise AssertionError(f"{text} is JSON")


def test_a_log_of_requests_is_as_expected() -> None:
    no_traceback(REQUEST * 3)


def test_a_report_begins_with_every_exception_and_where_it_was_raised() -> None:
    log = f"{REQUEST}Exception in thread Thread-9 (settle):\n{thrown('{')}{REQUEST}{thrown('x')}"

    with pytest.raises(AssertionError) as found:
        no_traceback(log)

    said = str(found.value)
    first, second = said.index("Expecting property name"), said.index("Expecting value")
    assert first < second < 2000
    assert "json/decoder.py" in said[first:second]
    assert "Thread-9 (settle)" in said


def test_a_report_shows_a_traceback_that_is_cut_off() -> None:
    with pytest.raises(AssertionError, match="Thread-9"):
        no_traceback("Exception in thread Thread-9:\nTraceback (most recent call last):\n")
