# Made from the operator spec by `python -m xdsl_exir.dialects.stubs.generate`. Do not edit.
# Names of PyTorch's private operators begin with an underscore.
# pyright: reportPrivateUsage=false, reportMissingModuleSource=false
from xdsl_exir.dialects.stubs import signatures

__all__ = [
    "GroupedMmFallbackOp",
]

class GroupedMmFallbackOp(signatures.GroupedMmFallbackOp): ...
