# Made from the operator spec by `python -m xdsl_exir.dialects.stubs.generate`. Do not edit.
# Names of PyTorch's private operators begin with an underscore.
# pyright: reportPrivateUsage=false
from xdsl.ir import Dialect

from xdsl_exir.dialects import signatures
from xdsl_exir.dialects.operator import OperatorDialect

OPERATORS: OperatorDialect

def dialect() -> Dialect: ...

class _ToDimOrderCopyOp(signatures._ToDimOrderCopyOp): ...
class _CloneDimOrderOp(signatures._CloneDimOrderOp): ...
class _EmptyDimOrderOp(signatures._EmptyDimOrderOp): ...
