"""An instance type, as the planner sees it."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

# NeuronCores that the Neuron runtime makes one of unless NEURON_LOGICAL_NC_CONFIG says otherwise:
# AWS Neuron documentation, "NCCOM-TEST User Guide", environment variables.
_CORES_OF_A_RANK = {"Trainium2": 2}


class AcceleratorFamily(StrEnum):
    """Who makes the accelerator, which decides its driver, its AMI and its devices."""

    HABANA = "habana"
    NEURON = "neuron"
    NVIDIA = "nvidia"
    QUALCOMM = "qualcomm"


class LifecycleStatus(StrEnum):
    """Whether AWS still sells the type."""

    OFFERED = "offered"
    PREVIOUS_GENERATION = "previous-generation"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """The accelerators of one instance.

    Attributes:
        family: decides driver, AMI channel and device files.
        name: the maker's name, for instance `Gaudi HL-205`.
        count: devices in one instance.
        memory_mib: memory of one device, in MiB.
        cores: NeuronCores in one device; 0 where the notion does not apply.
    """

    family: AcceleratorFamily
    name: str
    count: int
    memory_mib: int
    cores: int = 0

    @property
    def ranks(self) -> int:
        """How many processes use all of an instance: one a device, or a logical NeuronCore."""
        return self.count * (self.cores // _CORES_OF_A_RANK.get(self.name, 1) or 1)

    def __str__(self) -> str:
        """Return for instance `16 x Trainium (neuron), 32 GiB, 2 NeuronCores each`."""
        cores = f", {self.cores} NeuronCores each" if self.cores else ""
        return (
            f"{self.count} x {self.name} ({self.family}), {self.memory_mib / 1024:.4g} GiB{cores}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCard:
    """One network card, from `NetworkInfo.NetworkCards` of DescribeInstanceTypes.

    Attributes:
        index: the network card index, 0 upwards.
        slots: network interfaces that the card can hold; device indexes run from 0 to slots - 1.
        supports_efa: the card's `InterfaceTypes` has `efa`.
        supports_efa_only: the card's `InterfaceTypes` has `efa-only`.
    """

    index: int
    slots: int
    supports_efa: bool
    supports_efa_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Whether a type can still be launched, and what to use when it cannot.

    Attributes:
        status: offered, previous-generation or withdrawn.
        last_seen: the last day on which the API was seen to list a withdrawn type.
        first_missing: the first day on which it was seen not to.
        replacement: the instance type to name instead.
        source: where the dates come from.
    """

    status: LifecycleStatus
    last_seen: date | None = None
    first_missing: date | None = None
    replacement: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A quota of Service Quotas; its value is the account's.

    Attributes:
        service: service code, for instance `ec2`.
        code: quota code, for instance `L-2C3B7624`.
        name: its name there.
    """

    service: str
    code: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One fact of an accelerator where the EC2 API is wrong or silent.

    Attributes:
        field: attribute of Accelerator.
        value: what AWS's documents say.
        reported: what the API says; None when it says nothing.
    """

    field: str
    value: str | int
    reported: str | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """Facts of one EC2 instance type that can train models.

    Attributes:
        name: for instance `trn1.32xlarge`.
        architecture: `x86_64` or `arm64`.
        vcpus: default vCPUs.
        memory_mib: main memory, in MiB.
        huge_pages_mib: memory that a node reserves as huge pages at boot, in MiB.
        accelerator: what computes.
        network_cards: in index order; every limit of the interface planner is read from here.
        ipv4_addresses_per_interface: private IPv4 addresses that one interface can have.
        network_gbps: the network bandwidth that AWS states for the whole instance, in Gbps.
        efa_interfaces_max: EFA interfaces (`efa` or `efa-only`) allowed; 0 without EFA.
        local_storage_gb: instance store in GB, 0 without one.
        ebs_mbps: bandwidth to EBS that it always has, in Mbps.
        xen: runs on Xen, not on the Nitro System, so that its volumes are no NVMe disks.
        usage_classes: of `on-demand`, `spot`, `capacity-block`.
        priced_on_demand: AWS publishes a price for it on demand.
        placement_strategies: of `cluster`, `partition`, `spread`.
        nitro_version: Nitro card generation; 0 where no document says.
        other_verbs_devices: devices in /dev/infiniband that are not EFA; 0 where none is known.
        efa_rdma: AWS documents RDMA read for the type's EFA.
        lustre_efa_client: can mount an EFA-enabled Lustre file system over EFA.
        lustre_efa_interfaces: how many of its EFA interfaces AWS's set-up uses for that, 0 when it
            cannot.
        on_demand_quota: quota that covers it on demand, in vCPUs.
        spot_quota: quota that covers it on Spot, in vCPUs.
        lifecycle: whether AWS still sells it.
    """

    name: str
    architecture: str
    vcpus: int
    memory_mib: int
    huge_pages_mib: int
    accelerator: Accelerator
    network_cards: tuple[NetworkCard, ...]
    ipv4_addresses_per_interface: int
    network_gbps: float
    efa_interfaces_max: int
    local_storage_gb: int
    ebs_mbps: int
    xen: bool
    usage_classes: tuple[str, ...]
    priced_on_demand: bool
    placement_strategies: tuple[str, ...]
    nitro_version: int
    other_verbs_devices: int
    efa_rdma: bool
    lustre_efa_client: bool
    lustre_efa_interfaces: int
    on_demand_quota: Quota
    spot_quota: Quota
    lifecycle: Lifecycle

    @property
    def efa_cards(self) -> tuple[NetworkCard, ...]:
        """The cards that can carry an EFA interface, in index order."""
        return tuple(card for card in self.network_cards if card.supports_efa)

    @property
    def efa_gbps(self) -> float:
        """The EFA bandwidth of the whole instance in Gbps; 0 without EFA.

        It is the bandwidth that AWS states for the instance. The cards' own figures cannot be
        added up: g6e.48xlarge gives each of its four cards the total, p6-b200.48xlarge gives
        the ENA half only.
        """
        return self.network_gbps if self.efa_interfaces_max else 0

    @property
    def family(self) -> str:
        """The part of the name before the dot, for instance `trn1`."""
        return self.name.partition(".")[0]

    @property
    def withdrawn(self) -> bool:
        """The EC2 API has stopped listing the type."""
        return self.lifecycle.status is LifecycleStatus.WITHDRAWN
