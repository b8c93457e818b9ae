"""A review as one HTML page, which asks nothing of a network."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from trainshed.review.headline import headline
from trainshed.review.model import Review
from trainshed.review.plain_text import plain
from trainshed.review.svg import svg
from trainshed.review.wording import (
    EFFECT_NAMES,
    RISK_NAMES,
    STACK_EFFECT_NAMES,
    counted,
    effects,
    finding_title,
    growth,
    kept,
    without_result,
)

_LONGEST = 20_000


def html_report(review: Review) -> str:
    """Return a review as an HTML page: one file, without scripts.

    Args:
        review: redacted.
    """
    verdict = headline(review)
    return _template().render(
        review=review,
        verdict=verdict[:1].upper() + verdict[1:],
        alone=review.broken_base is not None,
        risk_names=RISK_NAMES,
        effect_names=EFFECT_NAMES,
        stack_effect_names=STACK_EFFECT_NAMES,
        counted=counted,
        effects=effects,
        finding_title=finding_title,
        growth=growth,
        kept=kept,
        without_result=without_result,
        picture=lambda topology: Markup(svg(topology)),
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    return environment.get_template("page.html")


def _shown(value: object) -> object:
    """Return what stands in the page for a value of the template."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return plain(value, _LONGEST)
    return value
