"""Elements of SVG pictures, and the style that all of them share."""

from collections.abc import Mapping
from html import escape

_LIGHT = {
    "text": "font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2328",
    ".title": "font-size: 16px; font-weight: 600",
    ".soft": "fill: #59636e; font-size: 11px",
    ".page": "fill: #ffffff",
    ".card": "fill: #f6f8fa; stroke: #d1d9e0",
}
_DARK = {
    "text": "fill: #e6edf3",
    ".soft": "fill: #9198a1",
    ".page": "fill: #0d1117",
    ".card": "fill: #151b23; stroke: #3d444d",
}


def style_sheet(light: Mapping[str, str], dark: Mapping[str, str], within: str = "") -> str:
    """Return the style of a picture, which follows the reader's light or dark colour scheme.

    Args:
        light: declarations by selector, beside those that all pictures share.
        dark: what is different on a dark page.
        within: begins every selector; in a page, keeps the style from what is around the picture.
    """
    bright, night = (
        [f"{within}{selector} {{ {declarations} }}" for selector, declarations in rules.items()]
        for rules in ({**_LIGHT, **light}, {**_DARK, **dark})
    )
    return "\n".join(
        (
            "<style>",
            *(f"  {rule}" for rule in bright),
            "  @media (prefers-color-scheme: dark) {",
            *(f"    {rule}" for rule in night),
            "  }",
            "</style>",
        )
    )


def text(left: float, top: float, words: str, kind: str = "") -> str:
    """Write one line; `top` is its base line."""
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{left}" y="{top}"{style}>{escape(words)}</text>'


def box(left: float, top: float, width: float, height: float, kind: str, radius: int = 6) -> str:
    """Draw a rectangle with round corners."""
    return (
        f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{height}" '
        f'rx="{radius}"/>'
    )
