"""A picture of one node's network cards and what is on them, as SVG."""

from collections.abc import Iterator
from html import escape

from trainshed.catalogue import NetworkCard
from trainshed.explain.drawing import box, style_sheet, text
from trainshed.interfaces import InterfaceKind, NetworkInterface, efa_bandwidth
from trainshed.plan import ClusterPlan

_COLUMNS = 8
_WIDTH, _SLOT, _GAP = 104, 24, 10
_HEADER, _CARD_TITLE, _CARD_FOOT, _LEGEND = 64, 22, 20, 40
_MARGIN = 20

_STYLE = style_sheet(
    light={
        ".slot text": "fill: #ffffff",
        ".interface": "fill: #57606a",
        ".efa": "fill: #0969da",
        ".efa-only": "fill: #1a7f37",
        ".job": "fill: none; stroke: #9a6700; stroke-dasharray: 4 3; stroke-width: 1.5",
    },
    dark={
        ".interface": "fill: #6e7681",
        ".efa": "fill: #1f6feb",
        ".efa-only": "fill: #238636",
        ".job": "stroke: #d29922",
    },
)

_LEGEND_TEXTS = {
    "interface": "interface: IP",
    "efa": "efa: IP and EFA",
    "efa-only": "efa-only: EFA without an address",
    "job": "left free for the job's own interface",
}


def draw_node(plan: ClusterPlan) -> str:
    """Return an SVG picture of one node: its cards, the interfaces on them, the slots left free.

    It follows the reader's light or dark colour scheme.
    """
    cards = plan.instance.network_cards
    columns = min(_COLUMNS, len(cards))
    lines = max(len(_on(plan, card)) + _has_job_slot(plan, card) for card in cards)
    height = _CARD_TITLE + lines * _SLOT + _CARD_FOOT
    width = 2 * _MARGIN + max(columns * (_WIDTH + _GAP) - _GAP, 800)
    total = _HEADER + -(-len(cards) // columns) * (height + _GAP) + _LEGEND
    body: list[str] = [*_header(plan)]
    for number, card in enumerate(cards):
        left = _MARGIN + number % columns * (_WIDTH + _GAP)
        top = _HEADER + number // columns * (height + _GAP)
        body += _card(plan, card, left, top, height)
    body += _legend(plan, total - _LEGEND + 8)
    name = escape(f"network interfaces of one {plan.instance.name}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" '
        f'width="{width}" height="{total}" role="img" aria-label="{name}">\n'
        f"{_STYLE}\n"
        f'<rect class="page" width="{width}" height="{total}" rx="8"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _on(plan: ClusterPlan, card: NetworkCard) -> list[NetworkInterface]:
    return [row for row in plan.interfaces if row.card == card.index]


def _has_job_slot(plan: ClusterPlan, card: NetworkCard) -> bool:
    return card.index == 0 and plan.job_interface


def _header(plan: ClusterPlan) -> Iterator[str]:
    bandwidth = efa_bandwidth(plan.instance, plan.interfaces)
    efa = sum(row.kind.has_efa for row in plan.interfaces)
    addresses = sum(row.kind.takes_ip for row in plan.interfaces)
    yield text(_MARGIN, 28, f"One {plan.instance.name}, interfaces {plan.profile}", "title")
    yield text(
        _MARGIN,
        48,
        (
            f"{efa} EFA interfaces, {bandwidth.used_gbps:g} of {bandwidth.available_gbps:g} Gbps; "
            if bandwidth
            else f"no EFA, {plan.instance.network_gbps:g} Gbps; "
        )
        + f"private addresses: {addresses}"
        + (", and 1 of the job's own interface" if plan.job_interface else ""),
        "soft",
    )


def _card(plan: ClusterPlan, card: NetworkCard, left: int, top: int, height: int) -> Iterator[str]:
    rows = _on(plan, card)
    yield box(left, top, _WIDTH, height, "card")
    yield text(left + 8, top + 16, f"card {card.index}")
    for line, row in enumerate(rows):
        place = top + _CARD_TITLE + line * _SLOT
        mark = " ★" if row.primary else ""
        yield from _slot(row.kind.value, f"{row.device}  {row.kind}{mark}", left, place)
    free = card.slots - len(rows)
    if _has_job_slot(plan, card):
        device = min(set(range(card.slots)) - {row.device for row in rows})
        yield from _slot("job", f"{device}  job", left, top + _CARD_TITLE + len(rows) * _SLOT)
        free -= 1
    yield text(left + 8, top + height - 6, f"{free} of {card.slots} free", "soft")


def _slot(kind: str, words: str, left: int, top: int) -> Iterator[str]:
    yield f'<g class="{"slot" if kind != "job" else "wait"}">'
    yield box(left + 6, top, _WIDTH - 12, _SLOT - 4, kind, radius=4)
    yield text(left + 12, top + 14, words)
    yield "</g>"


def _legend(plan: ClusterPlan, top: int) -> Iterator[str]:
    kinds = [kind for kind in InterfaceKind if kind in {row.kind for row in plan.interfaces}]
    left = _MARGIN
    for kind in (*(kind.value for kind in kinds), *(("job",) if plan.job_interface else ())):
        yield box(left, top, 12, 12, kind, radius=3)
        yield text(left + 18, top + 10, _LEGEND_TEXTS[kind], "soft")
        left += 40 + 6 * len(_LEGEND_TEXTS[kind])
    yield text(left, top + 10, "★ primary; numbers: device index", "soft")
