"""Stub packages of Habana and Neuron: drivers that compile, tools that answer."""

from vendors.modules import dkms_driver
from vendors.package import Contents, File, Recipe, bare, program, tool


def _habana_driver(version: str) -> Contents:
    names = ("habanalabs", "habanalabs_cn", "habanalabs_en", "habanalabs_ib")
    return dkms_driver("habanalabs", version, names)


def _habana_runtime(version: str) -> Contents:
    answer = f"echo 'habana-container-runtime version {version}'\n"
    return Contents(
        files={
            "/usr/bin/habana-container-runtime": program(answer),
            "/usr/bin/habana-container-hook": program(answer),
            "/usr/bin/habana-container-cli": program(answer),
            "/etc/habana-container-runtime/config.toml": File(
                text='[network-l3-config]\npath = ""\n'
            ),
        }
    )


def _habana_tools(version: str) -> Contents:
    return Contents(
        files={
            "/usr/bin/hl-smi": tool(
                f"hl-smi version: hl-{version}", otherwise="no device was found", code=1
            )
        }
    )


def _neuron_driver(version: str) -> Contents:
    return dkms_driver(
        "aws-neuronx",
        bare(version),
        ("neuron",),
        files={
            "/usr/lib/udev/rules.d/neuron-udev.rules": File(text='KERNEL=="neuron*", MODE="0666"\n')
        },
    )


def _neuron_library(path: str) -> Recipe:
    def contents(version: str) -> Contents:
        return Contents(
            files={f"{path}.{bare(version)}": File(text=f"{path} {version}\n")},
            links={path: f"{path}.{bare(version)}"},
        )

    return contents


def _neuron_tools(version: str) -> Contents:
    names = ("neuron-ls", "neuron-top", "neuron-monitor", "nccom-test")
    return Contents(
        files={
            f"/opt/aws/neuron/bin/{name}": tool(
                f"{name} {bare(version)}", otherwise=f"{name}: no neuron device found", code=1
            )
            for name in names
        }
    )


def _neuron_hook(_: str) -> Contents:
    return Contents(
        files={
            "/opt/aws/neuron/bin/oci_neuron_hook_wrapper.sh": program("exit 0\n"),
            "/opt/aws/neuron/bin/oci_neuron_runtime.sh": program('exec runc "$@"\n'),
        }
    )


HABANA_AND_NEURON: dict[str, Recipe] = {
    "habanalabs-dkms": _habana_driver,
    "habanalabs-container-runtime": _habana_runtime,
    "habanalabs-firmware-tools": _habana_tools,
    "aws-neuronx-dkms": _neuron_driver,
    "aws-neuronx-runtime-lib": _neuron_library("/opt/aws/neuron/lib/libnrt.so.1"),
    "aws-neuronx-collectives": _neuron_library("/opt/aws/neuron/lib/libnccom.so.2"),
    "aws-neuronx-tools": _neuron_tools,
    "aws-neuronx-oci-hook": _neuron_hook,
}
