"""Whether Spot has the nodes, and at which price."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from trainshed.findings import Severity, Violation, rule
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.preflight.subject import Subject, accounts

_WHEN = "capacity is spot"
_DAYS = 30
_PATH = ("capacity", "spot")


@rule(
    "TS-ACC-036",
    over=accounts,
    title="The price of Spot nodes in the last 30 days",
    when=_WHEN,
    why="""
The price of a Spot node changes with supply and demand, in each zone by itself. With
`capacity.spot.max_price`, EC2 launches no node while the price is above it, and ends the nodes that
run when it rises above it.
""",
    actions=("ec2:DescribeSpotPriceHistory",),
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html",
    ),
    severity=Severity.INFO,
)
def spot_price(subject: Subject) -> Iterator[Violation]:
    """The price of each type is, and was, below the most that a node may cost."""
    plan = subject.plan
    if plan.capacity.kind is not CapacityKind.SPOT:
        return
    types, zone = (
        [each.name for each in plan.types],
        plan.zone.name,
    )
    quotes = sorted(
        (each["Timestamp"], each["InstanceType"], float(each["SpotPrice"]))
        for each in subject.aws.pages(
            "ec2",
            "describe_spot_price_history",
            "SpotPriceHistory",
            InstanceTypes=types,
            ProductDescriptions=["Linux/UNIX"],
            StartTime=subject.now - timedelta(days=_DAYS),
            EndTime=subject.now,
        )
        if zone in (each.get("AvailabilityZone"), each.get("AvailabilityZoneId"))
    )
    for name in types:
        prices = [price for _, of, price in quotes if of == name]
        yield _judge(plan, name, prices)


def _judge(plan: ClusterPlan, name: str, prices: Sequence[float]) -> Violation:
    """Judge the prices of a type, of which the last is that of now."""
    zone = plan.zone.name
    if not prices:
        return Violation(
            path=_PATH,
            severity=Severity.WARNING,
            message=f"EC2 has no price of {name} on Spot in {zone} in the last {_DAYS} days",
            remedy="take a zone that has one: aws ec2 describe-spot-price-history "
            f"--instance-types {name} --region {plan.region}",
        )
    now, most = prices[-1], plan.capacity.max_price
    message = (
        f"{name} on Spot in {zone} costs {now:g} USD an hour, and in the last {_DAYS} days cost "
        f"{min(prices):g} to {max(prices):g}"
    )
    remedy = f"{plan.nodes.max} nodes cost {plan.nodes.max * now:,.2f} USD an hour now"
    severity = None
    if most is not None and most < max(prices):
        message += f"; capacity.spot.max_price is {most:g}"
        remedy = "leave max_price out, for the price on demand, or set it above that range"
        severity = Severity.ERROR if most < now else Severity.WARNING
    return Violation(path=_PATH, severity=severity, message=message, remedy=remedy)


@rule(
    "TS-ACC-037",
    over=accounts,
    title="How likely Spot has all nodes at once",
    when=_WHEN,
    why="""
EC2 scores zones from 1 to 10 by how likely a request for so many Spot Instances succeeds at this
moment. Requests for one or two types always get a low score, so compare zones; it guarantees
nothing.
""",
    actions=("ec2:GetSpotPlacementScores", "ec2:DescribeAvailabilityZones"),
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-placement-score.html",),
    severity=Severity.INFO,
)
def placement_score(subject: Subject) -> Iterator[Violation]:
    """No zone of the region is likelier to have the nodes."""
    plan = subject.plan
    if plan.capacity.kind is not CapacityKind.SPOT:
        return
    types = [each.name for each in plan.types]
    scores = {
        each["AvailabilityZoneId"]: each["Score"]
        for each in subject.aws.pages(
            "ec2",
            "get_spot_placement_scores",
            "SpotPlacementScores",
            InstanceTypes=types,
            TargetCapacity=plan.nodes.max,
            SingleAvailabilityZone=True,
            RegionNames=[plan.region],
        )
    }
    own = scores.get(_zone_id(subject), 0)
    best = max(scores, key=lambda zone: scores[zone], default=None)
    better = best is not None and scores[best] > own
    yield Violation(
        path=_PATH,
        severity=Severity.WARNING if better else None,
        message=f"the Spot placement score of {plan.nodes.max} x {' or '.join(types)} in "
        f"{plan.zone.name} is {own or 'none'}"
        + (f", and in {best} {scores[best]}" if better and best else "")
        + " (1 to 10)",
        remedy=f"set zone to {best}, if subnet and file system can be there"
        if better
        else "no zone of the region has a higher one",
    )


def _zone_id(subject: Subject) -> str:
    zone = subject.plan.zone
    if zone.is_id:
        return zone.name
    [found] = subject.aws.call("ec2", "describe_availability_zones", ZoneNames=[zone.name])[
        "AvailabilityZones"
    ]
    return str(found["ZoneId"])
