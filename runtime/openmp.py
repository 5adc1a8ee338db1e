"""OpenMP in this process: where the runtime is that code calls.

Code calls LLVM's runtime (`__kmpc_*`). A process should have one: two have threads each, which wait for work on the same cores, in each other's way. Where
there is GNU's, which PyTorch's wheels bring, it does the work: the functions of LLVM's that code calls are here, in LLVM IR, in terms of
GNU's. So `torch.set_num_threads` says how many threads there are to our code as well. GNU's does not survive a fork: in the child it is LLVM's.
Where LLVM's does the work, what its builds with assertions are slow at is ours all the same (`OURS`), and with either how many threads a team has (`teams`).
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from xdsl_exir.errors import ToolchainError
from xdsl_exir.runtime import teams
from xdsl_exir.targets.cpu.machine import baseline, llvm_binding
from xdsl_exir.targets.cpu.objects import emit_object
from xdsl_exir.threads import once

INSTALL_OPENMP = "pip install intel-openmp   (or: apt-get install libomp-22-dev)"

OPENMP = "__kmpc_"
"""What the names of OpenMP's functions begin with."""

# All are LLVM's runtime (Intel's is built from it), first the one of the tools' own version.
_OPENMP_FOLDERS = (
    "/usr/lib/llvm-22/lib",
    f"{sys.prefix}/lib",
    f"/usr/lib/{platform.machine()}-linux-gnu",
    "/usr/lib",
)
_OPENMP_FILES = ("libomp.so.5", "libomp.so", "libiomp5.so")
_OPENMP_NAME = re.compile(r"/lib(iomp5|omp5?)[-.][^/]*$")
"""What the runtime's file is called, also as packages that bring their own rename it."""
GNU_NAME = re.compile(r"/libgomp[-.][^/]*$")


def find_openmp(folders: Sequence[str] = _OPENMP_FOLDERS) -> Path:
    """LLVM's OpenMP runtime. Raises ToolchainError with the install command when there is none."""
    places = (Path(folder, file) for folder in folders for file in _OPENMP_FILES)
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise ToolchainError(f"threads need LLVM's OpenMP runtime; install it with: {INSTALL_OPENMP}")
    return found


def loaded_openmp(name: re.Pattern[str] = _OPENMP_NAME) -> list[Path]:
    """The OpenMP runtimes of this kind that are in this process."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text("utf-8", "surrogateescape").splitlines() if maps.exists() else []
    mapped = dict.fromkeys(fields[5] for line in lines if len(fields := line.split(maxsplit=5)) > 5)
    return [Path(path) for path in mapped if name.search(path) and Path(path).is_file()]


@functools.cache
def _everyones() -> ctypes.CDLL | None:
    """LLVM's runtime, if all libraries in this process see one."""
    everyones = ctypes.CDLL(None)
    return everyones if hasattr(everyones, f"{OPENMP}fork_call") else None


@functools.cache
def _llvm() -> ctypes.CDLL:
    """LLVM's runtime: what others brought (MKL), else what they would bring.

    Two of them end the process, unless they are told that it is all right: to our code it is, which calls one of them only."""
    if (everyones := _everyones()) is not None:
        return everyones
    loaded = loaded_openmp()
    if len(loaded) != 1:
        os.environ.setdefault("KMP_DUPLICATE_LIB_OK", "TRUE")
    if not loaded:
        # Milliseconds for which its threads wait at work, which others' cannot do meanwhile: of itself it would be 200.
        os.environ.setdefault("KMP_BLOCKTIME", "20")
    # Not RTLD_GLOBAL: it also defines GNU's entry points, which a PyTorch imported later would take from it.
    return ctypes.CDLL(str(loaded[0] if loaded else find_openmp((f"{sys.prefix}/lib", *_OPENMP_FOLDERS))))


ALONE = "exir_alone_"
"""What the names of functions of one thread begin with."""
FUNCTIONS = {
    "fork_call": ("void (ptr, i32, ptr, ...)", ["ptr", "i32", "ptr", "ptr"]),
    "fork_call_if": ("void", ["ptr", "i32", "ptr", "i32", "ptr"]),
    "for_static_init_8u": ("void", ["ptr", "i32", "i32", "ptr", "ptr", "ptr", "ptr", "i64", "i64"]),
    "for_static_fini": ("void", ["ptr", "i32"]),
    "barrier": ("void", ["ptr", "i32"]),
    "global_thread_num": ("i32", ["ptr"]),
}
"""LLVM's functions that GNU's runtime stands for: what they are called as, and parameters. To the first, which is variadic, the conventions of Linux pass
what follows as they pass parameters; code passes one argument, or none."""


def _given(name: str) -> str:
    """The parameters of such a function, %0 first."""
    return ", ".join(f"{type} %{i}" for i, type in enumerate(FUNCTIONS[name][1]))


def _fork_if(team: str, alone: str) -> str:
    """The body of `fork_call_if`: what calls a team, or one thread."""
    return f"""
  %parallel = icmp ne i32 %3, 0
  br i1 %parallel, label %team, label %alone
team:
  call void {team}(ptr %0, i32 %1, ptr %2, ptr %4)
  ret void
alone:{alone}
  ret void"""


def _run_alone(argument: int) -> str:
    """One thread runs a function of one, whose argument is this parameter."""
    return f"\n  call void @{ALONE}fork_call(ptr %0, i32 %1, ptr %2, ptr %{argument})"


BODIES = {
    # What a team runs takes where its thread's number lies, and a 0.
    "fork_call": teams.fork_call(
        "\n  call void @GOMP_parallel(ptr @worker, ptr %task, i32 %threads, i32 0)", _run_alone(3)
    ),
    "fork_call_if": _fork_if(f"@{OPENMP}fork_call", _run_alone(4)),
    # Bounds [lower, upper] of all turns become those of one thread's: as many for each, the first ones one more. Of fewer turns than threads, nothing is above the last.
    "for_static_init_8u": """
  %lower = load i64, ptr %4
  %upper = load i64, ptr %5
  %span = sub i64 %upper, %lower
  %turns = add i64 %span, 1
  %count = call i32 @omp_get_num_threads()
  %threads = zext i32 %count to i64
  %number = call i32 @omp_get_thread_num()
  %thread = zext i32 %number to i64
  %each = udiv i64 %turns, %threads
  %left = urem i64 %turns, %threads
  %before = call i64 @llvm.umin.i64(i64 %thread, i64 %left)
  %shares = mul i64 %thread, %each
  %skipped = add i64 %shares, %before
  %first = add i64 %lower, %skipped
  %more = icmp ult i64 %thread, %left
  %extra = zext i1 %more to i64
  %own = add i64 %each, %extra
  %end = add i64 %first, %own
  %last = sub i64 %end, 1
  store i64 %first, ptr %4
  store i64 %last, ptr %5
  store i64 %turns, ptr %6
  %some = icmp ne i64 %own, 0
  %ends = icmp eq i64 %last, %upper
  %is_last = and i1 %some, %ends
  %last_flag = zext i1 %is_last to i32
  store i32 %last_flag, ptr %3
  ret void""",
    "for_static_fini": """
  ret void""",
    "barrier": teams.barrier("\n  call void @GOMP_barrier()", "0"),
    "global_thread_num": """
  %number = call i32 @omp_get_thread_num()
  ret i32 %number""",
}
ALONE_BODIES = {
    "fork_call": """
  %zero = alloca i32
  store i32 0, ptr %zero
  call void %2(ptr %zero, ptr %zero, ptr %3)
  ret void""",
    "fork_call_if": f"""
  call void @{ALONE}fork_call(ptr %0, i32 %1, ptr %2, ptr %4)
  ret void""",
    "for_static_init_8u": """
  store i32 1, ptr %3
  ret void""",
    **dict.fromkeys(("for_static_fini", "barrier"), "\n  ret void"),
    "global_thread_num": """
  ret i32 0""",
}
"""The same of one thread, without a runtime."""
SROA = "function(sroa)"
"""The pass that such code needs."""
INSTEAD = "exir_openmp_instead"
"""A function of ours: from now on its functions are others, whose addresses are in a table, in their order."""
GNU_FUNCTIONS = {
    "GOMP_parallel": "declare void @GOMP_parallel(ptr, ptr, i32, i32)",
    "GOMP_barrier": "declare void @GOMP_barrier()",
    **teams.NEEDED,
}
OUTSIDE = f"""{teams.FUNCTIONS}
declare i64 @llvm.umin.i64(i64, i64)
@others = internal global ptr null

define void @{INSTEAD}(ptr %table) {{
  store ptr %table, ptr @others
  ret void
}}

define internal void @worker(ptr %task) {{
  %number_at = alloca i32
  %zero_at = alloca i32
  %number = call i32 @omp_get_thread_num()
  store i32 %number, ptr %number_at
  store i32 0, ptr %zero_at
  call void @work(ptr %number_at, ptr %zero_at, ptr %task, i32 %number)
  ret void
}}
"""


SHARES = ("for_static_init_8u", "for_static_fini")
"""What shares turns among the threads of a team."""


def _run_one(argument: int) -> str:
    """One thread runs a function of a team, which takes where its thread's number lies, by which it names itself to the runtime, and a 0."""
    return f"""
  %at = alloca {{ i32, i32 }}
  %its_number = call i32 @{OPENMP}global_thread_num(ptr %0)
  %zero_at = getelementptr {{ i32, i32 }}, ptr %at, i32 0, i32 1
  store i32 %its_number, ptr %at
  store i32 0, ptr %zero_at
  call void %2(ptr %at, ptr %zero_at, ptr %{argument})"""


LLVMS, WRAPPER = f"__real_{OPENMP}", f"__wrap_{OPENMP}"
"""What the names of those of LLVM's functions begin with that ours stand for, and of ours that do, as linkers name them (`--wrap`)."""
OURS = {
    "fork_call": teams.fork_call(
        f"""
  %passed = load atomic i32, ptr @passed unordered, align 4
  %is_looked_at = icmp eq i32 %passed, 0
  br i1 %is_looked_at, label %look, label %run
look:
  %caller = call i32 @{OPENMP}global_thread_num(ptr %0)
  store atomic i32 %caller, ptr @caller unordered, align 4
  %is_part = icmp ne i32 %threads, 0
  br i1 %is_part, label %part, label %run
part:
  call void @{OPENMP}push_num_threads(ptr %0, i32 %caller, i32 %threads)
  br label %run
run:
  call void (ptr, i32, ptr, ...) @{LLVMS}fork_call(ptr %0, i32 1, ptr @member, ptr %task)""",
        _run_one(3),
    ),
    "fork_call_if": _fork_if(f"@{OPENMP}fork_call", _run_one(4)),
    "barrier": "\n  %caller = load atomic i32, ptr @caller unordered, align 4"
    + teams.barrier(f"\n  call void @{LLVMS}barrier(ptr %0, i32 %1)", "%caller"),
    **{name: BODIES[name] for name in SHARES},
}
"""What is ours with LLVM's runtime, too: how many threads a team has, to run its function alone, and to share turns, which is arithmetic. Builds with
assertions, as Debian's is, print a text for each share, which takes as long as a small kernel."""
IN_LIBRARIES = {
    "fork_call": f"""
  %inside = call i32 @omp_in_parallel()
  %is_inside = icmp ne i32 %inside, 0
  br i1 %is_inside, label %nested, label %outermost
nested:
  call void (ptr, i32, ptr, ...) @{LLVMS}fork_call(ptr %0, i32 1, ptr %2, ptr %3)
  ret void
outermost:{OURS["fork_call"]}""",
    "fork_call_if": _fork_if(
        f"@{WRAPPER}fork_call",
        f"\n  call void @{LLVMS}fork_call_if(ptr %0, i32 %1, ptr %2, i32 0, ptr %4)",
    ),
    "barrier": OURS["barrier"],
}
"""The same in libraries for C, whose linker takes them for LLVM's: who calls them may be in a team, which runs what is theirs as LLVM's runtime has it."""
WRAPPED = tuple(OPENMP + name for name in IN_LIBRARIES)
"""What the linker is told to wrap."""
LLVM_FUNCTIONS = {
    **{name: declaration for name, declaration in GNU_FUNCTIONS.items() if not name.startswith("GOMP_")},
    f"{OPENMP}fork_call": f"declare void @{LLVMS}fork_call(ptr, i32, ptr, ...)",
    f"{OPENMP}barrier": f"declare void @{LLVMS}barrier(ptr, i32)",
    f"{OPENMP}global_thread_num": f"declare i32 @{OPENMP}global_thread_num(ptr)",
    f"{OPENMP}push_num_threads": f"declare void @{OPENMP}push_num_threads(ptr, i32, i32)",
}
"""What of it these call."""
OF_LIBRARIES = (
    "declare i32 @omp_in_parallel()",
    f"declare void @{LLVMS}fork_call_if(ptr, i32, ptr, i32, ptr)",
)
"""What libraries' call, too."""
OUTSIDE_LLVM = "\n".join(
    (
        teams.FUNCTIONS,
        "declare i64 @llvm.umin.i64(i64, i64)",
        *LLVM_FUNCTIONS.values(),
        """
@caller = internal global i32 0

define internal void @member(ptr %number_at, ptr %in_team_at, ptr %task) {
  %number = load i32, ptr %in_team_at
  call void @work(ptr %number_at, ptr %in_team_at, ptr %task, i32 %number)
  ret void
}
""",
    )
)
"""What these share; `member` is what LLVM's runtime has each thread of a team run."""


def jit() -> Any:
    """One of LLVM's JITs, with the linker that puts all of an object file in one place; it lives as long as what it links.

    The older one takes memory section by section: in a large process they may lie further apart than relocations reach. Each
    library has one of its own: a JIT keeps some 9 kB of a library that is gone.
    """
    return llvm_binding().create_lljit_compiler(use_jit_link=True)


def code() -> str:
    """The functions, in LLVM IR: each looks first whether it is another one."""
    text = ["\n".join(GNU_FUNCTIONS.values()), OUTSIDE]
    for at, (name, (called_as, _)) in enumerate(FUNCTIONS.items()):
        given = _given(name)
        result = called_as.split()[0]
        value, returned = ("", "void") if result == "void" else ("%result = ", f"{result} %result")
        text.append(f"""
define {result} @{OPENMP}{name}({given}) {{
start:
  %table = load ptr, ptr @others
  %is_here = icmp eq ptr %table, null
  br i1 %is_here, label %here, label %other
other:
  %place = getelementptr ptr, ptr %table, i64 {at}
  %function = load ptr, ptr %place
  {value}call {called_as} %function({given})
  ret {returned}
here:{BODIES[name]}
}}

define {result} @{ALONE}{name}({given}) {{
start:{ALONE_BODIES[name]}
}}
""")
    return "".join(text)


def _gnu() -> Path | None:
    """GNU's runtime in this process, if there is one; of several PyTorch's."""
    loaded = loaded_openmp(GNU_NAME)
    torchs = [path for path in loaded if "torch" in path.parts]
    return next(iter(loaded if len(loaded) == 1 else torchs), None)


def address_in(library: ctypes.CDLL, name: str) -> int | None:
    """Address of a library's function; None where it has none of the name."""
    function = getattr(library, name, None)
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value


@once
def _by(runtime: Path) -> Mapping[str, int]:
    """Addresses of the functions by GNU's runtime."""
    gnu = ctypes.CDLL(str(runtime))
    names = [INSTEAD, *(prefix + name for name in FUNCTIONS for prefix in (OPENMP, ALONE))]
    found = _linked(code(), {name: address_in(gnu, name) for name in GNU_FUNCTIONS}, names)
    os.register_at_fork(after_in_child=lambda: _leave_gnu(found))
    return found


_KEPT: list[Any] = []


def _leave_gnu(ours: Mapping[str, int]) -> None:
    """In the child of a fork, where GNU's runtime waits for threads that are not there: LLVM's does the work, or one thread where there is none."""
    try:
        llvm = _llvm()
        others = [address_in(llvm, OPENMP + name) for name in FUNCTIONS]
    except ToolchainError:
        others = [ours[ALONE + name] for name in FUNCTIONS]
    table = (ctypes.c_void_p * len(others))(*others)
    _KEPT.append(table)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ours[INSTEAD])(ctypes.addressof(table))


@once
def _with_llvm() -> Mapping[str, int]:
    """Addresses of `OURS`; none where a runtime lacks what they call."""
    known = {_name_in(text): address_in(_llvm(), name) for name, text in LLVM_FUNCTIONS.items()}
    if None in known.values():
        return {}
    return _linked(OUTSIDE_LLVM + _code_with_llvm(OURS), known, [OPENMP + name for name in OURS])


def _name_in(declaration: str) -> str:
    """What a declaration declares."""
    return declaration.partition("@")[2].partition("(")[0]


def _code_with_llvm(bodies: Mapping[str, str], prefix: str = OPENMP) -> str:
    """Functions that stand for some of LLVM's, in LLVM IR, without what they call."""
    text = list[str]()
    for name, body in bodies.items():
        result = FUNCTIONS[name][0].split()[0]
        text.append(f"define {result} @{prefix}{name}({_given(name)}) {{{body}\n}}")
    return "\n".join(text)


def library_object() -> bytes:
    """`IN_LIBRARIES`, and `SHARES`, for a shared library, which hides them."""
    shares = _code_with_llvm({name: BODIES[name] for name in SHARES})
    wrappers = _code_with_llvm(IN_LIBRARIES, WRAPPER)
    return emit_object("\n".join((OUTSIDE_LLVM, *OF_LIBRARIES, shares, wrappers)), baseline(), SROA)


def _linked(text: str, known: Mapping[str, int | None], names: Sequence[str]) -> dict[str, int]:
    """Addresses of functions of a text in LLVM IR, which call others at known ones."""
    builder = llvm_binding().JITLibraryBuilder()
    builder.add_object_img(emit_object(text, baseline(), SROA))
    for name, address in known.items():
        builder.import_symbol(name, address)
    for name in names:
        builder.export_symbol(name)
    tracker = builder.link(jit(), "openmp")
    _KEPT.append(tracker)
    return {name: tracker[name] for name in names}


def addresses(names: Collection[str]) -> dict[str, int | None]:
    """Where these functions of OpenMP's are, all of one runtime; None of what it lacks. Raises `ToolchainError` where a process has none, nor the system."""
    gnu = None if _everyones() is not None else _gnu()
    if gnu is not None and (ours := _by(gnu)).keys() >= set(names):
        return {name: ours[name] for name in names}
    has_some = any(name.removeprefix(OPENMP) in OURS for name in names)
    ours = _with_llvm() if has_some else dict[str, int]()
    return {name: ours[name] if name in ours else address_in(_llvm(), name) for name in names}
