"""The launcher `./run`, with every program that it calls replaced by one that only notes it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[1] / "run"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="./run is a POSIX shell script")

LIBRARIES = [
    "libglib-2.0.so.0",
    "libGL.so.1",
    "libEGL.so.1",
    "libfontconfig.so.1",
    "libxkbcommon.so.0",
    "libdbus-1.so.3",
    "libvulkan.so.1",
    "libxcb-cursor.so.0",
    "libxcb-icccm.so.4",
    "libxcb-image.so.0",
    "libxcb-keysyms.so.1",
    "libxcb-randr.so.0",
    "libxcb-render-util.so.0",
    "libxcb-shape.so.0",
    "libxcb-xkb.so.1",
    "libxkbcommon-x11.so.0",
    "libX11-xcb.so.1",
]


class Tree:
    """A copy of the launcher in a tree of its own, among stubs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stubs = folder / "stubs"
        self.log = folder / "log"
        self.stubs.mkdir()
        (folder / "pyproject.toml").write_text("")
        shutil.copy(RUN, folder / "run")
        self.stub("uname", "echo Linux")
        self.stub("id", "echo 1000")
        self.stub("sudo", "exit 1")
        self.stub("apt-get", f'echo "apt-get $*" >> {self.log}')
        self.stub("find", "echo a-font.ttf")
        (folder / ".local/share/fonts").mkdir(parents=True)
        self.libraries(LIBRARIES)

    def stub(self, name: str, body: str, folder: Path | None = None) -> None:
        path = (folder or self.stubs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def libraries(self, names: list[str]) -> None:
        lines = "".join(f"\t{name} (libc6,x86-64) => /lib/{name}\n" for name in names)
        (self.folder / "ldconfig.txt").write_text(lines)
        self.stub("ldconfig", f"cat {self.folder}/ldconfig.txt")

    def python(self) -> None:
        """A system Python whose venv has stubs too."""
        venv = self.folder / ".venv/bin"
        self.stub("opscope", f'echo "opscope $*" >> {self.log}', self.folder / "made")
        self.stub("pytest", f'echo "pytest $*" >> {self.log}', self.folder / "made")
        body = f"""
        case "$*" in
        *"-m venv"*) mkdir -p {venv} && cp {self.folder}/made/* "$0" {venv}/ ;;
        *"pip install"*) echo "$*" >> {self.log} ;;
        *"pip --version"*) ;;
        *sys.version\\)*) cat {self.folder}/version ;;
        esac"""
        (self.folder / "version").write_text("3.11.2")
        self.stub("python3", body)
        self.stub("python", body, self.folder / "made")

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.stubs}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "VK_DRIVER_FILES": "given.json",
            **environment,
        }
        self.log.write_text("")
        return subprocess.run(
            ["sh", str(self.folder / "run"), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[str]:
        return self.log.read_text().replace(str(self.folder) + "/", "").splitlines()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path)
    made.python()
    return made


def installs(tree: Tree) -> list[str]:
    return [call for call in tree.calls() if "pip install" in call]


def test_missing_libraries_are_named_in_a_command_to_copy(tree: Tree) -> None:
    tree.libraries([name for name in LIBRARIES if name not in ("libEGL.so.1", "libvulkan.so.1")])
    result = tree.run("check", "m.onnx")
    assert result.returncode == 2
    assert result.stderr.startswith("opscope: error: ")
    assert "apt-get install -y --no-install-recommends libegl1 libvulkan1" in result.stderr
    assert tree.calls() == []


def test_root_installs_what_is_missing(tree: Tree) -> None:
    tree.libraries([name for name in LIBRARIES if name != "libdbus-1.so.3"])
    tree.stub("id", "echo 0")
    assert tree.run("devices").returncode == 0
    assert "apt-get -qq install -y --no-install-recommends libdbus-1-3" in tree.calls()
    assert tree.calls()[-1] == "opscope devices"


def test_libraries_of_a_window_are_asked_for_only_with_a_display(tree: Tree) -> None:
    tree.libraries([name for name in LIBRARIES if name != "libxcb-cursor.so.0"])
    assert tree.run("devices").returncode == 0
    result = tree.run("devices", DISPLAY=":0")
    assert result.returncode == 2
    assert "libxcb-cursor0" in result.stderr


def test_no_vulkan_driver_is_noticed(tree: Tree) -> None:
    tree.stub("find", "echo")
    result = tree.run("devices", VK_DRIVER_FILES="")
    assert result.returncode == 2
    assert "mesa-vulkan-drivers" in result.stderr


def test_window_on_the_sample_with_a_display(tree: Tree) -> None:
    assert tree.run(DISPLAY=":0").returncode == 0
    assert tree.calls()[-1] == "opscope resources/samples/denoiser_f32_opset22.onnx"


def test_picture_and_report_of_the_sample_without_a_display(tree: Tree) -> None:
    result = tree.run()
    sample = "resources/samples/denoiser_f32_opset22.onnx"
    assert tree.calls()[-2:] == [
        f"opscope shot {sample} -o out/sample.png --run",
        f"opscope run {sample} --json out/sample.json",
    ]
    assert f"{tree.folder}/out/sample.png" in result.stdout
    assert f"{tree.folder}/out/sample.json" in result.stdout


def test_arguments_pass_through_as_they_are(tree: Tree) -> None:
    tree.stub("opscope", f'for a; do echo "<$a>" >> {tree.log}; done', tree.folder / "made")
    assert tree.run("check", "a model.onnx", "--require", "GRU").returncode == 0
    assert tree.calls()[-4:] == ["<check>", "<a model.onnx>", "<--require>", "<GRU>"]


def test_exit_status_passes_through(tree: Tree) -> None:
    tree.stub("opscope", "exit 3", tree.folder / "made")
    assert tree.run("devices").returncode == 3
    assert tree.run().returncode == 3


def test_installs_again_only_when_something_changed(tree: Tree) -> None:
    tree.run("devices")
    assert len(installs(tree)) == 1
    tree.run("devices")
    assert installs(tree) == []
    (tree.folder / "pyproject.toml").write_text("changed")
    tree.run("devices")
    assert len(installs(tree)) == 1
    (tree.folder / "version").write_text("3.13.0")
    tree.run("devices")
    assert len(installs(tree)) == 1


def test_tests_need_their_extra(tree: Tree) -> None:
    tree.run("devices")
    tree.run("test", "-k", "gru")
    assert [call.endswith("[test]") for call in installs(tree)] == [True]
    assert tree.calls()[-1] == "pytest -k gru"
    tree.run("test")
    assert installs(tree) == []
    tree.run("devices")
    assert installs(tree) == []


def test_failed_installation_is_tried_again(tree: Tree) -> None:
    working = (tree.folder / "made/python").read_text()
    tree.stub("python", 'case "$*" in *"pip install"*) exit 1 ;; esac', tree.folder / "made")
    assert tree.run("devices").returncode == 2
    (tree.folder / ".venv/bin/python").write_text(working)
    assert tree.run("devices").returncode == 0
    assert len(installs(tree)) == 1
