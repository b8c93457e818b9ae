"""`scripts/mutate.py`: which expressions are changed, and that a change which matters is found."""

import subprocess
import sys
from pathlib import Path

import mutate
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = '''"""Says 1 < 2."""

def area(width, height=1):
    if not width or height is None:
        return f"{width + 1} is no width"
    größe = "ü" and width * height
    return größe if width >= 0 else True
'''


@pytest.fixture
def module(tmp_path: Path) -> Path:
    file = tmp_path / "module.py"
    file.write_text(SOURCE)
    return file


def test_expressions_are_changed_and_texts_are_not(module: Path) -> None:
    changes = {(each.line, each.before, each.after) for each in mutate.mutations(module)}

    assert changes == {
        (3, "1", "(2)"),
        (4, "not width or height is None", "(not width and height is None)"),
        (4, "not width", "(width)"),
        (4, "height is None", "(height is not None)"),
        (6, '"ü" and width * height', "('ü' or width * height)"),
        (6, "width * height", "(width // height)"),
        (7, "größe if width >= 0 else True", "(True if width >= 0 else größe)"),
        (7, "width >= 0", "(width > 0)"),
        (7, "0", "(1)"),
        (7, "True", "(False)"),
    }


def test_a_change_stands_in_the_place_of_its_expression(module: Path) -> None:
    for each in mutate.mutations(module):
        line = SOURCE.splitlines()[each.line - 1]

        assert each.text == SOURCE.replace(line, line.replace(each.before, each.after, 1))


def test_rooms_take_turns(monkeypatch: pytest.MonkeyPatch, module: Path) -> None:
    (small := module.with_name("small.py")).write_text("ONE = 1\n")
    monkeypatch.setattr(mutate, "rooms", lambda: {"large": [module], "small": [small]})

    rooms = [room for room, _ in mutate.drawn(4, seed=1)]

    assert (sorted(rooms[:2]), rooms[2:]) == (["large", "small"], ["large", "large"])


@pytest.mark.parametrize(("held", "found"), [("area(3, 2) == 6", True), ("area(3)", False)])
def test_a_change_is_found_if_a_test_fails_and_is_put_back(
    monkeypatch: pytest.MonkeyPatch, module: Path, held: str, found: bool
) -> None:
    (test := module.with_name("test_it.py")).write_text(
        f"from runpy import run_path\n\ndef test_it():\n"
        f"    area = run_path({str(module)!r})['area']\n    assert {held}\n"
    )
    monkeypatch.setattr(mutate, "tests_for", lambda _: [test])
    [change] = [each for each in mutate.mutations(module) if each.before == "width * height"]

    assert mutate.is_found(change, "room") is found
    assert module.read_text() == SOURCE


def test_a_count_that_is_no_number_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/mutate.py", "many"], capture_output=True, text=True
    )

    assert done.returncode == 2
    assert "invalid int value: 'many'" in done.stderr
