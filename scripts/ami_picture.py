"""The picture of what an AMI consists of, drawn from the pins.

`make schema` writes it to docs/images.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from trainshed.explain.drawing import box, style_sheet, text
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import AmiRecipe, ComponentPin, ami_recipe

PICTURE = Path("docs/images/ami-neuron-ecs.svg")
_COLUMNS = 3
_MARGIN, _GAP, _WIDTH, _HEIGHT = 20, 10, 260, 44
_HEADER, _FOOTER = 64, 36
_STYLE = style_sheet(light={}, dark={})


def draw_ami(recipe: AmiRecipe) -> str:
    """Return an SVG picture of an AMI: what it is baked from, each component and its proof.

    It follows the reader's light or dark colour scheme.
    """
    lines = -(-len(recipe.components) // _COLUMNS)
    width = 2 * _MARGIN + _COLUMNS * (_WIDTH + _GAP) - _GAP
    height = _HEADER + lines * (_HEIGHT + _GAP) + _FOOTER
    name = f"{recipe.accelerator}/{recipe.orchestrator}"
    body = [
        text(_MARGIN, 28, f"AMI {name}, kernel {recipe.kernel}", "title"),
        text(_MARGIN, 48, f"baked from {recipe.source_ami.name}", "soft"),
        *_components(recipe),
        text(
            _MARGIN,
            height - 16,
            "then it tests itself, lists its packages, and is cleaned and checked for leftovers",
            "soft",
        ),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(f"components of the AMI {name}")}">\n'
        f"{_STYLE}\n"
        f'<rect class="page" width="{width}" height="{height}" rx="8"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _components(recipe: AmiRecipe) -> Iterator[str]:
    for number, (name, pin) in enumerate(recipe.components.items()):
        left = _MARGIN + number % _COLUMNS * (_WIDTH + _GAP)
        top = _HEADER + number // _COLUMNS * (_HEIGHT + _GAP)
        yield box(left, top, _WIDTH, _HEIGHT, "card")
        yield text(left + 10, top + 18, f"{name} {pin.version}")
        yield text(left + 10, top + 35, _proof(pin), "soft")


def _proof(pin: ComponentPin) -> str:
    if pin.kind == "distribution":
        return "signed by the distribution"
    proofs = [f"sha256 {pin.sha256[:12]}"] if pin.sha256 else []
    if pin.fingerprint:
        proofs.append(f"signed by ...{pin.fingerprint[-8:]}")
    return ", ".join(proofs)


if __name__ == "__main__":
    pins = read_pins(Path("packer/pins.json"))
    PICTURE.write_text(draw_ami(ami_recipe(pins, "neuron", "ecs")), encoding="utf-8")
