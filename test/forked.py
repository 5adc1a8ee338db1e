"""Starts `xdsl-opt` and `filecheck` at once: a process that has read them forks for every command.

FileCheck tests are some 600 commands, of which each spent half a second of processor time on reading Python modules and operators' definitions.
`lit.cfg.py` starts the server and puts its two commands into tests' `PATH`. A command sends its arguments, directory, environment and its three files over
a socket, and ends as the fork ends. With `XDSL_EXIR_LIT_PLAIN=1` tests run the installed commands.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import NoReturn

WARM_UP = """
func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = aten.relu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
"""

CLIENT = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    said = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [b"x"], [0, 1, 2])
    server.sendall(said)
    server.shutdown(socket.SHUT_WR)
    code = server.recv(1)
sys.exit(code[0] if code else "the command died")
"""


def commands() -> dict[str, Callable[[], int | None]]:
    """What forks can run, read and warmed up."""
    from filecheck.main import main as filecheck
    from xdsl.tools.xdsl_opt import main as xdsl_opt

    from xdsl_exir.universe import XDSL_EXIR_UNIVERSE

    for read in XDSL_EXIR_UNIVERSE.all_passes.values():
        read()
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file, redirect_stdout(io.StringIO()):
        file.write(WARM_UP)
        file.flush()
        sys.argv = ["xdsl-opt", file.name]
        xdsl_opt()
    return {"xdsl-opt": xdsl_opt, "filecheck": filecheck}


def settings(environment: Mapping[str, str]) -> list[str | None]:
    """What of the environment modules look at as they are read."""
    return [environment.get(name) for name in ("XDSL_EXIR_OPS", "XDSL_EXIR_LIMITS")]


def answer(connection: socket.socket, known: dict[str, Callable[[], int | None]]) -> NoReturn:
    """Runs the command that a client asks for, as its own process, and tells how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    # Whether a file can be sought in is known of those that the server was started with.
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, closefd=False)  # noqa: SIM115
        for number, mode in enumerate(("r", "w", "w"))
    )
    said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    sys.argv, directory, environment = json.loads(said)
    os.chdir(directory)
    same = settings(environment) == settings(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        if same:
            code = known[sys.argv[0]]() or 0
        else:
            code = subprocess.run([Path(sys.executable).with_name(sys.argv[0]), *sys.argv[1:]]).returncode
    except SystemExit as error:
        code = error.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # who read it has seen enough
        code = code or 1
    connection.sendall(bytes([code if isinstance(code, int) else int(code is not None)]))
    os._exit(0)


def serve(path: str) -> None:
    """Forks for each command that comes to a socket, until standard input ends: the parent has gone."""
    known = commands()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                answer(connection, known)
            connection.close()


def start() -> Path:
    """Starts a server, which ends with this process, and gives a directory with its commands."""
    directory = tempfile.TemporaryDirectory(prefix="xdsl-exir-lit-")
    folder = Path(directory.name)
    (folder / "client.py").write_text(CLIENT)
    for name in ("xdsl-opt", "filecheck"):
        file = folder / name
        file.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -IS "{folder}/client.py" "{folder}/socket" {name} "$@"\n'
        )
        file.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, __file__, str(folder / "socket")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    if server.stdout.readline() != "ready\n":
        raise RuntimeError("the server of xdsl-opt and filecheck does not start")

    def end() -> None:
        server.kill()
        server.wait()
        directory.cleanup()

    atexit.register(end)
    return folder


if __name__ == "__main__":
    serve(sys.argv[1])
