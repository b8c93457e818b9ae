"""The stub EFA installer: a tarball whose efa_installer.sh honours the flags of Amazon's.

NCCL's plugin is where Amazon's packages have it. awslabs/awsome-distributed-ai, pull request 935:
`lib/x86_64-linux-gnu/libnccl-net.so` on Ubuntu. Tests of AWS's Deep Learning Containers on Amazon
Linux: `lib64/libnccl-net.so`. Both have /etc/ld.so.conf.d/100_ofinccl.conf, by the package's spec
file. Dockerfiles for NVIDIA's own bases, which have /opt/nvidia/nvidia_entrypoint.sh: there the
installer takes the package libnccl-ofi-ngc-v3, which has `lib/libnccl-net-ofi.so` alone, and owns
no entry of the loader.
"""

from vendors.modules import dkms_driver
from vendors.package import File, program

_DRIVER = "3.3.0"
_LIBFABRIC = "2.4.0amzn3.0"
# A shared library for x86_64 with one symbol, by `cc -shared -nostdlib`, as `gzip | base64`.
LIBRARY = (
    "H4sIAAAAAAACA+2Yv0sjQRTH325UVm1M5EAOD8KBvwiO2WAhwkkwxmtEtLNbdrOrCbgbzEyOCIJXXnlcIen8F7za"
    "fyBY2VhcfRxcYaulMZt9z8QhUQuxcT7Nl/ed92be7Gz1jvMb67qmARGDFehEAFnU/4lub6mVl4VhMNq5Q+E65WEF"
    "6c945NdRDczTsa6BfiOefaRnmEdKddv/hDsEL2fs4V7Q7pX6/ZH9rLU2NcJ4AHMuL05+r+avrs///jr6c7Az+dS+"
    "YV28tVMtEfVLe4y3z+z4xDT63yX/Y598CAqF/U1PbO1X90qB9c1Mg+W5trDBshzOLS7simhZgQsKhUKhUCgUCoVC"
    "oVAo3gk3d81yqDR3GUS/rkUxzUySGI9gnEIdRZ14o36/5nLLydk1zynZQdLMsAxLz5uLKddzzEzVnEMLgPEiFxVh"
    "O8D2gior2rwIzD0M+KEfqagA84rWbsX2vbZj+6UCMIdzYIWy73uBeI1+w+9z22yWdYw7c66IRVRaN6T6D7iHLr1D"
    "EodtNfRpTmVI7/EJ13TpXeva43ckNCmeQo/qG1jf0HrfV+5/Af+hGNU/zOui+Kyr/+56mr8toUfrNO+qJXqfNyDF"
    "X7D/tORT/Uyf+3drrMc9T7F+/Znvdw+b8NX7KBUAAA=="
)

_INSTALLER = """\
set -euo pipefail
cd "$(dirname "$0")"
kmod=1 user_space=1 limits=1 agreed= mpi=openmpi5
for option; do
  case $option in
    -y|--yes) agreed=1 ;;
    -g|--enable-gdr|-n|--no-verify|--check-signatures) ;;
    -k|--skip-kmod) kmod= ;;
    -l|--skip-limit-conf) limits= ;;
    --minimal) user_space= ;;
    --mpi=openmpi4) mpi=openmpi ;;
    --mpi=openmpi5) mpi=openmpi5 ;;
    *) echo "unknown option: $option" >&2; exit 1 ;;
  esac
done
[ -n "$agreed" ] || { echo "the license must be agreed to with -y" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "must be run as root" >&2; exit 1; }
installed=
if [ -n "$kmod" ]; then
  cp -r kmod/. /
  for action in add build install; do dkms "$action" -m efa -v @DRIVER@; done
  installed="$installed efa-@DRIVER@"
fi
if [ -n "$user_space" ]; then
  mkdir -p /opt/amazon
  cp -r user-space/. /opt/amazon/
  mkdir -p "/opt/amazon/$mpi"
  . /etc/os-release
  case $ID in
    amzn) plugin=lib64/libnccl-net.so ;;
    *) plugin=lib/x86_64-linux-gnu/libnccl-net.so ;;
  esac
  if [ -e /opt/nvidia/nvidia_entrypoint.sh ]; then
    plugin=lib/libnccl-net-ofi.so
  elif [ -d /etc/ld.so.conf.d ]; then
    echo "/opt/amazon/ofi-nccl/${plugin%/*}" > /etc/ld.so.conf.d/100_ofinccl.conf
  fi
  mkdir -p "/opt/amazon/ofi-nccl/${plugin%/*}"
  echo @LIBRARY@ | base64 --decode | gzip --decompress > "/opt/amazon/ofi-nccl/$plugin"
  [ -d /etc/ld.so.conf.d ] && echo /opt/amazon/efa/lib > /etc/ld.so.conf.d/000_efa.conf
  installed="$installed libfabric-aws-@LIBFABRIC@ $mpi-aws-5.0.9"
  # What is built against libfabric finds a library; where nothing is built, nobody misses it.
  if command -v cc >/dev/null; then
    echo 'int fi_version(void) { return 0; }' |
      cc -shared -fPIC -Wl,-soname,libfabric.so.1 -x c - -o /opt/amazon/efa/lib/libfabric.so.1
    ln -sf libfabric.so.1 /opt/amazon/efa/lib/libfabric.so
  fi
  ldconfig
fi
if [ -n "$limits" ]; then
  mkdir -p /etc/security/limits.d
  printf '*\\tsoft\\tmemlock\\tunlimited\\n*\\thard\\tmemlock\\tunlimited\\n' \\
    > /etc/security/limits.d/01_efa.conf
fi
mkdir -p /opt/amazon
cat > /opt/amazon/efa_installed_packages <<END
# EFA installer version: @VERSION@
# Debug packages installed: no
# Packages installed:
${installed# }
END
echo "EFA installer completed successfully"
"""

# Without a device, as on every instance that has none.
_FI_INFO = """\
case ${1:-} in
  --version) printf 'fi_info: @LIBFABRIC@\\nlibfabric: @LIBFABRIC@\\nlibfabric api: 2.4\\n' ;;
  *) echo 'fi_getinfo: -61 (No data available)' >&2; exit 61 ;;
esac
"""


def efa_installer(version: str) -> dict[str, File]:
    """The files of aws-efa-installer-VERSION.tar.gz."""

    def fill(text: str) -> str:
        for mark, value in (
            ("VERSION", version),
            ("DRIVER", _DRIVER),
            ("LIBFABRIC", _LIBFABRIC),
            ("LIBRARY", LIBRARY),
        ):
            text = text.replace(f"@{mark}@", value)
        return text

    top = "aws-efa-installer"
    driver = dkms_driver("efa", _DRIVER, ("efa",)).files
    return {
        f"{top}/efa_installer.sh": program(fill(_INSTALLER)),
        f"{top}/user-space/efa/bin/fi_info": program(fill(_FI_INFO)),
        f"{top}/user-space/efa/lib/libfabric.so.1": File(text=""),
        f"{top}/user-space/efa/include/rdma/fabric.h": File(
            text='extern "C" int fi_version(void);\n'
        ),
        **{f"{top}/kmod{path}": file for path, file in driver.items()},
    }
