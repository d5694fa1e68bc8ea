"""Where benchmarks work: a folder with the peers' environments, commands with their cost, the machine."""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = [
    "PEERS",
    "CommandError",
    "Cost",
    "Lab",
    "checkout",
    "commit",
    "described_machine",
    "peer_script",
    "write_json",
]

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
HOME = Path.home() / ".cache" / "seq2see-bench"


@dataclass(frozen=True)
class Peer:
    """What pip installs for a peer, constraints it cannot keep, and what has to go before it starts."""

    install: tuple[str, ...]
    unconstrained: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


PEERS = {
    # Seq2SeqTrainer needs accelerate; sacremoses cuts the text of task A for all tools.
    "transformers": Peer(
        ("transformers==5.22.2", "accelerate==1.15.0", "ctranslate2==4.8.4", "sacremoses==0.1.1", "torch")
    ),
    # Imports aiohttp without requiring it.
    "eole": Peer(("eole==0.6.4", "aiohttp")),
    # Imports importlib_metadata without requiring it; wants a protobuf that only an old tensorboard takes.
    "joeynmt": Peer(("joeynmt==2.3.0", "importlib_metadata"), unconstrained=("tensorboard",)),
    # Both are required and neither is used. Where they do not match the build of torch, importing
    # torchvision fails, and torchmetrics imports it whenever it is there.
    "yoyodyne": Peer(("yoyodyne==0.5.27",), remove=("torchvision", "torchaudio")),
}


class CommandError(Exception):
    """A command that did not end well, with the end of what it said."""


@dataclass(frozen=True)
class Cost:
    """What a command wrote, how long it took and how much memory it had at the most."""

    output: str
    messages: str
    seconds: float
    megabytes: float | None
    """Unknown where it is no more than this process has: a child's count begins with its parent's."""


@dataclass(frozen=True)
class Lab:
    """A folder, and a number of threads for everything that is run in it."""

    folder: Path
    threads: int = 2

    def run(self, command: list[str | Path], **variables: str) -> Cost:
        """Run a command in a process of its own."""
        environment = os.environ | {"OMP_NUM_THREADS": str(self.threads)} | variables
        started = time.perf_counter()
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as messages:
            with subprocess.Popen(
                command, stdout=output, stderr=messages, stdin=subprocess.DEVNULL, env=environment
            ) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - started
            for file in (output, messages):
                file.seek(0)
            own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            megabytes = usage.ru_maxrss / 1024 if usage.ru_maxrss > own else None
            cost = Cost(output.read(), messages.read(), seconds, megabytes)
        if process.returncode:
            said = f"{cost.output[-4000:]}\n{cost.messages[-4000:]}"
            raise CommandError(f"{' '.join(map(str, command))} failed:\n{said}")
        return cost

    def seq2see(self, *words: str | Path, source: Path = SOURCE) -> Cost:
        """Run `seq2see` as it is in a checkout."""
        return self.run([sys.executable, "-m", "seq2see", *words], PYTHONPATH=str(source))

    def environment(self, name: str) -> Path:
        """The folder of a peer's programs; its environment is made where it is not there yet."""
        peer, home = PEERS[name], self.folder / "environments" / name
        # The stamp holds the versions, so that another pin makes another environment.
        stamp = home / "installed.json"
        if not stamp.exists() or json.loads(stamp.read_text()) != list(peer.install):
            print(f"installing {', '.join(peer.install)} in {home}", flush=True)
            self.run([sys.executable, "-m", "venv", "--clear", home])
            pip, constraints = home / "bin" / "pip", home / "constraints.txt"
            lines = (ROOT / "constraints.txt").read_text().splitlines()
            kept = [line for line in lines if line.split("==")[0] not in peer.unconstrained]
            constraints.write_text("\n".join(kept) + "\n")
            self.run([pip, "install", "--constraint", constraints, *peer.install])
            if peer.remove:
                self.run([pip, "uninstall", "--yes", *peer.remove])
            stamp.write_text(json.dumps(peer.install))
        return home / "bin"


def peer_script(name: str, root: Path = ROOT) -> Path:
    """A script that runs in a peer's environment; an earlier checkout of seq2see has scripts of its own."""
    return root / "benchmarks" / "peers" / name


@contextmanager
def checkout(name: str | None, lab: Lab) -> Iterator[Path | None]:
    """The sources of an earlier commit, for as long as they are needed."""
    if name is None:
        yield None
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder:
        subprocess.run([*git, "add", "--detach", f"{folder}/before", name], check=True, capture_output=True)
        try:
            yield Path(folder) / "before" / "src"
        finally:
            subprocess.run([*git, "remove", "--force", f"{folder}/before"], check=True)


def described_machine() -> dict[str, Any]:
    """Processor, cores and PyTorch."""
    return {"processor": _processor(), "cores": os.cpu_count(), "torch": version("torch")}


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def commit() -> str:
    """The commit that is measured, marked if files were changed since."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.check_output(command, text=True).strip()


def write_json(path: Path, known: Any) -> None:
    """Keep all that is known, readable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known, indent=2) + "\n")
