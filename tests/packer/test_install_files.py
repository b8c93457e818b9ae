"""What of the uploaded files gets into an AMI, and whose it is."""

import shutil
from pathlib import Path

from overlay_machine import NEEDED, ROOT, UBUNTU, OverlayMachine

pytestmark = NEEDED


def test_files_are_roots_and_what_python_compiled_elsewhere_stays_out(tmp_path: Path) -> None:
    shutil.copy(ROOT / "packer/scripts/10-base.sh", tmp_path)
    machine = OverlayMachine(
        folder=tmp_path, base=UBUNTU, recipe=ROOT / "packer/recipes/habana-ec2-ubuntu-22.04.json"
    )

    done = machine.run(
        "cd /tmp/trainshed\n"
        "mkdir -p etc/trainshed-test opt/trainshed/lib/here/__pycache__\n"
        "touch etc/trainshed-test/plain opt/trainshed/program\n"
        "touch opt/trainshed/lib/here/__pycache__/it.cpython-313.pyc\n"
        "chmod 777 opt/trainshed/program; chown -R 1000 etc opt\n"
        "cp /bench/recipe.json /bench/ami.json .\n"
        "source <(sed -n '/^install_files()/,/^}/p' /bench/10-base.sh)\n"
        "install_files\n"
        "stat --format '%n %U %a' /etc/trainshed-test/* /opt/trainshed/program\n"
        "ls /opt/trainshed/lib/here 2>&1 || true\n"
    )

    assert done.stdout.splitlines() == [
        "/etc/trainshed-test/plain root 644",
        "/opt/trainshed/program root 755",
        "ls: cannot access '/opt/trainshed/lib/here': No such file or directory",
    ], done.stderr
