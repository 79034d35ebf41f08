"""Runs the programs of ``examples/``, with a wallet that signs by the test's signer in place of ``eth_account``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent


def start(name: str, *words: str, **environment: str) -> "subprocess.Popen[str]":
    given = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join([str(FOLDER), str(FOLDER / "tests" / "signer_wallet"), given])
    return subprocess.Popen(
        [sys.executable, str(FOLDER / "examples" / name), *words],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )


def run(name: str, **environment: str) -> str:
    with start(name, **environment) as program:
        output, _ = program.communicate(timeout=60)
    assert program.returncode == 0, f"{name} ended with {program.returncode}"
    return output
