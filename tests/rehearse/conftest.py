"""The app of this project, whose synthesis takes seconds, is synthesised once."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from trainshed.rehearse import deployment
from trainshed.synthesis import App, SynthesisedStack, synthesise


@pytest.fixture(scope="module", autouse=True)
def synthesised_once() -> Iterator[None]:
    """The first that asks for the stacks of a project gets them by its app; the others, these."""
    made: dict[Path, Mapping[str, SynthesisedStack]] = {}

    def once(app: App, output: Path) -> Mapping[str, SynthesisedStack]:
        project = app.folder.resolve()
        if project not in made:
            made[project] = synthesise(app, output)
        return made[project]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deployment, "synthesise", once)
        yield
