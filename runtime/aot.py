"""The former place of `xdsl_exir.compile_library`."""

from xdsl_exir.runtime.c.library import Artifact, compile_library

__all__ = ["Artifact", "compile_library"]
