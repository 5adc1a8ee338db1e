# Made from the operator spec by `python -m xdsl_exir.dialects.stubs.generate`. Do not edit.
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.operator import OperatorOp

Value = SSAValue | Operation

class AddTensorOp(OperatorOp):
    """aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AddScalarOp(OperatorOp):
    """aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, alpha: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SubTensorOp(OperatorOp):
    """aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SubScalarOp(OperatorOp):
    """aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, alpha: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RsubTensorOp(OperatorOp):
    """aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RsubScalarOp(OperatorOp):
    """aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, alpha: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MulTensorOp(OperatorOp):
    """aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MulScalarOp(OperatorOp):
    """aten::mul.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivTensorOp(OperatorOp):
    """aten::div.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivScalarOp(OperatorOp):
    """aten::div.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivTensorModeOp(OperatorOp):
    """aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"""

    self: SSAValue
    other: SSAValue
    rounding_mode: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, rounding_mode: str | None, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivScalarModeOp(OperatorOp):
    """aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    rounding_mode: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, rounding_mode: str | None, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FloorDivideOp(OperatorOp):
    """aten::floor_divide(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FloorDivideScalarOp(OperatorOp):
    """aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RemainderTensorOp(OperatorOp):
    """aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RemainderScalarOp(OperatorOp):
    """aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FmodTensorOp(OperatorOp):
    """aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FmodScalarOp(OperatorOp):
    """aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PowTensorTensorOp(OperatorOp):
    """aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"""

    self: SSAValue
    exponent: SSAValue
    result: OpResult
    def __init__(_op, self: Value, exponent: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PowTensorScalarOp(OperatorOp):
    """aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"""

    self: SSAValue
    exponent_operand: SSAValue | None
    exponent: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, exponent: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PowScalarOp(OperatorOp):
    """aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    exponent: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, exponent: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NegOp(OperatorOp):
    """aten::neg(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AbsOp(OperatorOp):
    """aten::abs(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SignOp(OperatorOp):
    """aten::sign(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SgnOp(OperatorOp):
    """aten::sgn(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ExpOp(OperatorOp):
    """aten::exp(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Exp2Op(OperatorOp):
    """aten::exp2(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Expm1Op(OperatorOp):
    """aten::expm1(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogOp(OperatorOp):
    """aten::log(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Log2Op(OperatorOp):
    """aten::log2(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Log10Op(OperatorOp):
    """aten::log10(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Log1pOp(OperatorOp):
    """aten::log1p(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SqrtOp(OperatorOp):
    """aten::sqrt(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RsqrtOp(OperatorOp):
    """aten::rsqrt(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReciprocalOp(OperatorOp):
    """aten::reciprocal(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SinOp(OperatorOp):
    """aten::sin(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CosOp(OperatorOp):
    """aten::cos(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TanOp(OperatorOp):
    """aten::tan(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AsinOp(OperatorOp):
    """aten::asin(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AcosOp(OperatorOp):
    """aten::acos(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AtanOp(OperatorOp):
    """aten::atan(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Atan2Op(OperatorOp):
    """aten::atan2(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SinhOp(OperatorOp):
    """aten::sinh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CoshOp(OperatorOp):
    """aten::cosh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TanhOp(OperatorOp):
    """aten::tanh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AsinhOp(OperatorOp):
    """aten::asinh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AcoshOp(OperatorOp):
    """aten::acosh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AtanhOp(OperatorOp):
    """aten::atanh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ErfOp(OperatorOp):
    """aten::erf(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ErfcOp(OperatorOp):
    """aten::erfc(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SigmoidOp(OperatorOp):
    """aten::sigmoid(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogitOp(OperatorOp):
    """aten::logit(Tensor self, float? eps=None) -> Tensor"""

    self: SSAValue
    eps: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, eps: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CeilOp(OperatorOp):
    """aten::ceil(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FloorOp(OperatorOp):
    """aten::floor(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RoundOp(OperatorOp):
    """aten::round(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RoundDecimalsOp(OperatorOp):
    """aten::round.decimals(Tensor self, *, int decimals) -> Tensor"""

    self: SSAValue
    decimals: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, decimals: int, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TruncOp(OperatorOp):
    """aten::trunc(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FracOp(OperatorOp):
    """aten::frac(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SquareOp(OperatorOp):
    """aten::square(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClampOp(OperatorOp):
    """aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"""

    self: SSAValue
    min_operand: SSAValue | None
    min: Attribute | None
    max_operand: SSAValue | None
    max: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, min: complex | Value | None = ..., max: complex | Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClampTensorOp(OperatorOp):
    """aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"""

    self: SSAValue
    min: SSAValue | None
    max: SSAValue | None
    result: OpResult
    def __init__(_op, self: Value, min: Value | None = ..., max: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClampMinOp(OperatorOp):
    """aten::clamp_min(Tensor self, Scalar min) -> Tensor"""

    self: SSAValue
    min_operand: SSAValue | None
    min: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, min: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClampMaxOp(OperatorOp):
    """aten::clamp_max(Tensor self, Scalar max) -> Tensor"""

    self: SSAValue
    max_operand: SSAValue | None
    max: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, max: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClampMinTensorOp(OperatorOp):
    """aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor"""

    self: SSAValue
    min: SSAValue
    result: OpResult
    def __init__(_op, self: Value, min: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClampMaxTensorOp(OperatorOp):
    """aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor"""

    self: SSAValue
    max: SSAValue
    result: OpResult
    def __init__(_op, self: Value, max: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MinimumOp(OperatorOp):
    """aten::minimum(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaximumOp(OperatorOp):
    """aten::maximum(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FminOp(OperatorOp):
    """aten::fmin(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FmaxOp(OperatorOp):
    """aten::fmax(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EqTensorOp(OperatorOp):
    """aten::eq.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EqScalarOp(OperatorOp):
    """aten::eq.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NeTensorOp(OperatorOp):
    """aten::ne.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NeScalarOp(OperatorOp):
    """aten::ne.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LtTensorOp(OperatorOp):
    """aten::lt.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LtScalarOp(OperatorOp):
    """aten::lt.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LeTensorOp(OperatorOp):
    """aten::le.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LeScalarOp(OperatorOp):
    """aten::le.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GtTensorOp(OperatorOp):
    """aten::gt.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GtScalarOp(OperatorOp):
    """aten::gt.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GeTensorOp(OperatorOp):
    """aten::ge.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GeScalarOp(OperatorOp):
    """aten::ge.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogicalNotOp(OperatorOp):
    """aten::logical_not(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogicalAndOp(OperatorOp):
    """aten::logical_and(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogicalOrOp(OperatorOp):
    """aten::logical_or(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogicalXorOp(OperatorOp):
    """aten::logical_xor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsnanOp(OperatorOp):
    """aten::isnan(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsinfOp(OperatorOp):
    """aten::isinf(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsfiniteOp(OperatorOp):
    """aten::isfinite(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SignbitOp(OperatorOp):
    """aten::signbit(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseNotOp(OperatorOp):
    """aten::bitwise_not(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseAndTensorOp(OperatorOp):
    """aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseAndScalarOp(OperatorOp):
    """aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseOrTensorOp(OperatorOp):
    """aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseOrScalarOp(OperatorOp):
    """aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseXorTensorOp(OperatorOp):
    """aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseXorScalarOp(OperatorOp):
    """aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseLeftShiftTensorOp(OperatorOp):
    """aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseRightShiftTensorOp(OperatorOp):
    """aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AndTensorOp(OperatorOp):
    """aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _OrTensorOp(OperatorOp):
    """aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _XorTensorOp(OperatorOp):
    """aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AndScalarOp(OperatorOp):
    """aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _OrScalarOp(OperatorOp):
    """aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _XorScalarOp(OperatorOp):
    """aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LshiftTensorOp(OperatorOp):
    """aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LshiftScalarOp(OperatorOp):
    """aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _RshiftTensorOp(OperatorOp):
    """aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _RshiftScalarOp(OperatorOp):
    """aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseLeftShiftTensorScalarOp(OperatorOp):
    """aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseLeftShiftScalarTensorOp(OperatorOp):
    """aten::bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseRightShiftTensorScalarOp(OperatorOp):
    """aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseRightShiftScalarTensorOp(OperatorOp):
    """aten::bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseAndScalarTensorOp(OperatorOp):
    """aten::bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseOrScalarTensorOp(OperatorOp):
    """aten::bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BitwiseXorScalarTensorOp(OperatorOp):
    """aten::bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RemainderScalarTensorOp(OperatorOp):
    """aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CopysignScalarOp(OperatorOp):
    """aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class WhereSelfOp(OperatorOp):
    """aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"""

    condition: SSAValue
    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, condition: Value, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class WhereScalarOtherOp(OperatorOp):
    """aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor"""

    condition: SSAValue
    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, condition: Value, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class WhereScalarSelfOp(OperatorOp):
    """aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor"""

    condition: SSAValue
    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, condition: Value, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class WhereScalarOp(OperatorOp):
    """aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"""

    condition: SSAValue
    self_operand: SSAValue | None
    self: Attribute | None
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, condition: Value, self: complex | Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaskedFillScalarOp(OperatorOp):
    """aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor"""

    self: SSAValue
    mask: SSAValue
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, mask: Value, value: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaskedFillTensorOp(OperatorOp):
    """aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"""

    self: SSAValue
    mask: SSAValue
    value: SSAValue
    result: OpResult
    def __init__(_op, self: Value, mask: Value, value: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ToDtypeOp(OperatorOp):
    """aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"""

    self: SSAValue
    dtype: Attribute
    non_blocking: Attribute
    copy: Attribute
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dtype: DType, non_blocking: bool = ..., copy: bool = ..., memory_format: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ToDtypeLayoutOp(OperatorOp):
    """aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    non_blocking: Attribute
    copy: Attribute
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., non_blocking: bool = ..., copy: bool = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ToDeviceOp(OperatorOp):
    """aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"""

    self: SSAValue
    device: Attribute
    dtype: Attribute
    non_blocking: Attribute
    copy: Attribute
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, device: str, dtype: DType, non_blocking: bool = ..., copy: bool = ..., memory_format: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ToOtherOp(OperatorOp):
    """aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"""

    self: SSAValue
    other: SSAValue
    non_blocking: Attribute
    copy: Attribute
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, non_blocking: bool = ..., copy: bool = ..., memory_format: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TypeAsOp(OperatorOp):
    """aten::type_as(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _ToCopyOp(OperatorOp):
    """aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    non_blocking: Attribute
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., non_blocking: bool = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CloneOp(OperatorOp):
    """aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AliasOp(OperatorOp):
    """aten::alias(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DetachOp(OperatorOp):
    """aten::detach(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ContiguousOp(OperatorOp):
    """aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)"""

    self: SSAValue
    memory_format: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, memory_format: str = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CopyOp(OperatorOp):
    """aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor"""

    self: SSAValue
    src: SSAValue
    non_blocking: Attribute
    result: OpResult
    def __init__(_op, self: Value, src: Value, non_blocking: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LiftFreshCopyOp(OperatorOp):
    """aten::lift_fresh_copy(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LiftFreshOp(OperatorOp):
    """aten::lift_fresh(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AddcmulOp(OperatorOp):
    """aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"""

    self: SSAValue
    tensor1: SSAValue
    tensor2: SSAValue
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, tensor1: Value, tensor2: Value, *, value: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AddcdivOp(OperatorOp):
    """aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"""

    self: SSAValue
    tensor1: SSAValue
    tensor2: SSAValue
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, tensor1: Value, tensor2: Value, *, value: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LerpScalarOp(OperatorOp):
    """aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor"""

    self: SSAValue
    end: SSAValue
    weight_operand: SSAValue | None
    weight: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, end: Value, weight: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LerpTensorOp(OperatorOp):
    """aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor"""

    self: SSAValue
    end: SSAValue
    weight: SSAValue
    result: OpResult
    def __init__(_op, self: Value, end: Value, weight: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NanToNumOp(OperatorOp):
    """aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor"""

    self: SSAValue
    nan: Attribute | None
    posinf: Attribute | None
    neginf: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, nan: float | None = ..., posinf: float | None = ..., neginf: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FillScalarOp(OperatorOp):
    """aten::fill.Scalar(Tensor self, Scalar value) -> Tensor"""

    self: SSAValue
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, value: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FillTensorOp(OperatorOp):
    """aten::fill.Tensor(Tensor self, Tensor value) -> Tensor"""

    self: SSAValue
    value: SSAValue
    result: OpResult
    def __init__(_op, self: Value, value: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class XlogyTensorOp(OperatorOp):
    """aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HypotOp(OperatorOp):
    """aten::hypot(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CopysignTensorOp(OperatorOp):
    """aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RealOp(OperatorOp):
    """aten::real(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConjOp(OperatorOp):
    """aten::conj(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _ConjOp(OperatorOp):
    """aten::_conj(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewAsRealOp(OperatorOp):
    """aten::view_as_real(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Deg2radOp(OperatorOp):
    """aten::deg2rad(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Rad2degOp(OperatorOp):
    """aten::rad2deg(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SincOp(OperatorOp):
    """aten::sinc(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogaddexpOp(OperatorOp):
    """aten::logaddexp(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Logaddexp2Op(OperatorOp):
    """aten::logaddexp2(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GcdOp(OperatorOp):
    """aten::gcd(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HeavisideOp(OperatorOp):
    """aten::heaviside(Tensor self, Tensor values) -> Tensor"""

    self: SSAValue
    values: SSAValue
    result: OpResult
    def __init__(_op, self: Value, values: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivideTensorOp(OperatorOp):
    """aten::divide.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivideScalarOp(OperatorOp):
    """aten::divide.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivideTensorModeOp(OperatorOp):
    """aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"""

    self: SSAValue
    other: SSAValue
    rounding_mode: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, rounding_mode: str | None, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DivideScalarModeOp(OperatorOp):
    """aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    rounding_mode: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, rounding_mode: str | None, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrueDivideTensorOp(OperatorOp):
    """aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrueDivideScalarOp(OperatorOp):
    """aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SubtractTensorOp(OperatorOp):
    """aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SubtractScalarOp(OperatorOp):
    """aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, alpha: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MultiplyTensorOp(OperatorOp):
    """aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MultiplyScalarOp(OperatorOp):
    """aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NegativeOp(OperatorOp):
    """aten::negative(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AbsoluteOp(OperatorOp):
    """aten::absolute(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClipOp(OperatorOp):
    """aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"""

    self: SSAValue
    min_operand: SSAValue | None
    min: Attribute | None
    max_operand: SSAValue | None
    max: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, min: complex | Value | None = ..., max: complex | Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ClipTensorOp(OperatorOp):
    """aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"""

    self: SSAValue
    min: SSAValue | None
    max: SSAValue | None
    result: OpResult
    def __init__(_op, self: Value, min: Value | None = ..., max: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GreaterTensorOp(OperatorOp):
    """aten::greater.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GreaterScalarOp(OperatorOp):
    """aten::greater.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GreaterEqualTensorOp(OperatorOp):
    """aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GreaterEqualScalarOp(OperatorOp):
    """aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LessTensorOp(OperatorOp):
    """aten::less.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LessScalarOp(OperatorOp):
    """aten::less.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LessEqualTensorOp(OperatorOp):
    """aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LessEqualScalarOp(OperatorOp):
    """aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NotEqualTensorOp(OperatorOp):
    """aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NotEqualScalarOp(OperatorOp):
    """aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArccosOp(OperatorOp):
    """aten::arccos(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArccoshOp(OperatorOp):
    """aten::arccosh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArcsinOp(OperatorOp):
    """aten::arcsin(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArcsinhOp(OperatorOp):
    """aten::arcsinh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArctanOp(OperatorOp):
    """aten::arctan(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArctanhOp(OperatorOp):
    """aten::arctanh(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Arctan2Op(OperatorOp):
    """aten::arctan2(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FixOp(OperatorOp):
    """aten::fix(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class XlogyScalarOtherOp(OperatorOp):
    """aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class XlogyScalarSelfOp(OperatorOp):
    """aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FloatPowerTensorTensorOp(OperatorOp):
    """aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"""

    self: SSAValue
    exponent: SSAValue
    result: OpResult
    def __init__(_op, self: Value, exponent: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FloatPowerTensorScalarOp(OperatorOp):
    """aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"""

    self: SSAValue
    exponent_operand: SSAValue | None
    exponent: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, exponent: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FloatPowerScalarOp(OperatorOp):
    """aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    exponent: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, exponent: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IscloseOp(OperatorOp):
    """aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> Tensor"""

    self: SSAValue
    other: SSAValue
    rtol: Attribute
    atol: Attribute
    equal_nan: Attribute
    result: OpResult
    def __init__(_op, self: Value, other: Value, rtol: float = ..., atol: float = ..., equal_nan: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsposinfOp(OperatorOp):
    """aten::isposinf(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsneginfOp(OperatorOp):
    """aten::isneginf(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsrealOp(OperatorOp):
    """aten::isreal(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ResolveConjOp(OperatorOp):
    """aten::resolve_conj(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ResolveNegOp(OperatorOp):
    """aten::resolve_neg(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LiftOp(OperatorOp):
    """aten::lift(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewAsComplexOp(OperatorOp):
    """aten::view_as_complex(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ComplexOp(OperatorOp):
    """aten::complex(Tensor real, Tensor imag) -> Tensor"""

    real: SSAValue
    imag: SSAValue
    result: OpResult
    def __init__(_op, real: Value, imag: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PolarOp(OperatorOp):
    """aten::polar(Tensor abs, Tensor angle) -> Tensor"""

    abs: SSAValue
    angle: SSAValue
    result: OpResult
    def __init__(_op, abs: Value, angle: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AngleOp(OperatorOp):
    """aten::angle(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ImagOp(OperatorOp):
    """aten::imag(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _ConjPhysicalOp(OperatorOp):
    """aten::_conj_physical(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConjPhysicalOp(OperatorOp):
    """aten::conj_physical(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SigmoidBackwardOp(OperatorOp):
    """aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor"""

    grad_output: SSAValue
    output: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, output: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TanhBackwardOp(OperatorOp):
    """aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor"""

    grad_output: SSAValue
    output: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, output: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LcmOp(OperatorOp):
    """aten::lcm(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NextafterOp(OperatorOp):
    """aten::nextafter(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LdexpTensorOp(OperatorOp):
    """aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FrexpTensorOp(OperatorOp):
    """aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)"""

    self: SSAValue
    mantissa: OpResult
    exponent: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PositiveOp(OperatorOp):
    """aten::positive(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReluOp(OperatorOp):
    """aten::relu(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Relu6Op(OperatorOp):
    """aten::relu6(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardtanhOp(OperatorOp):
    """aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor"""

    self: SSAValue
    min_val_operand: SSAValue | None
    min_val: Attribute | None
    max_val_operand: SSAValue | None
    max_val: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, min_val: complex | Value = ..., max_val: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardsigmoidOp(OperatorOp):
    """aten::hardsigmoid(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardswishOp(OperatorOp):
    """aten::hardswish(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LeakyReluOp(OperatorOp):
    """aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor"""

    self: SSAValue
    negative_slope_operand: SSAValue | None
    negative_slope: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, negative_slope: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EluOp(OperatorOp):
    """aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor"""

    self: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    scale_operand: SSAValue | None
    scale: Attribute | None
    input_scale_operand: SSAValue | None
    input_scale: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, alpha: complex | Value = ..., scale: complex | Value = ..., input_scale: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SeluOp(OperatorOp):
    """aten::selu(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CeluOp(OperatorOp):
    """aten::celu(Tensor self, Scalar alpha=1.) -> Tensor"""

    self: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, alpha: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GeluOp(OperatorOp):
    """aten::gelu(Tensor self, *, str approximate="none") -> Tensor"""

    self: SSAValue
    approximate: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, approximate: str = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SiluOp(OperatorOp):
    """aten::silu(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MishOp(OperatorOp):
    """aten::mish(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SoftplusOp(OperatorOp):
    """aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor"""

    self: SSAValue
    beta_operand: SSAValue | None
    beta: Attribute | None
    threshold_operand: SSAValue | None
    threshold: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, beta: complex | Value = ..., threshold: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogSigmoidOp(OperatorOp):
    """aten::log_sigmoid(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ThresholdOp(OperatorOp):
    """aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor"""

    self: SSAValue
    threshold_operand: SSAValue | None
    threshold: Attribute | None
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, threshold: complex | Value, value: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PreluOp(OperatorOp):
    """aten::prelu(Tensor self, Tensor weight) -> Tensor"""

    self: SSAValue
    weight: SSAValue
    result: OpResult
    def __init__(_op, self: Value, weight: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _PreluKernelOp(OperatorOp):
    """aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor"""

    self: SSAValue
    weight: SSAValue
    result: OpResult
    def __init__(_op, self: Value, weight: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardshrinkOp(OperatorOp):
    """aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor"""

    self: SSAValue
    lambd_operand: SSAValue | None
    lambd: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, lambd: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SoftshrinkOp(OperatorOp):
    """aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor"""

    self: SSAValue
    lambd_operand: SSAValue | None
    lambd: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, lambd: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GluOp(OperatorOp):
    """aten::glu(Tensor self, int dim=-1) -> Tensor"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RreluWithNoiseFunctionalOp(OperatorOp):
    """aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)"""

    self: SSAValue
    noise: SSAValue
    lower_operand: SSAValue | None
    lower: Attribute | None
    upper_operand: SSAValue | None
    upper: Attribute | None
    training: Attribute
    result_0: OpResult
    noise_out: OpResult
    def __init__(_op, self: Value, noise: Value, lower: complex | Value = ..., upper: complex | Value = ..., training: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RreluOp(OperatorOp):
    """aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor"""

    self: SSAValue
    lower_operand: SSAValue | None
    lower: Attribute | None
    upper_operand: SSAValue | None
    upper: Attribute | None
    training: Attribute
    result: OpResult
    def __init__(_op, self: Value, lower: complex | Value = ..., upper: complex | Value = ..., training: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ThresholdBackwardOp(OperatorOp):
    """aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    threshold_operand: SSAValue | None
    threshold: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, threshold: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GeluBackwardOp(OperatorOp):
    """aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    approximate: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, *, approximate: str = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EluBackwardOp(OperatorOp):
    """aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) -> Tensor"""

    grad_output: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    scale_operand: SSAValue | None
    scale: Attribute | None
    input_scale_operand: SSAValue | None
    input_scale: Attribute | None
    is_result: Attribute
    self_or_result: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, alpha: complex | Value, scale: complex | Value, input_scale: complex | Value, is_result: bool, self_or_result: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LeakyReluBackwardOp(OperatorOp):
    """aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    negative_slope_operand: SSAValue | None
    negative_slope: Attribute | None
    self_is_result: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, negative_slope: complex | Value, self_is_result: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardtanhBackwardOp(OperatorOp):
    """aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    min_val_operand: SSAValue | None
    min_val: Attribute | None
    max_val_operand: SSAValue | None
    max_val: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, min_val: complex | Value, max_val: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardsigmoidBackwardOp(OperatorOp):
    """aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardswishBackwardOp(OperatorOp):
    """aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HardshrinkBackwardOp(OperatorOp):
    """aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor"""

    grad_out: SSAValue
    self: SSAValue
    lambd_operand: SSAValue | None
    lambd: Attribute | None
    result: OpResult
    def __init__(_op, grad_out: Value, self: Value, lambd: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SoftshrinkBackwardOp(OperatorOp):
    """aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    lambd_operand: SSAValue | None
    lambd: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, lambd: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SoftplusBackwardOp(OperatorOp):
    """aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    beta_operand: SSAValue | None
    beta: Attribute | None
    threshold_operand: SSAValue | None
    threshold: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, beta: complex | Value, threshold: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogSigmoidBackwardOp(OperatorOp):
    """aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    buffer: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, buffer: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SiluBackwardOp(OperatorOp):
    """aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MishBackwardOp(OperatorOp):
    """aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GluBackwardOp(OperatorOp):
    """aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _PreluKernelBackwardOp(OperatorOp):
    """aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)"""

    grad_output: SSAValue
    self: SSAValue
    weight: SSAValue
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, grad_output: Value, self: Value, weight: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RreluWithNoiseBackwardOp(OperatorOp):
    """aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    noise: SSAValue
    lower_operand: SSAValue | None
    lower: Attribute | None
    upper_operand: SSAValue | None
    upper: Attribute | None
    training: Attribute
    self_is_result: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, noise: Value, lower: complex | Value, upper: complex | Value, training: bool, self_is_result: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ErfinvOp(OperatorOp):
    """aten::erfinv(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialExpitOp(OperatorOp):
    """aten::special_expit(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialExp2Op(OperatorOp):
    """aten::special_exp2(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialExpm1Op(OperatorOp):
    """aten::special_expm1(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialErfOp(OperatorOp):
    """aten::special_erf(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialErfcOp(OperatorOp):
    """aten::special_erfc(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialErfinvOp(OperatorOp):
    """aten::special_erfinv(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLog1pOp(OperatorOp):
    """aten::special_log1p(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLogitOp(OperatorOp):
    """aten::special_logit(Tensor self, float? eps=None) -> Tensor"""

    self: SSAValue
    eps: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, eps: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialXlogyOp(OperatorOp):
    """aten::special_xlogy(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialSincOp(OperatorOp):
    """aten::special_sinc(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialRoundOp(OperatorOp):
    """aten::special_round(Tensor self, *, int decimals=0) -> Tensor"""

    self: SSAValue
    decimals: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, decimals: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialXlog1pyOp(OperatorOp):
    """aten::special_xlog1py(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialEntrOp(OperatorOp):
    """aten::special_entr(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialNdtrOp(OperatorOp):
    """aten::special_ndtr(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLogNdtrOp(OperatorOp):
    """aten::special_log_ndtr(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialXlogyOtherScalarOp(OperatorOp):
    """aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialXlogySelfScalarOp(OperatorOp):
    """aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialXlog1pyOtherScalarOp(OperatorOp):
    """aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialXlog1pySelfScalarOp(OperatorOp):
    """aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LgammaOp(OperatorOp):
    """aten::lgamma(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DigammaOp(OperatorOp):
    """aten::digamma(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PolygammaOp(OperatorOp):
    """aten::polygamma(int n, Tensor self) -> Tensor"""

    n: Attribute
    self: SSAValue
    result: OpResult
    def __init__(_op, n: int, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MvlgammaOp(OperatorOp):
    """aten::mvlgamma(Tensor self, int p) -> Tensor"""

    self: SSAValue
    p: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class I0Op(OperatorOp):
    """aten::i0(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialI0eOp(OperatorOp):
    """aten::special_i0e(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialI1Op(OperatorOp):
    """aten::special_i1(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialI1eOp(OperatorOp):
    """aten::special_i1e(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialBesselJ0Op(OperatorOp):
    """aten::special_bessel_j0(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialBesselJ1Op(OperatorOp):
    """aten::special_bessel_j1(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialBesselY0Op(OperatorOp):
    """aten::special_bessel_y0(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialBesselY1Op(OperatorOp):
    """aten::special_bessel_y1(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialModifiedBesselI0Op(OperatorOp):
    """aten::special_modified_bessel_i0(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialModifiedBesselI1Op(OperatorOp):
    """aten::special_modified_bessel_i1(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialModifiedBesselK0Op(OperatorOp):
    """aten::special_modified_bessel_k0(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialModifiedBesselK1Op(OperatorOp):
    """aten::special_modified_bessel_k1(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialScaledModifiedBesselK0Op(OperatorOp):
    """aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor"""

    x: SSAValue
    result: OpResult
    def __init__(_op, x: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialScaledModifiedBesselK1Op(OperatorOp):
    """aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor"""

    x: SSAValue
    result: OpResult
    def __init__(_op, x: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialSphericalBesselJ0Op(OperatorOp):
    """aten::special_spherical_bessel_j0(Tensor x) -> Tensor"""

    x: SSAValue
    result: OpResult
    def __init__(_op, x: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialAiryAiOp(OperatorOp):
    """aten::special_airy_ai(Tensor x) -> Tensor"""

    x: SSAValue
    result: OpResult
    def __init__(_op, x: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialErfcxOp(OperatorOp):
    """aten::special_erfcx(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialNdtriOp(OperatorOp):
    """aten::special_ndtri(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialZetaOp(OperatorOp):
    """aten::special_zeta(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IgammaOp(OperatorOp):
    """aten::igamma(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IgammacOp(OperatorOp):
    """aten::igammac(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialTOp(OperatorOp):
    """aten::special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialUOp(OperatorOp):
    """aten::special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialVOp(OperatorOp):
    """aten::special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialWOp(OperatorOp):
    """aten::special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialTOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialUOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialVOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialWOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialHermitePolynomialHOp(OperatorOp):
    """aten::special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialHermitePolynomialHeOp(OperatorOp):
    """aten::special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLaguerrePolynomialLOp(OperatorOp):
    """aten::special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLegendrePolynomialPOp(OperatorOp):
    """aten::special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor"""

    x: SSAValue
    n: SSAValue
    result: OpResult
    def __init__(_op, x: Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialI0Op(OperatorOp):
    """aten::special_i0(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialGammalnOp(OperatorOp):
    """aten::special_gammaln(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialDigammaOp(OperatorOp):
    """aten::special_digamma(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialPsiOp(OperatorOp):
    """aten::special_psi(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialGammaincOp(OperatorOp):
    """aten::special_gammainc(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialGammainccOp(OperatorOp):
    """aten::special_gammaincc(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialPolygammaOp(OperatorOp):
    """aten::special_polygamma(int n, Tensor self) -> Tensor"""

    n: Attribute
    self: SSAValue
    result: OpResult
    def __init__(_op, n: int, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialMultigammalnOp(OperatorOp):
    """aten::special_multigammaln(Tensor self, int p) -> Tensor"""

    self: SSAValue
    p: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialTXScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialTNScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialUXScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialUNScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialVXScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialVNScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialWXScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialChebyshevPolynomialWNScalarOp(OperatorOp):
    """aten::special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialTXScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialTNScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialUXScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialUNScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialVXScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialVNScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialWXScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialShiftedChebyshevPolynomialWNScalarOp(OperatorOp):
    """aten::special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialHermitePolynomialHXScalarOp(OperatorOp):
    """aten::special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialHermitePolynomialHNScalarOp(OperatorOp):
    """aten::special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialHermitePolynomialHeXScalarOp(OperatorOp):
    """aten::special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialHermitePolynomialHeNScalarOp(OperatorOp):
    """aten::special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLaguerrePolynomialLXScalarOp(OperatorOp):
    """aten::special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLaguerrePolynomialLNScalarOp(OperatorOp):
    """aten::special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLegendrePolynomialPXScalarOp(OperatorOp):
    """aten::special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor"""

    x_operand: SSAValue | None
    x: Attribute | None
    n: SSAValue
    result: OpResult
    def __init__(_op, x: complex | Value, n: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLegendrePolynomialPNScalarOp(OperatorOp):
    """aten::special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor"""

    x: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, n: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialZetaSelfScalarOp(OperatorOp):
    """aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    other: SSAValue
    result: OpResult
    def __init__(_op, self: complex | Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialZetaOtherScalarOp(OperatorOp):
    """aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor"""

    self: SSAValue
    other_operand: SSAValue | None
    other: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SumDimIntListOp(OperatorOp):
    """aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None, keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SumOp(OperatorOp):
    """aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MeanDimOp(OperatorOp):
    """aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None, keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MeanOp(OperatorOp):
    """aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ProdOp(OperatorOp):
    """aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ProdDimIntOp(OperatorOp):
    """aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AmaxOp(OperatorOp):
    """aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AminOp(OperatorOp):
    """aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AminmaxOp(OperatorOp):
    """aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    min: OpResult
    max: OpResult
    def __init__(_op, self: Value, *, dim: int | None = ..., keepdim: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxOp(OperatorOp):
    """aten::max(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MinOp(OperatorOp):
    """aten::min(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxDimOp(OperatorOp):
    """aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MinDimOp(OperatorOp):
    """aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxOtherOp(OperatorOp):
    """aten::max.other(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MinOtherOp(OperatorOp):
    """aten::min.other(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArgmaxOp(OperatorOp):
    """aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int | None = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArgminOp(OperatorOp):
    """aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int | None = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AnyOp(OperatorOp):
    """aten::any(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AnyDimOp(OperatorOp):
    """aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AnyDimsOp(OperatorOp):
    """aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | None = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AllOp(OperatorOp):
    """aten::all(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AllDimOp(OperatorOp):
    """aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AllDimsOp(OperatorOp):
    """aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | None = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VarCorrectionOp(OperatorOp):
    """aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    correction_operand: SSAValue | None
    correction: Attribute | None
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., *, correction: complex | Value | None = ..., keepdim: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VarDimOp(OperatorOp):
    """aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    unbiased: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None, unbiased: bool = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VarOp(OperatorOp):
    """aten::var(Tensor self, bool unbiased=True) -> Tensor"""

    self: SSAValue
    unbiased: Attribute
    result: OpResult
    def __init__(_op, self: Value, unbiased: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StdCorrectionOp(OperatorOp):
    """aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    correction_operand: SSAValue | None
    correction: Attribute | None
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., *, correction: complex | Value | None = ..., keepdim: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StdDimOp(OperatorOp):
    """aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    unbiased: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None, unbiased: bool = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StdOp(OperatorOp):
    """aten::std(Tensor self, bool unbiased=True) -> Tensor"""

    self: SSAValue
    unbiased: Attribute
    result: OpResult
    def __init__(_op, self: Value, unbiased: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VarMeanCorrectionOp(OperatorOp):
    """aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"""

    self: SSAValue
    dim: Attribute | None
    correction_operand: SSAValue | None
    correction: Attribute | None
    keepdim: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., *, correction: complex | Value | None = ..., keepdim: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CumsumOp(OperatorOp):
    """aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CumprodOp(OperatorOp):
    """aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogsumexpOp(OperatorOp):
    """aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormScalarOp(OperatorOp):
    """aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor"""

    self: SSAValue
    p_operand: SSAValue | None
    p: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, p: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormScalarOptDimOp(OperatorOp):
    """aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor"""

    self: SSAValue
    p_operand: SSAValue | None
    p: Attribute | None
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: complex | Value | None, dim: Sequence[int] | int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgVectorNormOp(OperatorOp):
    """aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    ord_operand: SSAValue | None
    ord: Attribute | None
    dim: Attribute | None
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, ord: complex | Value = ..., dim: Sequence[int] | int | None = ..., keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CountNonzeroDimIntListOp(OperatorOp):
    """aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CountNonzeroOp(OperatorOp):
    """aten::count_nonzero(Tensor self, int? dim=None) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CummaxOp(OperatorOp):
    """aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CumminOp(OperatorOp):
    """aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MedianOp(OperatorOp):
    """aten::median(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MedianDimOp(OperatorOp):
    """aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLogsumexpOp(OperatorOp):
    """aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NansumOp(OperatorOp):
    """aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NanmeanOp(OperatorOp):
    """aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StdMeanOp(OperatorOp):
    """aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)"""

    self: SSAValue
    unbiased: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, unbiased: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StdMeanDimOp(OperatorOp):
    """aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)"""

    self: SSAValue
    dim: Attribute | None
    unbiased: Attribute
    keepdim: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None, unbiased: bool = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StdMeanCorrectionOp(OperatorOp):
    """aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"""

    self: SSAValue
    dim: Attribute | None
    correction_operand: SSAValue | None
    correction: Attribute | None
    keepdim: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., *, correction: complex | Value | None = ..., keepdim: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VarMeanOp(OperatorOp):
    """aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)"""

    self: SSAValue
    unbiased: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, unbiased: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VarMeanDimOp(OperatorOp):
    """aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)"""

    self: SSAValue
    dim: Attribute | None
    unbiased: Attribute
    keepdim: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None, unbiased: bool = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NanmedianOp(OperatorOp):
    """aten::nanmedian(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NanmedianDimOp(OperatorOp):
    """aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogcumsumexpOp(OperatorOp):
    """aten::logcumsumexp(Tensor self, int dim) -> Tensor"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class QuantileOp(OperatorOp):
    """aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"""

    self: SSAValue
    q: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    interpolation: Attribute
    result: OpResult
    def __init__(_op, self: Value, q: Value, dim: int | None = ..., keepdim: bool = ..., *, interpolation: str = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class QuantileScalarOp(OperatorOp):
    """aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"""

    self: SSAValue
    q: Attribute
    dim: Attribute | None
    keepdim: Attribute
    interpolation: Attribute
    result: OpResult
    def __init__(_op, self: Value, q: float, dim: int | None = ..., keepdim: bool = ..., *, interpolation: str = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NanquantileOp(OperatorOp):
    """aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"""

    self: SSAValue
    q: SSAValue
    dim: Attribute | None
    keepdim: Attribute
    interpolation: Attribute
    result: OpResult
    def __init__(_op, self: Value, q: Value, dim: int | None = ..., keepdim: bool = ..., *, interpolation: str = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NanquantileScalarOp(OperatorOp):
    """aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"""

    self: SSAValue
    q: Attribute
    dim: Attribute | None
    keepdim: Attribute
    interpolation: Attribute
    result: OpResult
    def __init__(_op, self: Value, q: float, dim: int | None = ..., keepdim: bool = ..., *, interpolation: str = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TraceOp(OperatorOp):
    """aten::trace(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DistOp(OperatorOp):
    """aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor"""

    self: SSAValue
    other: SSAValue
    p_operand: SSAValue | None
    p: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, p: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RenormOp(OperatorOp):
    """aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor"""

    self: SSAValue
    p_operand: SSAValue | None
    p: Attribute | None
    dim: Attribute
    maxnorm_operand: SSAValue | None
    maxnorm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, p: complex | Value, dim: int, maxnorm: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SumToSizeOp(OperatorOp):
    """aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HashTensorOp(OperatorOp):
    """aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    mode: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int = ..., *, keepdim: bool = ..., mode: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ModeOp(OperatorOp):
    """aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HistcOp(OperatorOp):
    """aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor"""

    self: SSAValue
    bins: Attribute
    min_operand: SSAValue | None
    min: Attribute | None
    max_operand: SSAValue | None
    max: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, bins: int = ..., min: complex | Value = ..., max: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BincountOp(OperatorOp):
    """aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor"""

    self: SSAValue
    weights: SSAValue | None
    minlength_operand: SSAValue | None
    minlength: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, weights: Value | None = ..., minlength: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HistogramBinCtOp(OperatorOp):
    """aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"""

    self: SSAValue
    bins: Attribute
    range: Attribute | None
    weight: SSAValue | None
    density: Attribute
    hist: OpResult
    bin_edges: OpResult
    def __init__(_op, self: Value, bins: int = ..., *, range: Sequence[float] | None = ..., weight: Value | None = ..., density: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HistogramBinsTensorOp(OperatorOp):
    """aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"""

    self: SSAValue
    bins: SSAValue
    weight: SSAValue | None
    density: Attribute
    hist: OpResult
    bin_edges: OpResult
    def __init__(_op, self: Value, bins: Value, *, weight: Value | None = ..., density: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _HistogramddBinEdgesOp(OperatorOp):
    """aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor[]"""

    self: SSAValue
    bins: Attribute
    range: Attribute | None
    weight: SSAValue | None
    density: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, bins: Sequence[int], *, range: Sequence[float] | None = ..., weight: Value | None = ..., density: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _HistogramddFromBinCtsOp(OperatorOp):
    """aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor"""

    self: SSAValue
    bins: Attribute
    range: Attribute | None
    weight: SSAValue | None
    density: Attribute
    result: OpResult
    def __init__(_op, self: Value, bins: Sequence[int], *, range: Sequence[float] | None = ..., weight: Value | None = ..., density: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _HistogramddFromBinTensorsOp(OperatorOp):
    """aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor"""

    self: SSAValue
    bins: Sequence[SSAValue]
    weight: SSAValue | None
    density: Attribute
    result: OpResult
    def __init__(_op, self: Value, bins: Sequence[Value], *, weight: Value | None = ..., density: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SegmentReduceOp(OperatorOp):
    """aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor"""

    data: SSAValue
    reduce: Attribute
    lengths: SSAValue | None
    indices: SSAValue | None
    offsets: SSAValue | None
    axis: Attribute
    unsafe: Attribute
    initial_operand: SSAValue | None
    initial: Attribute | None
    result: OpResult
    def __init__(_op, data: Value, reduce: str, *, lengths: Value | None = ..., indices: Value | None = ..., offsets: Value | None = ..., axis: int = ..., unsafe: bool = ..., initial: complex | Value | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrapezoidXOp(OperatorOp):
    """aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"""

    y: SSAValue
    x: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, y: Value, x: Value, *, dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrapezoidDxOp(OperatorOp):
    """aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor"""

    y: SSAValue
    dx_operand: SSAValue | None
    dx: Attribute | None
    dim: Attribute
    result: OpResult
    def __init__(_op, y: Value, *, dx: complex | Value = ..., dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrapzXOp(OperatorOp):
    """aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"""

    y: SSAValue
    x: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, y: Value, x: Value, *, dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrapzDxOp(OperatorOp):
    """aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor"""

    y: SSAValue
    dx: Attribute
    dim: Attribute
    result: OpResult
    def __init__(_op, y: Value, *, dx: float = ..., dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CumulativeTrapezoidXOp(OperatorOp):
    """aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"""

    y: SSAValue
    x: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, y: Value, x: Value, *, dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CumulativeTrapezoidDxOp(OperatorOp):
    """aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor"""

    y: SSAValue
    dx_operand: SSAValue | None
    dx: Attribute | None
    dim: Attribute
    result: OpResult
    def __init__(_op, y: Value, *, dx: complex | Value = ..., dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GradientScalarintOp(OperatorOp):
    """aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]"""

    self: SSAValue
    spacing_operand: SSAValue | None
    spacing: Attribute | None
    dim: Attribute | None
    edge_order: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, spacing: complex | Value | None = ..., dim: int | None = ..., edge_order: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GradientScalararrayOp(OperatorOp):
    """aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]"""

    self: SSAValue
    spacing_operand: SSAValue | None
    spacing: Attribute | None
    dim: Attribute
    edge_order: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, spacing: complex | Value, dim: Sequence[int], edge_order: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GradientArrayOp(OperatorOp):
    """aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]"""

    self: SSAValue
    dim: Attribute
    edge_order: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, dim: Sequence[int], edge_order: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GradientScalarrayintOp(OperatorOp):
    """aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]"""

    self: SSAValue
    spacing_operand: Sequence[SSAValue]
    spacing: Attribute | None
    dim: Attribute | None
    edge_order: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, spacing: Sequence[complex | Value], dim: int | None = ..., edge_order: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GradientScalarrayarrayOp(OperatorOp):
    """aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]"""

    self: SSAValue
    spacing_operand: Sequence[SSAValue]
    spacing: Attribute | None
    dim: Attribute
    edge_order: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, spacing: Sequence[complex | Value], dim: Sequence[int], edge_order: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GradientTensorarrayintOp(OperatorOp):
    """aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]"""

    self: SSAValue
    spacing: Sequence[SSAValue]
    dim: Attribute | None
    edge_order: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, spacing: Sequence[Value], dim: int | None = ..., edge_order: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GradientTensorarrayOp(OperatorOp):
    """aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]"""

    self: SSAValue
    spacing: Sequence[SSAValue]
    dim: Attribute
    edge_order: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, spacing: Sequence[Value], dim: Sequence[int], edge_order: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MmOp(OperatorOp):
    """aten::mm(Tensor self, Tensor mat2) -> Tensor"""

    self: SSAValue
    mat2: SSAValue
    result: OpResult
    def __init__(_op, self: Value, mat2: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BmmOp(OperatorOp):
    """aten::bmm(Tensor self, Tensor mat2) -> Tensor"""

    self: SSAValue
    mat2: SSAValue
    result: OpResult
    def __init__(_op, self: Value, mat2: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AddmmOp(OperatorOp):
    """aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    mat1: SSAValue
    mat2: SSAValue
    beta_operand: SSAValue | None
    beta: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, mat1: Value, mat2: Value, *, beta: complex | Value = ..., alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BaddbmmOp(OperatorOp):
    """aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    batch1: SSAValue
    batch2: SSAValue
    beta_operand: SSAValue | None
    beta: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, batch1: Value, batch2: Value, *, beta: complex | Value = ..., alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MatmulOp(OperatorOp):
    """aten::matmul(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinearOp(OperatorOp):
    """aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DotOp(OperatorOp):
    """aten::dot(Tensor self, Tensor tensor) -> Tensor"""

    self: SSAValue
    tensor: SSAValue
    result: OpResult
    def __init__(_op, self: Value, tensor: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MvOp(OperatorOp):
    """aten::mv(Tensor self, Tensor vec) -> Tensor"""

    self: SSAValue
    vec: SSAValue
    result: OpResult
    def __init__(_op, self: Value, vec: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AddmvOp(OperatorOp):
    """aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    mat: SSAValue
    vec: SSAValue
    beta_operand: SSAValue | None
    beta: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, mat: Value, vec: Value, *, beta: complex | Value = ..., alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EinsumOp(OperatorOp):
    """aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor"""

    equation: Attribute
    tensors: Sequence[SSAValue]
    path: Attribute | None
    result: OpResult
    def __init__(_op, equation: str, tensors: Sequence[Value], *, path: Sequence[int] | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class OuterOp(OperatorOp):
    """aten::outer(Tensor self, Tensor vec2) -> Tensor"""

    self: SSAValue
    vec2: SSAValue
    result: OpResult
    def __init__(_op, self: Value, vec2: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AddbmmOp(OperatorOp):
    """aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    batch1: SSAValue
    batch2: SSAValue
    beta_operand: SSAValue | None
    beta: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, batch1: Value, batch2: Value, *, beta: complex | Value = ..., alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatmulOp(OperatorOp):
    """aten::linalg_matmul(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VdotOp(OperatorOp):
    """aten::vdot(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ChainMatmulOp(OperatorOp):
    """aten::chain_matmul(Tensor[] matrices) -> Tensor"""

    matrices: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, matrices: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TensordotOp(OperatorOp):
    """aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    dims_self: Attribute
    dims_other: Attribute
    result: OpResult
    def __init__(_op, self: Value, other: Value, dims_self: Sequence[int], dims_other: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class InnerOp(OperatorOp):
    """aten::inner(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AddrOp(OperatorOp):
    """aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    vec1: SSAValue
    vec2: SSAValue
    beta_operand: SSAValue | None
    beta: Attribute | None
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, vec1: Value, vec2: Value, *, beta: complex | Value = ..., alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GerOp(OperatorOp):
    """aten::ger(Tensor self, Tensor vec2) -> Tensor"""

    self: SSAValue
    vec2: SSAValue
    result: OpResult
    def __init__(_op, self: Value, vec2: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class KronOp(OperatorOp):
    """aten::kron(Tensor self, Tensor other) -> Tensor"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CrossOp(OperatorOp):
    """aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor"""

    self: SSAValue
    other: SSAValue
    dim: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, dim: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _TrilinearOp(OperatorOp):
    """aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor"""

    i1: SSAValue
    i2: SSAValue
    i3: SSAValue
    expand1: Attribute
    expand2: Attribute
    expand3: Attribute
    sumdim: Attribute
    unroll_dim: Attribute
    result: OpResult
    def __init__(_op, i1: Value, i2: Value, i3: Value, expand1: Sequence[int], expand2: Sequence[int], expand3: Sequence[int], sumdim: Sequence[int], unroll_dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BilinearOp(OperatorOp):
    """aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor"""

    input1: SSAValue
    input2: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    result: OpResult
    def __init__(_op, input1: Value, input2: Value, weight: Value, bias: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _GroupedMmOp(OperatorOp):
    """aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor"""

    self: SSAValue
    mat2: SSAValue
    offs: SSAValue | None
    bias: SSAValue | None
    out_dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, mat2: Value, offs: Value | None = ..., bias: Value | None = ..., out_dtype: DType | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgCholeskyExOp(OperatorOp):
    """aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)"""

    self: SSAValue
    upper: Attribute
    check_errors: Attribute
    L: OpResult
    info: OpResult
    def __init__(_op, self: Value, *, upper: bool = ..., check_errors: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgInvExOp(OperatorOp):
    """aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)"""

    A: SSAValue
    check_errors: Attribute
    inverse: OpResult
    info: OpResult
    def __init__(_op, A: Value, *, check_errors: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinalgSolveExOp(OperatorOp):
    """aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)"""

    A: SSAValue
    B: SSAValue
    left: Attribute
    check_errors: Attribute
    result_: OpResult
    LU: OpResult
    pivots: OpResult
    info: OpResult
    def __init__(_op, A: Value, B: Value, *, left: bool = ..., check_errors: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgLuOp(OperatorOp):
    """aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)"""

    A: SSAValue
    pivot: Attribute
    P: OpResult
    L: OpResult
    U: OpResult
    def __init__(_op, A: Value, *, pivot: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgLuFactorExOp(OperatorOp):
    """aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)"""

    A: SSAValue
    pivot: Attribute
    check_errors: Attribute
    LU: OpResult
    pivots: OpResult
    info: OpResult
    def __init__(_op, A: Value, *, pivot: bool = ..., check_errors: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LuUnpackOp(OperatorOp):
    """aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)"""

    LU_data: SSAValue
    LU_pivots: SSAValue
    unpack_data: Attribute
    unpack_pivots: Attribute
    P: OpResult
    L: OpResult
    U: OpResult
    def __init__(_op, LU_data: Value, LU_pivots: Value, unpack_data: bool = ..., unpack_pivots: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgLuSolveOp(OperatorOp):
    """aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor"""

    LU: SSAValue
    pivots: SSAValue
    B: SSAValue
    left: Attribute
    adjoint: Attribute
    result: OpResult
    def __init__(_op, LU: Value, pivots: Value, B: Value, *, left: bool = ..., adjoint: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LuWithInfoOp(OperatorOp):
    """aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)"""

    self: SSAValue
    pivot: Attribute
    check_errors: Attribute
    LU: OpResult
    pivots: OpResult
    info: OpResult
    def __init__(_op, self: Value, pivot: bool = ..., check_errors: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgLdlSolveOp(OperatorOp):
    """aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor"""

    LD: SSAValue
    pivots: SSAValue
    B: SSAValue
    hermitian: Attribute
    result: OpResult
    def __init__(_op, LD: Value, pivots: Value, B: Value, *, hermitian: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgEigOp(OperatorOp):
    """aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)"""

    self: SSAValue
    eigenvalues: OpResult
    eigenvectors: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinalgEigvalsOp(OperatorOp):
    """aten::_linalg_eigvals(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class OrgqrOp(OperatorOp):
    """aten::orgqr(Tensor self, Tensor input2) -> Tensor"""

    self: SSAValue
    input2: SSAValue
    result: OpResult
    def __init__(_op, self: Value, input2: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixRankAtolRtolFloatOp(OperatorOp):
    """aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor"""

    self: SSAValue
    atol: Attribute | None
    rtol: Attribute | None
    hermitian: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, atol: float | None = ..., rtol: float | None = ..., hermitian: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixRankOp(OperatorOp):
    """aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor"""

    self: SSAValue
    tol: Attribute
    hermitian: Attribute
    result: OpResult
    def __init__(_op, self: Value, tol: float, hermitian: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgCondPStrOp(OperatorOp):
    """aten::linalg_cond.p_str(Tensor self, str p) -> Tensor"""

    self: SSAValue
    p: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: str, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FrobeniusNormDimOp(OperatorOp):
    """aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NuclearNormOp(OperatorOp):
    """aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor"""

    self: SSAValue
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NuclearNormDimOp(OperatorOp):
    """aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int, keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgQrOp(OperatorOp):
    """aten::linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)"""

    A: SSAValue
    mode: Attribute
    Q: OpResult
    R: OpResult
    def __init__(_op, A: Value, mode: str = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinalgSvdOp(OperatorOp):
    """aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)"""

    A: SSAValue
    full_matrices: Attribute
    compute_uv: Attribute
    driver: Attribute | None
    U: OpResult
    S: OpResult
    Vh: OpResult
    def __init__(_op, A: Value, full_matrices: bool = ..., compute_uv: bool = ..., *, driver: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinalgEighOp(OperatorOp):
    """aten::_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)"""

    A: SSAValue
    UPLO: Attribute
    compute_v: Attribute
    eigenvalues: OpResult
    eigenvectors: OpResult
    def __init__(_op, A: Value, UPLO: str = ..., compute_v: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinalgDetOp(OperatorOp):
    """aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)"""

    A: SSAValue
    result_: OpResult
    LU: OpResult
    pivots: OpResult
    def __init__(_op, A: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinalgSlogdetOp(OperatorOp):
    """aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)"""

    A: SSAValue
    sign: OpResult
    logabsdet: OpResult
    LU: OpResult
    pivots: OpResult
    def __init__(_op, A: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TriangularSolveOp(OperatorOp):
    """aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)"""

    self: SSAValue
    A: SSAValue
    upper: Attribute
    transpose: Attribute
    unitriangular: Attribute
    solution: OpResult
    cloned_coefficient: OpResult
    def __init__(_op, self: Value, A: Value, upper: bool = ..., transpose: bool = ..., unitriangular: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgSolveTriangularOp(OperatorOp):
    """aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor"""

    self: SSAValue
    B: SSAValue
    upper: Attribute
    left: Attribute
    unitriangular: Attribute
    result: OpResult
    def __init__(_op, self: Value, B: Value, *, upper: bool, left: bool = ..., unitriangular: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CholeskyOp(OperatorOp):
    """aten::cholesky(Tensor self, bool upper=False) -> Tensor"""

    self: SSAValue
    upper: Attribute
    result: OpResult
    def __init__(_op, self: Value, upper: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CholeskySolveOp(OperatorOp):
    """aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor"""

    self: SSAValue
    input2: SSAValue
    upper: Attribute
    result: OpResult
    def __init__(_op, self: Value, input2: Value, upper: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CholeskyInverseOp(OperatorOp):
    """aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor"""

    self: SSAValue
    upper: Attribute
    result: OpResult
    def __init__(_op, self: Value, upper: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgHouseholderProductOp(OperatorOp):
    """aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor"""

    input: SSAValue
    tau: SSAValue
    result: OpResult
    def __init__(_op, input: Value, tau: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class OrmqrOp(OperatorOp):
    """aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor"""

    self: SSAValue
    input2: SSAValue
    input3: SSAValue
    left: Attribute
    transpose: Attribute
    result: OpResult
    def __init__(_op, self: Value, input2: Value, input3: Value, left: bool = ..., transpose: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GeqrfOp(OperatorOp):
    """aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)"""

    self: SSAValue
    a: OpResult
    tau: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgLdlFactorExOp(OperatorOp):
    """aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)"""

    self: SSAValue
    hermitian: Attribute
    check_errors: Attribute
    LD: OpResult
    pivots: OpResult
    info: OpResult
    def __init__(_op, self: Value, *, hermitian: bool = ..., check_errors: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixExpOp(OperatorOp):
    """aten::linalg_matrix_exp(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgPinvAtolRtolTensorOp(OperatorOp):
    """aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor"""

    self: SSAValue
    atol: SSAValue | None
    rtol: SSAValue | None
    hermitian: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, atol: Value | None = ..., rtol: Value | None = ..., hermitian: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgPinvAtolRtolFloatOp(OperatorOp):
    """aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor"""

    self: SSAValue
    atol: Attribute | None
    rtol: Attribute | None
    hermitian: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, atol: float | None = ..., rtol: float | None = ..., hermitian: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgPinvOp(OperatorOp):
    """aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor"""

    self: SSAValue
    rcond: Attribute
    hermitian: Attribute
    result: OpResult
    def __init__(_op, self: Value, rcond: float, hermitian: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinalgCheckErrorsOp(OperatorOp):
    """aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()"""

    info: SSAValue
    api_name: Attribute
    is_matrix: Attribute
    def __init__(_op, info: Value, api_name: str, *, is_matrix: bool, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgCholeskyOp(OperatorOp):
    """aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor"""

    self: SSAValue
    upper: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, upper: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgInvOp(OperatorOp):
    """aten::linalg_inv(Tensor A) -> Tensor"""

    A: SSAValue
    result: OpResult
    def __init__(_op, A: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class InverseOp(OperatorOp):
    """aten::inverse(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgSolveOp(OperatorOp):
    """aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor"""

    A: SSAValue
    B: SSAValue
    left: Attribute
    result: OpResult
    def __init__(_op, A: Value, B: Value, *, left: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgSolveExOp(OperatorOp):
    """aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)"""

    A: SSAValue
    B: SSAValue
    left: Attribute
    check_errors: Attribute
    result_: OpResult
    info: OpResult
    def __init__(_op, A: Value, B: Value, *, left: bool = ..., check_errors: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgLuFactorOp(OperatorOp):
    """aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)"""

    A: SSAValue
    pivot: Attribute
    LU: OpResult
    pivots: OpResult
    def __init__(_op, A: Value, *, pivot: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgLdlFactorOp(OperatorOp):
    """aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)"""

    self: SSAValue
    hermitian: Attribute
    LD: OpResult
    pivots: OpResult
    def __init__(_op, self: Value, *, hermitian: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgSvdOp(OperatorOp):
    """aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)"""

    A: SSAValue
    full_matrices: Attribute
    driver: Attribute | None
    U: OpResult
    S: OpResult
    Vh: OpResult
    def __init__(_op, A: Value, full_matrices: bool = ..., *, driver: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SvdOp(OperatorOp):
    """aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)"""

    self: SSAValue
    some: Attribute
    compute_uv: Attribute
    U: OpResult
    S: OpResult
    V: OpResult
    def __init__(_op, self: Value, some: bool = ..., compute_uv: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgSvdvalsOp(OperatorOp):
    """aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor"""

    A: SSAValue
    driver: Attribute | None
    result: OpResult
    def __init__(_op, A: Value, *, driver: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgEighOp(OperatorOp):
    """aten::linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)"""

    self: SSAValue
    UPLO: Attribute
    eigenvalues: OpResult
    eigenvectors: OpResult
    def __init__(_op, self: Value, UPLO: str = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgEigvalshOp(OperatorOp):
    """aten::linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor"""

    self: SSAValue
    UPLO: Attribute
    result: OpResult
    def __init__(_op, self: Value, UPLO: str = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgEigvalsOp(OperatorOp):
    """aten::linalg_eigvals(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgDetOp(OperatorOp):
    """aten::linalg_det(Tensor A) -> Tensor"""

    A: SSAValue
    result: OpResult
    def __init__(_op, A: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DetOp(OperatorOp):
    """aten::det(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgSlogdetOp(OperatorOp):
    """aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)"""

    A: SSAValue
    sign: OpResult
    logabsdet: OpResult
    def __init__(_op, A: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SlogdetOp(OperatorOp):
    """aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)"""

    self: SSAValue
    sign: OpResult
    logabsdet: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogdetOp(OperatorOp):
    """aten::logdet(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MatrixExpOp(OperatorOp):
    """aten::matrix_exp(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PinverseOp(OperatorOp):
    """aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor"""

    self: SSAValue
    rcond: Attribute
    result: OpResult
    def __init__(_op, self: Value, rcond: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class QrOp(OperatorOp):
    """aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)"""

    self: SSAValue
    some: Attribute
    Q: OpResult
    R: OpResult
    def __init__(_op, self: Value, some: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LuSolveOp(OperatorOp):
    """aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor"""

    self: SSAValue
    LU_data: SSAValue
    LU_pivots: SSAValue
    result: OpResult
    def __init__(_op, self: Value, LU_data: Value, LU_pivots: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgCondOp(OperatorOp):
    """aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor"""

    self: SSAValue
    p_operand: SSAValue | None
    p: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, p: complex | Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixRankAtolRtolTensorOp(OperatorOp):
    """aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor"""

    input: SSAValue
    atol: SSAValue | None
    rtol: SSAValue | None
    hermitian: Attribute
    result: OpResult
    def __init__(_op, input: Value, *, atol: Value | None = ..., rtol: Value | None = ..., hermitian: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixNormOp(OperatorOp):
    """aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    ord_operand: SSAValue | None
    ord: Attribute | None
    dim: Attribute
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, ord: complex | Value, dim: Sequence[int] = ..., keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixNormStrOrdOp(OperatorOp):
    """aten::linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    ord: Attribute
    dim: Attribute
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, ord: str = ..., dim: Sequence[int] = ..., keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgNormOp(OperatorOp):
    """aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    ord_operand: SSAValue | None
    ord: Attribute | None
    dim: Attribute | None
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, ord: complex | Value | None = ..., dim: Sequence[int] | int | None = ..., keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgNormOrdStrOp(OperatorOp):
    """aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    ord: Attribute
    dim: Attribute | None
    keepdim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, ord: str, dim: Sequence[int] | int | None = ..., keepdim: bool = ..., *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixPowerOp(OperatorOp):
    """aten::linalg_matrix_power(Tensor self, int n) -> Tensor"""

    self: SSAValue
    n: Attribute
    result: OpResult
    def __init__(_op, self: Value, n: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MatrixPowerOp(OperatorOp):
    """aten::matrix_power(Tensor self, int n) -> Tensor"""

    self: SSAValue
    n: Attribute
    result: OpResult
    def __init__(_op, self: Value, n: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMultiDotOp(OperatorOp):
    """aten::linalg_multi_dot(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgVecdotOp(OperatorOp):
    """aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor"""

    x: SSAValue
    y: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, x: Value, y: Value, *, dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgCrossOp(OperatorOp):
    """aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor"""

    self: SSAValue
    other: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, dim: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgDiagonalOp(OperatorOp):
    """aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)"""

    A: SSAValue
    offset: Attribute
    dim1: Attribute
    dim2: Attribute
    result: OpResult
    def __init__(_op, A: Value, *, offset: int = ..., dim1: int = ..., dim2: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgVanderOp(OperatorOp):
    """aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor"""

    x: SSAValue
    N_operand: SSAValue | None
    N: Attribute | None
    result: OpResult
    def __init__(_op, x: Value, *, N: int | Value | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgTensorinvOp(OperatorOp):
    """aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor"""

    self: SSAValue
    ind: Attribute
    result: OpResult
    def __init__(_op, self: Value, ind: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgTensorsolveOp(OperatorOp):
    """aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor"""

    self: SSAValue
    other: SSAValue
    dims: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, other: Value, dims: Sequence[int] | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _CdistForwardOp(OperatorOp):
    """aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor"""

    x1: SSAValue
    x2: SSAValue
    p: Attribute
    compute_mode: Attribute | None
    result: OpResult
    def __init__(_op, x1: Value, x2: Value, p: float, compute_mode: int | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CdistOp(OperatorOp):
    """aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor"""

    x1: SSAValue
    x2: SSAValue
    p: Attribute
    compute_mode: Attribute | None
    result: OpResult
    def __init__(_op, x1: Value, x2: Value, p: float = ..., compute_mode: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _PdistForwardOp(OperatorOp):
    """aten::_pdist_forward(Tensor self, float p=2.) -> Tensor"""

    self: SSAValue
    p: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PdistOp(OperatorOp):
    """aten::pdist(Tensor self, float p=2.) -> Tensor"""

    self: SSAValue
    p: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgMatrixRankTolTensorOp(OperatorOp):
    """aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor"""

    input: SSAValue
    tol: SSAValue
    hermitian: Attribute
    result: OpResult
    def __init__(_op, input: Value, tol: Value, hermitian: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinalgPinvRcondTensorOp(OperatorOp):
    """aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor"""

    self: SSAValue
    rcond: SSAValue
    hermitian: Attribute
    result: OpResult
    def __init__(_op, self: Value, rcond: Value, hermitian: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VanderOp(OperatorOp):
    """aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor"""

    x: SSAValue
    N: Attribute | None
    increasing: Attribute
    result: OpResult
    def __init__(_op, x: Value, N: int | None = ..., increasing: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _FftR2cOp(OperatorOp):
    """aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor"""

    self: SSAValue
    dim: Attribute
    normalization: Attribute
    onesided: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int], normalization: int, onesided: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _FftC2rOp(OperatorOp):
    """aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor"""

    self: SSAValue
    dim: Attribute
    normalization: Attribute
    last_dim_size_operand: SSAValue | None
    last_dim_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int], normalization: int, last_dim_size: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _FftC2cOp(OperatorOp):
    """aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor"""

    self: SSAValue
    dim_operand: Sequence[SSAValue]
    dim: Attribute | None
    normalization: Attribute
    forward: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int | Value], normalization: int, forward: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftFftOp(OperatorOp):
    """aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"""

    self: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, n: int | Value | None = ..., dim: int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftFft2Op(OperatorOp):
    """aten::fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftFftnOp(OperatorOp):
    """aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute | None
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int | None = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIfftOp(OperatorOp):
    """aten::fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"""

    self: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, n: int | Value | None = ..., dim: int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIfft2Op(OperatorOp):
    """aten::fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIfftnOp(OperatorOp):
    """aten::fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute | None
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int | None = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftRfftOp(OperatorOp):
    """aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"""

    self: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, n: int | Value | None = ..., dim: int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftRfft2Op(OperatorOp):
    """aten::fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftRfftnOp(OperatorOp):
    """aten::fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute | None
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int | None = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIrfftOp(OperatorOp):
    """aten::fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"""

    self: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, n: int | Value | None = ..., dim: int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIrfft2Op(OperatorOp):
    """aten::fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIrfftnOp(OperatorOp):
    """aten::fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute | None
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int | None = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftHfftOp(OperatorOp):
    """aten::fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"""

    self: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, n: int | Value | None = ..., dim: int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftHfft2Op(OperatorOp):
    """aten::fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftHfftnOp(OperatorOp):
    """aten::fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute | None
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int | None = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIhfftOp(OperatorOp):
    """aten::fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor"""

    self: SSAValue
    n_operand: SSAValue | None
    n: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, n: int | Value | None = ..., dim: int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIhfft2Op(OperatorOp):
    """aten::fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIhfftnOp(OperatorOp):
    """aten::fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor"""

    self: SSAValue
    s_operand: Sequence[SSAValue]
    s: Attribute | None
    dim: Attribute | None
    norm: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, s: Sequence[int | Value] | int | Value | None = ..., dim: Sequence[int] | int | None = ..., norm: str | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftFftshiftOp(OperatorOp):
    """aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftIfftshiftOp(OperatorOp):
    """aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor"""

    self: SSAValue
    dim: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int] | int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftFftfreqOp(OperatorOp):
    """aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    n: Attribute
    d: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, n: int, d: float = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FftRfftfreqOp(OperatorOp):
    """aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    n: Attribute
    d: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, n: int, d: float = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StftOp(OperatorOp):
    """aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor"""

    self: SSAValue
    n_fft: Attribute
    hop_length: Attribute | None
    win_length: Attribute | None
    window: SSAValue | None
    normalized: Attribute
    onesided: Attribute | None
    return_complex: Attribute | None
    align_to_window: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, n_fft: int, hop_length: int | None = ..., win_length: int | None = ..., window: Value | None = ..., normalized: bool = ..., onesided: bool | None = ..., return_complex: bool | None = ..., align_to_window: bool | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IstftOp(OperatorOp):
    """aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor"""

    self: SSAValue
    n_fft: Attribute
    hop_length: Attribute | None
    win_length: Attribute | None
    window: SSAValue | None
    center: Attribute
    normalized: Attribute
    onesided: Attribute | None
    length: Attribute | None
    return_complex: Attribute
    result: OpResult
    def __init__(_op, self: Value, n_fft: int, hop_length: int | None = ..., win_length: int | None = ..., window: Value | None = ..., center: bool = ..., normalized: bool = ..., onesided: bool | None = ..., length: int | None = ..., return_complex: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConvolutionOp(OperatorOp):
    """aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    transposed: Attribute
    output_padding_operand: Sequence[SSAValue]
    output_padding: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None, stride: Sequence[int | Value], padding: Sequence[int | Value], dilation: Sequence[int | Value], transposed: bool, output_padding: Sequence[int | Value], groups: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Conv1dOp(OperatorOp):
    """aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: Sequence[int | Value] | int | Value = ..., dilation: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Conv2dOp(OperatorOp):
    """aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: Sequence[int | Value] | int | Value = ..., dilation: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Conv3dOp(OperatorOp):
    """aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: Sequence[int | Value] | int | Value = ..., dilation: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Conv1dPaddingOp(OperatorOp):
    """aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding="valid", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding: Attribute
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: str = ..., dilation: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Conv2dPaddingOp(OperatorOp):
    """aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding="valid", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding: Attribute
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: str = ..., dilation: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Conv3dPaddingOp(OperatorOp):
    """aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding="valid", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding: Attribute
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: str = ..., dilation: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConvTranspose1dOp(OperatorOp):
    """aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    output_padding_operand: Sequence[SSAValue]
    output_padding: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: Sequence[int | Value] | int | Value = ..., output_padding: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., dilation: Sequence[int | Value] | int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConvTranspose2dInputOp(OperatorOp):
    """aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    output_padding_operand: Sequence[SSAValue]
    output_padding: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: Sequence[int | Value] | int | Value = ..., output_padding: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., dilation: Sequence[int | Value] | int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConvTranspose3dInputOp(OperatorOp):
    """aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    bias: SSAValue | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    output_padding_operand: Sequence[SSAValue]
    output_padding: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, weight: Value, bias: Value | None = ..., stride: Sequence[int | Value] | int | Value = ..., padding: Sequence[int | Value] | int | Value = ..., output_padding: Sequence[int | Value] | int | Value = ..., groups: int | Value = ..., dilation: Sequence[int | Value] | int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConvTbcOp(OperatorOp):
    """aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor"""

    self: SSAValue
    weight: SSAValue
    bias: SSAValue
    pad: Attribute
    result: OpResult
    def __init__(_op, self: Value, weight: Value, bias: Value, pad: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool1dOp(OperatorOp):
    """aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    result: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., dilation: Sequence[int] | int = ..., ceil_mode: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool2dOp(OperatorOp):
    """aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    result: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., dilation: Sequence[int] | int = ..., ceil_mode: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool3dOp(OperatorOp):
    """aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    result: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., dilation: Sequence[int] | int = ..., ceil_mode: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool2dWithIndicesOp(OperatorOp):
    """aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., dilation: Sequence[int] | int = ..., ceil_mode: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool3dWithIndicesOp(OperatorOp):
    """aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., dilation: Sequence[int] | int = ..., ceil_mode: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AvgPool1dOp(OperatorOp):
    """aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    ceil_mode: Attribute
    count_include_pad: Attribute
    result: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., ceil_mode: bool = ..., count_include_pad: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AvgPool2dOp(OperatorOp):
    """aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    ceil_mode: Attribute
    count_include_pad: Attribute
    divisor_override: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., ceil_mode: bool = ..., count_include_pad: bool = ..., divisor_override: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AvgPool3dOp(OperatorOp):
    """aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    ceil_mode: Attribute
    count_include_pad: Attribute
    divisor_override: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., ceil_mode: bool = ..., count_include_pad: bool = ..., divisor_override: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveAvgPool1dOp(OperatorOp):
    """aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor"""

    self: SSAValue
    output_size: Attribute
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int] | int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveAvgPool2dOp(OperatorOp):
    """aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveAvgPool3dOp(OperatorOp):
    """aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AdaptiveAvgPool2dOp(OperatorOp):
    """aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AdaptiveAvgPool3dOp(OperatorOp):
    """aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveMaxPool2dOp(OperatorOp):
    """aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"""

    self: SSAValue
    output_size: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int] | int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveMaxPool1dOp(OperatorOp):
    """aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)"""

    self: SSAValue
    output_size: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int] | int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveMaxPool3dOp(OperatorOp):
    """aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)"""

    self: SSAValue
    output_size: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int] | int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool1dWithIndicesOp(OperatorOp):
    """aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)"""

    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int = ..., padding: Sequence[int] | int = ..., dilation: Sequence[int] | int = ..., ceil_mode: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxUnpool2dOp(OperatorOp):
    """aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor"""

    self: SSAValue
    indices: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, indices: Value, output_size: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxUnpool3dOp(OperatorOp):
    """aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor"""

    self: SSAValue
    indices: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    stride: Attribute
    padding: Attribute
    result: OpResult
    def __init__(_op, self: Value, indices: Value, output_size: Sequence[int | Value] | int | Value, stride: Sequence[int] | int, padding: Sequence[int] | int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FractionalMaxPool2dOp(OperatorOp):
    """aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)"""

    self: SSAValue
    kernel_size: Attribute
    output_size: Attribute
    random_samples: SSAValue
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, output_size: Sequence[int] | int, random_samples: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FractionalMaxPool3dOp(OperatorOp):
    """aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)"""

    self: SSAValue
    kernel_size: Attribute
    output_size: Attribute
    random_samples: SSAValue
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, output_size: Sequence[int] | int, random_samples: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest1dOp(OperatorOp):
    """aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scales: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, scales: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest1dVecOp(OperatorOp):
    """aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest2dOp(OperatorOp):
    """aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest2dVecOp(OperatorOp):
    """aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest3dOp(OperatorOp):
    """aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scales_d: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, scales_d: float | None = ..., scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest3dVecOp(OperatorOp):
    """aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact1dOp(OperatorOp):
    """aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scales: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, scales: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact1dVecOp(OperatorOp):
    """aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact2dOp(OperatorOp):
    """aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact2dVecOp(OperatorOp):
    """aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact3dOp(OperatorOp):
    """aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scales_d: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, scales_d: float | None = ..., scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact3dVecOp(OperatorOp):
    """aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleLinear1dOp(OperatorOp):
    """aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scales: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, align_corners: bool, scales: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleLinear1dVecOp(OperatorOp):
    """aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, align_corners: bool, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleBilinear2dOp(OperatorOp):
    """aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleBilinear2dVecOp(OperatorOp):
    """aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, align_corners: bool, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleTrilinear3dOp(OperatorOp):
    """aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scales_d: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_d: float | None = ..., scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleTrilinear3dVecOp(OperatorOp):
    """aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, align_corners: bool, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleBicubic2dOp(OperatorOp):
    """aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleBicubic2dVecOp(OperatorOp):
    """aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, align_corners: bool, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GridSamplerOp(OperatorOp):
    """aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"""

    input: SSAValue
    grid: SSAValue
    interpolation_mode: Attribute
    padding_mode: Attribute
    align_corners: Attribute
    result: OpResult
    def __init__(_op, input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AffineGridGeneratorOp(OperatorOp):
    """aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor"""

    theta: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    align_corners: Attribute
    result: OpResult
    def __init__(_op, theta: Value, size: Sequence[int | Value], align_corners: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GridSampler2dOp(OperatorOp):
    """aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"""

    input: SSAValue
    grid: SSAValue
    interpolation_mode: Attribute
    padding_mode: Attribute
    align_corners: Attribute
    result: OpResult
    def __init__(_op, input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GridSampler3dOp(OperatorOp):
    """aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"""

    input: SSAValue
    grid: SSAValue
    interpolation_mode: Attribute
    padding_mode: Attribute
    align_corners: Attribute
    result: OpResult
    def __init__(_op, input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Im2colOp(OperatorOp):
    """aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor"""

    self: SSAValue
    kernel_size: Attribute
    dilation: Attribute
    padding: Attribute
    stride: Attribute
    result: OpResult
    def __init__(_op, self: Value, kernel_size: Sequence[int] | int, dilation: Sequence[int] | int, padding: Sequence[int] | int, stride: Sequence[int] | int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Col2imOp(OperatorOp):
    """aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    kernel_size: Attribute
    dilation: Attribute
    padding: Attribute
    stride: Attribute
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, kernel_size: Sequence[int] | int, dilation: Sequence[int] | int, padding: Sequence[int] | int, stride: Sequence[int] | int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleBilinear2dAaOp(OperatorOp):
    """aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleBilinear2dAaVecOp(OperatorOp):
    """aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, align_corners: bool, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleBicubic2dAaOp(OperatorOp):
    """aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleBicubic2dAaVecOp(OperatorOp):
    """aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, align_corners: bool, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleLanczos2dAaOp(OperatorOp):
    """aten::_upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"""

    self: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, output_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleLanczos2dAaVecOp(OperatorOp):
    """aten::_upsample_lanczos2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"""

    input: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    align_corners: Attribute
    scale_factors: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, output_size: Sequence[int | Value] | None, align_corners: bool, scale_factors: Sequence[float] | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BatchNormOp(OperatorOp):
    """aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    running_mean: SSAValue | None
    running_var: SSAValue | None
    training: Attribute
    momentum: Attribute
    eps: Attribute
    cudnn_enabled: Attribute
    result: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, running_mean: Value | None, running_var: Value | None, training: bool, momentum: float, eps: float, cudnn_enabled: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _NativeBatchNormLegitNoTrainingOp(OperatorOp):
    """aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    running_mean: SSAValue
    running_var: SSAValue
    momentum: Attribute
    eps: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, running_mean: Value, running_var: Value, momentum: float, eps: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _NativeBatchNormLegitFunctionalOp(OperatorOp):
    """aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    running_mean: SSAValue
    running_var: SSAValue
    training: Attribute
    momentum: Attribute
    eps: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    running_mean_out: OpResult
    running_var_out: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, running_mean: Value, running_var: Value, training: bool, momentum: float, eps: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _BatchNormWithUpdateFunctionalOp(OperatorOp):
    """aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    running_mean: SSAValue
    running_var: SSAValue
    momentum: Attribute
    eps: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    result_3: OpResult
    running_mean_out: OpResult
    running_var_out: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, running_mean: Value, running_var: Value, momentum: float, eps: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _NativeBatchNormLegitNoStatsOp(OperatorOp):
    """aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    training: Attribute
    momentum: Attribute
    eps: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, training: bool, momentum: float, eps: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeBatchNormOp(OperatorOp):
    """aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    running_mean: SSAValue | None
    running_var: SSAValue | None
    training: Attribute
    momentum: Attribute
    eps: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, running_mean: Value | None, running_var: Value | None, training: bool, momentum: float, eps: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LayerNormOp(OperatorOp):
    """aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor"""

    input: SSAValue
    normalized_shape_operand: Sequence[SSAValue]
    normalized_shape: Attribute | None
    weight: SSAValue | None
    bias: SSAValue | None
    eps: Attribute
    cudnn_enable: Attribute
    result: OpResult
    def __init__(_op, input: Value, normalized_shape: Sequence[int | Value], weight: Value | None = ..., bias: Value | None = ..., eps: float = ..., cudnn_enable: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeLayerNormOp(OperatorOp):
    """aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)"""

    input: SSAValue
    normalized_shape_operand: Sequence[SSAValue]
    normalized_shape: Attribute | None
    weight: SSAValue | None
    bias: SSAValue | None
    eps: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, input: Value, normalized_shape: Sequence[int | Value], weight: Value | None, bias: Value | None, eps: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GroupNormOp(OperatorOp):
    """aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor"""

    input: SSAValue
    num_groups: Attribute
    weight: SSAValue | None
    bias: SSAValue | None
    eps: Attribute
    cudnn_enabled: Attribute
    result: OpResult
    def __init__(_op, input: Value, num_groups: int, weight: Value | None = ..., bias: Value | None = ..., eps: float = ..., cudnn_enabled: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeGroupNormOp(OperatorOp):
    """aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    N_operand: SSAValue | None
    N: Attribute | None
    C_operand: SSAValue | None
    C: Attribute | None
    HxW_operand: SSAValue | None
    HxW: Attribute | None
    group: Attribute
    eps: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, N: int | Value, C: int | Value, HxW: int | Value, group: int, eps: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class InstanceNormOp(OperatorOp):
    """aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor"""

    input: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    running_mean: SSAValue | None
    running_var: SSAValue | None
    use_input_stats: Attribute
    momentum: Attribute
    eps: Attribute
    cudnn_enabled: Attribute
    result: OpResult
    def __init__(_op, input: Value, weight: Value | None, bias: Value | None, running_mean: Value | None, running_var: Value | None, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RmsNormOp(OperatorOp):
    """aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor"""

    input: SSAValue
    normalized_shape_operand: Sequence[SSAValue]
    normalized_shape: Attribute | None
    weight: SSAValue | None
    eps: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, normalized_shape: Sequence[int | Value], weight: Value | None = ..., eps: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _FusedRmsNormOp(OperatorOp):
    """aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)"""

    input: SSAValue
    normalized_shape: Attribute
    weight: SSAValue | None
    eps: Attribute | None
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, input: Value, normalized_shape: Sequence[int], weight: Value | None, eps: float | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SoftmaxIntOp(OperatorOp):
    """aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, dtype: DType | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogSoftmaxIntOp(OperatorOp):
    """aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, dtype: DType | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _SoftmaxOp(OperatorOp):
    """aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"""

    self: SSAValue
    dim: Attribute
    half_to_float: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, half_to_float: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LogSoftmaxOp(OperatorOp):
    """aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"""

    self: SSAValue
    dim: Attribute
    half_to_float: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, half_to_float: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _SafeSoftmaxOp(OperatorOp):
    """aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, dtype: DType | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialSoftmaxOp(OperatorOp):
    """aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, dtype: DType | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SpecialLogSoftmaxOp(OperatorOp):
    """aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"""

    self: SSAValue
    dim: Attribute
    dtype: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _WeightNormOp(OperatorOp):
    """aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor"""

    v: SSAValue
    g: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, v: Value, g: Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormExceptDimOp(OperatorOp):
    """aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor"""

    v: SSAValue
    pow: Attribute
    dim: Attribute
    result: OpResult
    def __init__(_op, v: Value, pow: int = ..., dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScaledDotProductAttentionOp(OperatorOp):
    """aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor"""

    query: SSAValue
    key: SSAValue
    value: SSAValue
    attn_mask: SSAValue | None
    dropout_p: Attribute
    is_causal: Attribute
    scale: Attribute | None
    enable_gqa: Attribute
    result: OpResult
    def __init__(_op, query: Value, key: Value, value: Value, attn_mask: Value | None = ..., dropout_p: float = ..., is_causal: bool = ..., *, scale: float | None = ..., enable_gqa: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _ScaledDotProductFlashAttentionForCpuOp(OperatorOp):
    """aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)"""

    query: SSAValue
    key: SSAValue
    value: SSAValue
    dropout_p: Attribute
    is_causal: Attribute
    attn_mask: SSAValue | None
    scale: Attribute | None
    output: OpResult
    logsumexp: OpResult
    def __init__(_op, query: Value, key: Value, value: Value, dropout_p: float = ..., is_causal: bool = ..., *, attn_mask: Value | None = ..., scale: float | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _NativeMultiHeadAttentionOp(OperatorOp):
    """aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)"""

    query: SSAValue
    key: SSAValue
    value: SSAValue
    embed_dim: Attribute
    num_head: Attribute
    qkv_weight: SSAValue
    qkv_bias: SSAValue
    proj_weight: SSAValue
    proj_bias: SSAValue
    mask: SSAValue | None
    need_weights: Attribute
    average_attn_weights: Attribute
    mask_type: Attribute | None
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, query: Value, key: Value, value: Value, embed_dim: int, num_head: int, qkv_weight: Value, qkv_bias: Value, proj_weight: Value, proj_bias: Value, mask: Value | None = ..., need_weights: bool = ..., average_attn_weights: bool = ..., mask_type: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _TransformerEncoderLayerFwdOp(OperatorOp):
    """aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor"""

    src: SSAValue
    embed_dim: Attribute
    num_heads: Attribute
    qkv_weight: SSAValue
    qkv_bias: SSAValue
    proj_weight: SSAValue
    proj_bias: SSAValue
    use_gelu: Attribute
    norm_first: Attribute
    eps: Attribute
    norm_weight_1: SSAValue
    norm_bias_1: SSAValue
    norm_weight_2: SSAValue
    norm_bias_2: SSAValue
    ffn_weight_1: SSAValue
    ffn_bias_1: SSAValue
    ffn_weight_2: SSAValue
    ffn_bias_2: SSAValue
    mask: SSAValue | None
    mask_type: Attribute | None
    result: OpResult
    def __init__(_op, src: Value, embed_dim: int, num_heads: int, qkv_weight: Value, qkv_bias: Value, proj_weight: Value, proj_bias: Value, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Value, norm_bias_1: Value, norm_weight_2: Value, norm_bias_2: Value, ffn_weight_1: Value, ffn_bias_1: Value, ffn_weight_2: Value, ffn_bias_2: Value, mask: Value | None = ..., mask_type: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LstmInputOp(OperatorOp):
    """aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"""

    input: SSAValue
    hx: Sequence[SSAValue]
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    batch_first: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, input: Value, hx: Sequence[Value], params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GruInputOp(OperatorOp):
    """aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"""

    input: SSAValue
    hx: SSAValue
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    batch_first: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, input: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RnnTanhInputOp(OperatorOp):
    """aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"""

    input: SSAValue
    hx: SSAValue
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    batch_first: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, input: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RnnReluInputOp(OperatorOp):
    """aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"""

    input: SSAValue
    hx: SSAValue
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    batch_first: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, input: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LstmDataOp(OperatorOp):
    """aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)"""

    data: SSAValue
    batch_sizes: SSAValue
    hx: Sequence[SSAValue]
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, data: Value, batch_sizes: Value, hx: Sequence[Value], params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GruDataOp(OperatorOp):
    """aten::gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"""

    data: SSAValue
    batch_sizes: SSAValue
    hx: SSAValue
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, data: Value, batch_sizes: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RnnTanhDataOp(OperatorOp):
    """aten::rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"""

    data: SSAValue
    batch_sizes: SSAValue
    hx: SSAValue
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, data: Value, batch_sizes: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RnnReluDataOp(OperatorOp):
    """aten::rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"""

    data: SSAValue
    batch_sizes: SSAValue
    hx: SSAValue
    params: Sequence[SSAValue]
    has_biases: Attribute
    num_layers: Attribute
    dropout: Attribute
    train: Attribute
    bidirectional: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, data: Value, batch_sizes: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LstmCellOp(OperatorOp):
    """aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)"""

    input: SSAValue
    hx: Sequence[SSAValue]
    w_ih: SSAValue
    w_hh: SSAValue
    b_ih: SSAValue | None
    b_hh: SSAValue | None
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, input: Value, hx: Sequence[Value], w_ih: Value, w_hh: Value, b_ih: Value | None = ..., b_hh: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GruCellOp(OperatorOp):
    """aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"""

    input: SSAValue
    hx: SSAValue
    w_ih: SSAValue
    w_hh: SSAValue
    b_ih: SSAValue | None
    b_hh: SSAValue | None
    result: OpResult
    def __init__(_op, input: Value, hx: Value, w_ih: Value, w_hh: Value, b_ih: Value | None = ..., b_hh: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RnnTanhCellOp(OperatorOp):
    """aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"""

    input: SSAValue
    hx: SSAValue
    w_ih: SSAValue
    w_hh: SSAValue
    b_ih: SSAValue | None
    b_hh: SSAValue | None
    result: OpResult
    def __init__(_op, input: Value, hx: Value, w_ih: Value, w_hh: Value, b_ih: Value | None = ..., b_hh: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RnnReluCellOp(OperatorOp):
    """aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"""

    input: SSAValue
    hx: SSAValue
    w_ih: SSAValue
    w_hh: SSAValue
    b_ih: SSAValue | None
    b_hh: SSAValue | None
    result: OpResult
    def __init__(_op, input: Value, hx: Value, w_ih: Value, w_hh: Value, b_ih: Value | None = ..., b_hh: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CrossEntropyLossOp(OperatorOp):
    """aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    label_smoothing: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None = ..., reduction: int = ..., ignore_index: int | Value = ..., label_smoothing: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NllLossNdOp(OperatorOp):
    """aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None = ..., reduction: int = ..., ignore_index: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NllLossOp(OperatorOp):
    """aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None = ..., reduction: int = ..., ignore_index: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NllLoss2dOp(OperatorOp):
    """aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None = ..., reduction: int = ..., ignore_index: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NllLossForwardOp(OperatorOp):
    """aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    output: OpResult
    total_weight: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None, reduction: int, ignore_index: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NllLoss2dForwardOp(OperatorOp):
    """aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    output: OpResult
    total_weight: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None, reduction: int, ignore_index: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BinaryCrossEntropyOp(OperatorOp):
    """aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BinaryCrossEntropyWithLogitsOp(OperatorOp):
    """aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    pos_weight: SSAValue | None
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, weight: Value | None = ..., pos_weight: Value | None = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MseLossOp(OperatorOp):
    """aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class L1LossOp(OperatorOp):
    """aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SmoothL1LossOp(OperatorOp):
    """aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor"""

    self: SSAValue
    target: SSAValue
    reduction: Attribute
    beta: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, reduction: int = ..., beta: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HuberLossOp(OperatorOp):
    """aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor"""

    self: SSAValue
    target: SSAValue
    reduction: Attribute
    delta: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, reduction: int = ..., delta: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class KlDivOp(OperatorOp):
    """aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor"""

    self: SSAValue
    target: SSAValue
    reduction: Attribute
    log_target: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, reduction: int = ..., *, log_target: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SoftMarginLossOp(OperatorOp):
    """aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PoissonNllLossOp(OperatorOp):
    """aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor"""

    input: SSAValue
    target: SSAValue
    log_input: Attribute
    full: Attribute
    eps: Attribute
    reduction: Attribute
    result: OpResult
    def __init__(_op, input: Value, target: Value, log_input: bool, full: bool, eps: float, reduction: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HingeEmbeddingLossOp(OperatorOp):
    """aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    margin: Attribute
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, margin: float = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MarginRankingLossOp(OperatorOp):
    """aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor"""

    input1: SSAValue
    input2: SSAValue
    target: SSAValue
    margin: Attribute
    reduction: Attribute
    result: OpResult
    def __init__(_op, input1: Value, input2: Value, target: Value, margin: float = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TripletMarginLossOp(OperatorOp):
    """aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor"""

    anchor: SSAValue
    positive: SSAValue
    negative: SSAValue
    margin: Attribute
    p: Attribute
    eps: Attribute
    swap: Attribute
    reduction: Attribute
    result: OpResult
    def __init__(_op, anchor: Value, positive: Value, negative: Value, margin: float = ..., p: float = ..., eps: float = ..., swap: bool = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CosineEmbeddingLossOp(OperatorOp):
    """aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor"""

    input1: SSAValue
    input2: SSAValue
    target: SSAValue
    margin: Attribute
    reduction: Attribute
    result: OpResult
    def __init__(_op, input1: Value, input2: Value, target: Value, margin: float = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CosineSimilarityOp(OperatorOp):
    """aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor"""

    x1: SSAValue
    x2: SSAValue
    dim: Attribute
    eps: Attribute
    result: OpResult
    def __init__(_op, x1: Value, x2: Value, dim: int = ..., eps: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PairwiseDistanceOp(OperatorOp):
    """aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor"""

    x1: SSAValue
    x2: SSAValue
    p: Attribute
    eps: Attribute
    keepdim: Attribute
    result: OpResult
    def __init__(_op, x1: Value, x2: Value, p: float = ..., eps: float = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MultiMarginLossOp(OperatorOp):
    """aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    p_operand: SSAValue | None
    p: Attribute | None
    margin_operand: SSAValue | None
    margin: Attribute | None
    weight: SSAValue | None
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, p: complex | Value = ..., margin: complex | Value = ..., weight: Value | None = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MultilabelMarginLossOp(OperatorOp):
    """aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"""

    self: SSAValue
    target: SSAValue
    reduction: Attribute
    result: OpResult
    def __init__(_op, self: Value, target: Value, reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogitBackwardOp(OperatorOp):
    """aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    eps: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, eps: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MseLossBackwardOp(OperatorOp):
    """aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    target: SSAValue
    reduction: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, target: Value, reduction: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SmoothL1LossBackwardOp(OperatorOp):
    """aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    target: SSAValue
    reduction: Attribute
    beta: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, target: Value, reduction: int, beta: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HuberLossBackwardOp(OperatorOp):
    """aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    target: SSAValue
    reduction: Attribute
    delta: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, target: Value, reduction: int, delta: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SoftMarginLossBackwardOp(OperatorOp):
    """aten::soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    target: SSAValue
    reduction: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, target: Value, reduction: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BinaryCrossEntropyBackwardOp(OperatorOp):
    """aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, target: Value, weight: Value | None = ..., reduction: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NllLossBackwardOp(OperatorOp):
    """aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    total_weight: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, target: Value, weight: Value | None, reduction: int, ignore_index: int | Value, total_weight: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NllLoss2dBackwardOp(OperatorOp):
    """aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    target: SSAValue
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    total_weight: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, target: Value, weight: Value | None, reduction: int, ignore_index: int | Value, total_weight: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _SoftmaxBackwardDataOp(OperatorOp):
    """aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"""

    grad_output: SSAValue
    output: SSAValue
    dim: Attribute
    input_dtype: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, output: Value, dim: int, input_dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LogSoftmaxBackwardDataOp(OperatorOp):
    """aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"""

    grad_output: SSAValue
    output: SSAValue
    dim: Attribute
    input_dtype: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, output: Value, dim: int, input_dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeLayerNormBackwardOp(OperatorOp):
    """aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"""

    grad_out: SSAValue
    input: SSAValue
    normalized_shape_operand: Sequence[SSAValue]
    normalized_shape: Attribute | None
    mean: SSAValue
    rstd: SSAValue
    weight: SSAValue | None
    bias: SSAValue | None
    output_mask: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, grad_out: Value, input: Value, normalized_shape: Sequence[int | Value], mean: Value, rstd: Value, weight: Value | None, bias: Value | None, output_mask: Sequence[bool] | bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeGroupNormBackwardOp(OperatorOp):
    """aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"""

    grad_out: SSAValue
    input: SSAValue
    mean: SSAValue
    rstd: SSAValue
    weight: SSAValue | None
    N_operand: SSAValue | None
    N: Attribute | None
    C_operand: SSAValue | None
    C: Attribute | None
    HxW_operand: SSAValue | None
    HxW: Attribute | None
    group: Attribute
    output_mask: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, grad_out: Value, input: Value, mean: Value, rstd: Value, weight: Value | None, N: int | Value, C: int | Value, HxW: int | Value, group: int, output_mask: Sequence[bool] | bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeBatchNormBackwardOp(OperatorOp):
    """aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"""

    grad_out: SSAValue
    input: SSAValue
    weight: SSAValue | None
    running_mean: SSAValue | None
    running_var: SSAValue | None
    save_mean: SSAValue | None
    save_invstd: SSAValue | None
    train: Attribute
    eps: Attribute
    output_mask: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, grad_out: Value, input: Value, weight: Value | None, running_mean: Value | None, running_var: Value | None, save_mean: Value | None, save_invstd: Value | None, train: bool, eps: float, output_mask: Sequence[bool] | bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _ScaledDotProductFlashAttentionForCpuBackwardOp(OperatorOp):
    """aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)"""

    grad_out: SSAValue
    query: SSAValue
    key: SSAValue
    value: SSAValue
    out: SSAValue
    logsumexp: SSAValue
    dropout_p: Attribute
    is_causal: Attribute
    attn_mask: SSAValue | None
    scale: Attribute | None
    grad_query: OpResult
    grad_key: OpResult
    grad_value: OpResult
    def __init__(_op, grad_out: Value, query: Value, key: Value, value: Value, out: Value, logsumexp: Value, dropout_p: float, is_causal: bool, *, attn_mask: Value | None = ..., scale: float | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmbeddingDenseBackwardOp(OperatorOp):
    """aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor"""

    grad_output: SSAValue
    indices: SSAValue
    num_weights_operand: SSAValue | None
    num_weights: Attribute | None
    padding_idx_operand: SSAValue | None
    padding_idx: Attribute | None
    scale_grad_by_freq: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, indices: Value, num_weights: int | Value, padding_idx: int | Value, scale_grad_by_freq: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConvolutionBackwardOp(OperatorOp):
    """aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"""

    grad_output: SSAValue
    input: SSAValue
    weight: SSAValue
    bias_sizes_operand: Sequence[SSAValue]
    bias_sizes: Attribute | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    dilation_operand: Sequence[SSAValue]
    dilation: Attribute | None
    transposed: Attribute
    output_padding_operand: Sequence[SSAValue]
    output_padding: Attribute | None
    groups_operand: SSAValue | None
    groups: Attribute | None
    output_mask: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, grad_output: Value, input: Value, weight: Value, bias_sizes: Sequence[int | Value] | None, stride: Sequence[int | Value], padding: Sequence[int | Value], dilation: Sequence[int | Value], transposed: bool, output_padding: Sequence[int | Value], groups: int | Value, output_mask: Sequence[bool] | bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AvgPool2dBackwardOp(OperatorOp):
    """aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    ceil_mode: Attribute
    count_include_pad: Attribute
    divisor_override: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int, padding: Sequence[int] | int, ceil_mode: bool, count_include_pad: bool, divisor_override: int | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AvgPool3dBackwardOp(OperatorOp):
    """aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    ceil_mode: Attribute
    count_include_pad: Attribute
    divisor_override: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int, padding: Sequence[int] | int, ceil_mode: bool, count_include_pad: bool, divisor_override: int | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AdaptiveAvgPool2dBackwardOp(OperatorOp):
    """aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AdaptiveAvgPool3dBackwardOp(OperatorOp):
    """aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool2dWithIndicesBackwardOp(OperatorOp):
    """aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    indices: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int, padding: Sequence[int] | int, dilation: Sequence[int] | int, ceil_mode: bool, indices: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaxPool3dWithIndicesBackwardOp(OperatorOp):
    """aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    kernel_size: Attribute
    stride: Attribute
    padding: Attribute
    dilation: Attribute
    ceil_mode: Attribute
    indices: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, kernel_size: Sequence[int] | int, stride: Sequence[int] | int, padding: Sequence[int] | int, dilation: Sequence[int] | int, ceil_mode: bool, indices: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveMaxPool2dBackwardOp(OperatorOp):
    """aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    indices: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, indices: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdaptiveMaxPool3dBackwardOp(OperatorOp):
    """aten::adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    indices: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, indices: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FractionalMaxPool2dBackwardOp(OperatorOp):
    """aten::fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    kernel_size: Attribute
    output_size: Attribute
    indices: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, kernel_size: Sequence[int] | int, output_size: Sequence[int] | int, indices: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FractionalMaxPool3dBackwardOp(OperatorOp):
    """aten::fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor indices) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    kernel_size: Attribute
    output_size: Attribute
    indices: SSAValue
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, kernel_size: Sequence[int] | int, output_size: Sequence[int] | int, indices: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest1dBackwardOp(OperatorOp):
    """aten::upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    scales: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, scales: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest2dBackwardOp(OperatorOp):
    """aten::upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleNearest3dBackwardOp(OperatorOp):
    """aten::upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    scales_d: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, scales_d: float | None = ..., scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact1dBackwardOp(OperatorOp):
    """aten::_upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    scales: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, scales: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact2dBackwardOp(OperatorOp):
    """aten::_upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UpsampleNearestExact3dBackwardOp(OperatorOp):
    """aten::_upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    scales_d: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, scales_d: float | None = ..., scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleLinear1dBackwardOp(OperatorOp):
    """aten::upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, bool align_corners, float? scales=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    align_corners: Attribute
    scales: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, align_corners: bool, scales: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleBilinear2dBackwardOp(OperatorOp):
    """aten::upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    align_corners: Attribute
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleTrilinear3dBackwardOp(OperatorOp):
    """aten::upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    align_corners: Attribute
    scales_d: Attribute | None
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_d: float | None = ..., scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UpsampleBicubic2dBackwardOp(OperatorOp):
    """aten::upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"""

    grad_output: SSAValue
    output_size_operand: Sequence[SSAValue]
    output_size: Attribute | None
    input_size_operand: Sequence[SSAValue]
    input_size: Attribute | None
    align_corners: Attribute
    scales_h: Attribute | None
    scales_w: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, output_size: Sequence[int | Value] | int | Value, input_size: Sequence[int | Value] | int | Value, align_corners: bool, scales_h: float | None = ..., scales_w: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReflectionPad1dBackwardOp(OperatorOp):
    """aten::reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReflectionPad2dBackwardOp(OperatorOp):
    """aten::reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReflectionPad3dBackwardOp(OperatorOp):
    """aten::reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReplicationPad1dBackwardOp(OperatorOp):
    """aten::replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReplicationPad2dBackwardOp(OperatorOp):
    """aten::replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReplicationPad3dBackwardOp(OperatorOp):
    """aten::replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor"""

    grad_output: SSAValue
    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SelectBackwardOp(OperatorOp):
    """aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor"""

    grad_output: SSAValue
    input_sizes_operand: Sequence[SSAValue]
    input_sizes: Attribute | None
    dim: Attribute
    index_operand: SSAValue | None
    index: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, input_sizes: Sequence[int | Value], dim: int, index: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SliceBackwardOp(OperatorOp):
    """aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor"""

    grad_output: SSAValue
    input_sizes_operand: Sequence[SSAValue]
    input_sizes: Attribute | None
    dim: Attribute
    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    step_operand: SSAValue | None
    step: Attribute | None
    result: OpResult
    def __init__(_op, grad_output: Value, input_sizes: Sequence[int | Value], dim: int, start: int | Value, end: int | Value, step: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiagonalBackwardOp(OperatorOp):
    """aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor"""

    grad_output: SSAValue
    input_sizes_operand: Sequence[SSAValue]
    input_sizes: Attribute | None
    offset: Attribute
    dim1: Attribute
    dim2: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, input_sizes: Sequence[int | Value], offset: int, dim1: int, dim2: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnfoldBackwardOp(OperatorOp):
    """aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor"""

    grad_in: SSAValue
    input_sizes_operand: Sequence[SSAValue]
    input_sizes: Attribute | None
    dim: Attribute
    size: Attribute
    step: Attribute
    result: OpResult
    def __init__(_op, grad_in: Value, input_sizes: Sequence[int | Value], dim: int, size: int, step: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _CdistBackwardOp(OperatorOp):
    """aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor"""

    grad: SSAValue
    x1: SSAValue
    x2: SSAValue
    p: Attribute
    cdist: SSAValue
    result: OpResult
    def __init__(_op, grad: Value, x1: Value, x2: Value, p: float, cdist: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewOp(OperatorOp):
    """aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UnsafeViewOp(OperatorOp):
    """aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReshapeOp(OperatorOp):
    """aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)"""

    self: SSAValue
    shape_operand: Sequence[SSAValue]
    shape: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, shape: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewCopyOp(OperatorOp):
    """aten::view_copy(Tensor self, SymInt[] size) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PermuteOp(OperatorOp):
    """aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)"""

    self: SSAValue
    dims: Attribute
    result: OpResult
    def __init__(_op, self: Value, dims: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TransposeIntOp(OperatorOp):
    """aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"""

    self: SSAValue
    dim0: Attribute
    dim1: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim0: int, dim1: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TOp(OperatorOp):
    """aten::t(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NumpyTOp(OperatorOp):
    """aten::numpy_T(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MTOp(OperatorOp):
    """aten::mT(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SwapaxesOp(OperatorOp):
    """aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)"""

    self: SSAValue
    axis0: Attribute
    axis1: Attribute
    result: OpResult
    def __init__(_op, self: Value, axis0: int, axis1: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SwapdimsOp(OperatorOp):
    """aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"""

    self: SSAValue
    dim0: Attribute
    dim1: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim0: int, dim1: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MovedimIntOp(OperatorOp):
    """aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)"""

    self: SSAValue
    source: Attribute
    destination: Attribute
    result: OpResult
    def __init__(_op, self: Value, source: int, destination: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MovedimIntlistOp(OperatorOp):
    """aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)"""

    self: SSAValue
    source: Attribute
    destination: Attribute
    result: OpResult
    def __init__(_op, self: Value, source: Sequence[int], destination: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MoveaxisIntOp(OperatorOp):
    """aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)"""

    self: SSAValue
    source: Attribute
    destination: Attribute
    result: OpResult
    def __init__(_op, self: Value, source: int, destination: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MoveaxisIntlistOp(OperatorOp):
    """aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)"""

    self: SSAValue
    source: Attribute
    destination: Attribute
    result: OpResult
    def __init__(_op, self: Value, source: Sequence[int], destination: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnsqueezeOp(OperatorOp):
    """aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SqueezeOp(OperatorOp):
    """aten::squeeze(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SqueezeDimOp(OperatorOp):
    """aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SqueezeDimsOp(OperatorOp):
    """aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ExpandOp(OperatorOp):
    """aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    implicit: Attribute
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, implicit: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ExpandAsOp(OperatorOp):
    """aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BroadcastToOp(OperatorOp):
    """aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FlattenUsingIntsOp(OperatorOp):
    """aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)"""

    self: SSAValue
    start_dim: Attribute
    end_dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, start_dim: int = ..., end_dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RavelOp(OperatorOp):
    """aten::ravel(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnflattenIntOp(OperatorOp):
    """aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    sizes_operand: Sequence[SSAValue]
    sizes: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, sizes: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewAsOp(OperatorOp):
    """aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReshapeAsOp(OperatorOp):
    """aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)"""

    self: SSAValue
    other: SSAValue
    result: OpResult
    def __init__(_op, self: Value, other: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FlipOp(OperatorOp):
    """aten::flip(Tensor self, int[] dims) -> Tensor"""

    self: SSAValue
    dims: Attribute
    result: OpResult
    def __init__(_op, self: Value, dims: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RollOp(OperatorOp):
    """aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor"""

    self: SSAValue
    shifts_operand: Sequence[SSAValue]
    shifts: Attribute | None
    dims: Attribute
    result: OpResult
    def __init__(_op, self: Value, shifts: Sequence[int | Value] | int | Value, dims: Sequence[int] | int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Rot90Op(OperatorOp):
    """aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor"""

    self: SSAValue
    k: Attribute
    dims: Attribute
    result: OpResult
    def __init__(_op, self: Value, k: int = ..., dims: Sequence[int] = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FliplrOp(OperatorOp):
    """aten::fliplr(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FlipudOp(OperatorOp):
    """aten::flipud(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PixelShuffleOp(OperatorOp):
    """aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor"""

    self: SSAValue
    upscale_factor: Attribute
    result: OpResult
    def __init__(_op, self: Value, upscale_factor: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PixelUnshuffleOp(OperatorOp):
    """aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor"""

    self: SSAValue
    downscale_factor: Attribute
    result: OpResult
    def __init__(_op, self: Value, downscale_factor: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ChannelShuffleOp(OperatorOp):
    """aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor"""

    self: SSAValue
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, groups: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Atleast1dSequenceOp(OperatorOp):
    """aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]"""

    tensors: Sequence[SSAValue]
    result: Sequence[OpResult]
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Atleast1dOp(OperatorOp):
    """aten::atleast_1d(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Atleast2dSequenceOp(OperatorOp):
    """aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]"""

    tensors: Sequence[SSAValue]
    result: Sequence[OpResult]
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Atleast2dOp(OperatorOp):
    """aten::atleast_2d(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Atleast3dSequenceOp(OperatorOp):
    """aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]"""

    tensors: Sequence[SSAValue]
    result: Sequence[OpResult]
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class Atleast3dOp(OperatorOp):
    """aten::atleast_3d(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BroadcastTensorsOp(OperatorOp):
    """aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]"""

    tensors: Sequence[SSAValue]
    result: Sequence[OpResult]
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AliasCopyOp(OperatorOp):
    """aten::alias_copy(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PermuteCopyOp(OperatorOp):
    """aten::permute_copy(Tensor self, int[] dims) -> Tensor"""

    self: SSAValue
    dims: Attribute
    result: OpResult
    def __init__(_op, self: Value, dims: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ExpandCopyOp(OperatorOp):
    """aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    implicit: Attribute
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, implicit: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SqueezeCopyOp(OperatorOp):
    """aten::squeeze_copy(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SqueezeCopyDimOp(OperatorOp):
    """aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SqueezeCopyDimsOp(OperatorOp):
    """aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnsqueezeCopyOp(OperatorOp):
    """aten::unsqueeze_copy(Tensor self, int dim) -> Tensor"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TCopyOp(OperatorOp):
    """aten::t_copy(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TransposeCopyIntOp(OperatorOp):
    """aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor"""

    self: SSAValue
    dim0: Attribute
    dim1: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim0: int, dim1: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DetachCopyOp(OperatorOp):
    """aten::detach_copy(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewAsRealCopyOp(OperatorOp):
    """aten::view_as_real_copy(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewDtypeOp(OperatorOp):
    """aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)"""

    self: SSAValue
    dtype: Attribute
    result: OpResult
    def __init__(_op, self: Value, dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewCopyDtypeOp(OperatorOp):
    """aten::view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor"""

    self: SSAValue
    dtype: Attribute
    result: OpResult
    def __init__(_op, self: Value, dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MHOp(OperatorOp):
    """aten::mH(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AdjointOp(OperatorOp):
    """aten::adjoint(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MatrixHOp(OperatorOp):
    """aten::matrix_H(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiagOp(OperatorOp):
    """aten::diag(Tensor self, int diagonal=0) -> Tensor"""

    self: SSAValue
    diagonal: Attribute
    result: OpResult
    def __init__(_op, self: Value, diagonal: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiagflatOp(OperatorOp):
    """aten::diagflat(Tensor self, int offset=0) -> Tensor"""

    self: SSAValue
    offset: Attribute
    result: OpResult
    def __init__(_op, self: Value, offset: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiagEmbedOp(OperatorOp):
    """aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor"""

    self: SSAValue
    offset: Attribute
    dim1: Attribute
    dim2: Attribute
    result: OpResult
    def __init__(_op, self: Value, offset: int = ..., dim1: int = ..., dim2: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ResizeOp(OperatorOp):
    """aten::resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ResizeAsOp(OperatorOp):
    """aten::resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    the_template: SSAValue
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, the_template: Value, *, memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ViewAsComplexCopyOp(OperatorOp):
    """aten::view_as_complex_copy(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeChannelShuffleOp(OperatorOp):
    """aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor"""

    self: SSAValue
    groups_operand: SSAValue | None
    groups: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, groups: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _NegViewOp(OperatorOp):
    """aten::_neg_view(Tensor(a) self) -> Tensor(a)"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SliceTensorOp(OperatorOp):
    """aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    step_operand: SSAValue | None
    step: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int = ..., start: int | Value | None = ..., end: int | Value | None = ..., step: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SelectIntOp(OperatorOp):
    """aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    index_operand: SSAValue | None
    index: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NarrowOp(OperatorOp):
    """aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    start_operand: SSAValue | None
    start: Attribute | None
    length_operand: SSAValue | None
    length: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, start: int | Value, length: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SplitTensorOp(OperatorOp):
    """aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    split_size_operand: SSAValue | None
    split_size: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, split_size: int | Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SplitWithSizesOp(OperatorOp):
    """aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    split_sizes_operand: Sequence[SSAValue]
    split_sizes: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, split_sizes: Sequence[int | Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SplitSizesOp(OperatorOp):
    """aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    split_size_operand: Sequence[SSAValue]
    split_size: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, split_size: Sequence[int | Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ChunkOp(OperatorOp):
    """aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    chunks: Attribute
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, chunks: int, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnbindIntOp(OperatorOp):
    """aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TensorSplitSectionsOp(OperatorOp):
    """aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    sections_operand: SSAValue | None
    sections: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, sections: int | Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TensorSplitIndicesOp(OperatorOp):
    """aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    indices_operand: Sequence[SSAValue]
    indices: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, indices: Sequence[int | Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnsafeSplitTensorOp(OperatorOp):
    """aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]"""

    self: SSAValue
    split_size_operand: SSAValue | None
    split_size: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, split_size: int | Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnsafeChunkOp(OperatorOp):
    """aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]"""

    self: SSAValue
    chunks: Attribute
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, chunks: int, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiagonalOp(OperatorOp):
    """aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)"""

    self: SSAValue
    offset: Attribute
    dim1: Attribute
    dim2: Attribute
    result: OpResult
    def __init__(_op, self: Value, offset: int = ..., dim1: int = ..., dim2: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiagonalCopyOp(OperatorOp):
    """aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor"""

    self: SSAValue
    offset: Attribute
    dim1: Attribute
    dim2: Attribute
    result: OpResult
    def __init__(_op, self: Value, offset: int = ..., dim1: int = ..., dim2: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnfoldOp(OperatorOp):
    """aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)"""

    self: SSAValue
    dimension: Attribute
    size: Attribute
    step: Attribute
    result: OpResult
    def __init__(_op, self: Value, dimension: int, size: int, step: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AsStridedOp(OperatorOp):
    """aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    storage_offset_operand: SSAValue | None
    storage_offset: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], stride: Sequence[int | Value], storage_offset: int | Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SliceScatterOp(OperatorOp):
    """aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor"""

    self: SSAValue
    src: SSAValue
    dim: Attribute
    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    step_operand: SSAValue | None
    step: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, src: Value, dim: int = ..., start: int | Value | None = ..., end: int | Value | None = ..., step: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SelectScatterOp(OperatorOp):
    """aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor"""

    self: SSAValue
    src: SSAValue
    dim: Attribute
    index_operand: SSAValue | None
    index: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, src: Value, dim: int, index: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiagonalScatterOp(OperatorOp):
    """aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor"""

    self: SSAValue
    src: SSAValue
    offset: Attribute
    dim1: Attribute
    dim2: Attribute
    result: OpResult
    def __init__(_op, self: Value, src: Value, offset: int = ..., dim1: int = ..., dim2: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AsStridedScatterOp(OperatorOp):
    """aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor"""

    self: SSAValue
    src: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    storage_offset_operand: SSAValue | None
    storage_offset: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, src: Value, size: Sequence[int | Value], stride: Sequence[int | Value], storage_offset: int | Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AsStridedCopyOp(OperatorOp):
    """aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    storage_offset_operand: SSAValue | None
    storage_offset: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], stride: Sequence[int | Value], storage_offset: int | Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnfoldCopyOp(OperatorOp):
    """aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor"""

    self: SSAValue
    dimension: Attribute
    size: Attribute
    step: Attribute
    result: OpResult
    def __init__(_op, self: Value, dimension: int, size: int, step: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SliceCopyTensorOp(OperatorOp):
    """aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor"""

    self: SSAValue
    dim: Attribute
    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    step_operand: SSAValue | None
    step: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int = ..., start: int | Value | None = ..., end: int | Value | None = ..., step: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SelectCopyIntOp(OperatorOp):
    """aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index_operand: SSAValue | None
    index: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SplitCopyTensorOp(OperatorOp):
    """aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]"""

    self: SSAValue
    split_size_operand: SSAValue | None
    split_size: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, split_size: int | Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SplitWithSizesCopyOp(OperatorOp):
    """aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]"""

    self: SSAValue
    split_sizes_operand: Sequence[SSAValue]
    split_sizes: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, split_sizes: Sequence[int | Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnbindCopyIntOp(OperatorOp):
    """aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]"""

    self: SSAValue
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NarrowCopyOp(OperatorOp):
    """aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor"""

    self: SSAValue
    dim: Attribute
    start_operand: SSAValue | None
    start: Attribute | None
    length_operand: SSAValue | None
    length: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, start: int | Value, length: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HsplitIntOp(OperatorOp):
    """aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]"""

    self: SSAValue
    sections: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, sections: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HsplitArrayOp(OperatorOp):
    """aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"""

    self: SSAValue
    indices: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, indices: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VsplitIntOp(OperatorOp):
    """aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]"""

    self: SSAValue
    sections: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, sections: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VsplitArrayOp(OperatorOp):
    """aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"""

    self: SSAValue
    indices: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, indices: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DsplitIntOp(OperatorOp):
    """aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]"""

    self: SSAValue
    sections: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, sections: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DsplitArrayOp(OperatorOp):
    """aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"""

    self: SSAValue
    indices: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, indices: Sequence[int], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DiffOp(OperatorOp):
    """aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor"""

    self: SSAValue
    n: Attribute
    dim: Attribute
    prepend: SSAValue | None
    append: SSAValue | None
    result: OpResult
    def __init__(_op, self: Value, n: int = ..., dim: int = ..., prepend: Value | None = ..., append: Value | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TensorSplitTensorIndicesOrSectionsOp(OperatorOp):
    """aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]"""

    self: SSAValue
    tensor_indices_or_sections: SSAValue
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, tensor_indices_or_sections: Value, dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NarrowTensorOp(OperatorOp):
    """aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)"""

    self: SSAValue
    dim: Attribute
    start: SSAValue
    length_operand: SSAValue | None
    length: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, start: Value, length: int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UnsafeSplitWithSizesOp(OperatorOp):
    """aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]"""

    self: SSAValue
    split_sizes_operand: Sequence[SSAValue]
    split_sizes: Attribute | None
    dim: Attribute
    result: Sequence[OpResult]
    def __init__(_op, self: Value, split_sizes: Sequence[int | Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CatOp(OperatorOp):
    """aten::cat(Tensor[] tensors, int dim=0) -> Tensor"""

    tensors: Sequence[SSAValue]
    dim: Attribute
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConcatOp(OperatorOp):
    """aten::concat(Tensor[] tensors, int dim=0) -> Tensor"""

    tensors: Sequence[SSAValue]
    dim: Attribute
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class StackOp(OperatorOp):
    """aten::stack(Tensor[] tensors, int dim=0) -> Tensor"""

    tensors: Sequence[SSAValue]
    dim: Attribute
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RepeatOp(OperatorOp):
    """aten::repeat(Tensor self, SymInt[] repeats) -> Tensor"""

    self: SSAValue
    repeats_operand: Sequence[SSAValue]
    repeats: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, repeats: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RepeatInterleaveSelfIntOp(OperatorOp):
    """aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor"""

    self: SSAValue
    repeats_operand: SSAValue | None
    repeats: Attribute | None
    dim: Attribute | None
    output_size_operand: SSAValue | None
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, repeats: int | Value, dim: int | None = ..., *, output_size: int | Value | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RepeatInterleaveTensorOp(OperatorOp):
    """aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor"""

    repeats: SSAValue
    output_size_operand: SSAValue | None
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, repeats: Value, *, output_size: int | Value | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RepeatInterleaveSelfTensorOp(OperatorOp):
    """aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor"""

    self: SSAValue
    repeats: SSAValue
    dim: Attribute | None
    output_size_operand: SSAValue | None
    output_size: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, repeats: Value, dim: int | None = ..., *, output_size: int | Value | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TileOp(OperatorOp):
    """aten::tile(Tensor self, SymInt[] dims) -> Tensor"""

    self: SSAValue
    dims_operand: Sequence[SSAValue]
    dims: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dims: Sequence[int | Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConstantPadNdOp(OperatorOp):
    """aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor"""

    self: SSAValue
    pad_operand: Sequence[SSAValue]
    pad: Attribute | None
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, pad: Sequence[int | Value], value: complex | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PadOp(OperatorOp):
    """aten::pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor"""

    self: SSAValue
    pad_operand: Sequence[SSAValue]
    pad: Attribute | None
    mode: Attribute
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, pad: Sequence[int | Value], mode: str = ..., value: float | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReflectionPad1dOp(OperatorOp):
    """aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor"""

    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReflectionPad2dOp(OperatorOp):
    """aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor"""

    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReflectionPad3dOp(OperatorOp):
    """aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor"""

    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReplicationPad1dOp(OperatorOp):
    """aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor"""

    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReplicationPad2dOp(OperatorOp):
    """aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor"""

    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ReplicationPad3dOp(OperatorOp):
    """aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor"""

    self: SSAValue
    padding_operand: Sequence[SSAValue]
    padding: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, padding: Sequence[int | Value] | int | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HstackOp(OperatorOp):
    """aten::hstack(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class VstackOp(OperatorOp):
    """aten::vstack(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DstackOp(OperatorOp):
    """aten::dstack(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ColumnStackOp(OperatorOp):
    """aten::column_stack(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MeshgridOp(OperatorOp):
    """aten::meshgrid(Tensor[] tensors) -> Tensor[]"""

    tensors: Sequence[SSAValue]
    result: Sequence[OpResult]
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MeshgridIndexingOp(OperatorOp):
    """aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]"""

    tensors: Sequence[SSAValue]
    indexing: Attribute
    result: Sequence[OpResult]
    def __init__(_op, tensors: Sequence[Value], *, indexing: str, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PadSequenceOp(OperatorOp):
    """aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str padding_side="right") -> Tensor"""

    sequences: Sequence[SSAValue]
    batch_first: Attribute
    padding_value: Attribute
    padding_side: Attribute
    result: OpResult
    def __init__(_op, sequences: Sequence[Value], batch_first: bool = ..., padding_value: float = ..., padding_side: str = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BlockDiagOp(OperatorOp):
    """aten::block_diag(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ConcatenateOp(OperatorOp):
    """aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor"""

    tensors: Sequence[SSAValue]
    dim: Attribute
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], dim: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RowStackOp(OperatorOp):
    """aten::row_stack(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _ChunkCatOp(OperatorOp):
    """aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor"""

    tensors: Sequence[SSAValue]
    dim: Attribute
    num_chunks: Attribute
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], dim: int, num_chunks: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmbeddingOp(OperatorOp):
    """aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"""

    weight: SSAValue
    indices: SSAValue
    padding_idx_operand: SSAValue | None
    padding_idx: Attribute | None
    scale_grad_by_freq: Attribute
    sparse: Attribute
    result: OpResult
    def __init__(_op, weight: Value, indices: Value, padding_idx: int | Value = ..., scale_grad_by_freq: bool = ..., sparse: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexSelectOp(OperatorOp):
    """aten::index_select(Tensor self, int dim, Tensor index) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GatherOp(OperatorOp):
    """aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    sparse_grad: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, *, sparse_grad: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexTensorOp(OperatorOp):
    """aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"""

    self: SSAValue
    indices: Sequence[SSAValue]
    indices_mask: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, indices: Sequence[Value | None], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexPutOp(OperatorOp):
    """aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"""

    self: SSAValue
    indices: Sequence[SSAValue]
    indices_mask: Attribute | None
    values: SSAValue
    accumulate: Attribute
    result: OpResult
    def __init__(_op, self: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScatterSrcOp(OperatorOp):
    """aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    src: SSAValue
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, src: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScatterValueOp(OperatorOp):
    """aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, value: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScatterAddOp(OperatorOp):
    """aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    src: SSAValue
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, src: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TakeAlongDimOp(OperatorOp):
    """aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor"""

    self: SSAValue
    indices: SSAValue
    dim: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, indices: Value, dim: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TakeOp(OperatorOp):
    """aten::take(Tensor self, Tensor index) -> Tensor"""

    self: SSAValue
    index: SSAValue
    result: OpResult
    def __init__(_op, self: Value, index: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TopkOp(OperatorOp):
    """aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    k_operand: SSAValue | None
    k: Attribute | None
    dim: Attribute
    largest: Attribute
    sorted: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, k: int | Value, dim: int = ..., largest: bool = ..., sorted: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SortOp(OperatorOp):
    """aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    dim: Attribute
    descending: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, dim: int = ..., descending: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SortStableOp(OperatorOp):
    """aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    stable: Attribute | None
    dim: Attribute
    descending: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, *, stable: bool | None, dim: int = ..., descending: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArgsortOp(OperatorOp):
    """aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor"""

    self: SSAValue
    dim: Attribute
    descending: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int = ..., descending: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class OneHotOp(OperatorOp):
    """aten::one_hot(Tensor self, int num_classes=-1) -> Tensor"""

    self: SSAValue
    num_classes: Attribute
    result: OpResult
    def __init__(_op, self: Value, num_classes: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrilOp(OperatorOp):
    """aten::tril(Tensor self, SymInt diagonal=0) -> Tensor"""

    self: SSAValue
    diagonal_operand: SSAValue | None
    diagonal: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, diagonal: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TriuOp(OperatorOp):
    """aten::triu(Tensor self, SymInt diagonal=0) -> Tensor"""

    self: SSAValue
    diagonal_operand: SSAValue | None
    diagonal: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, diagonal: int | Value = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaskedSelectOp(OperatorOp):
    """aten::masked_select(Tensor self, Tensor mask) -> Tensor"""

    self: SSAValue
    mask: SSAValue
    result: OpResult
    def __init__(_op, self: Value, mask: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NonzeroOp(OperatorOp):
    """aten::nonzero(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexFillIntScalarOp(OperatorOp):
    """aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    value_operand: SSAValue | None
    value: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, value: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexAddOp(OperatorOp):
    """aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    source: SSAValue
    alpha_operand: SSAValue | None
    alpha: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, source: Value, *, alpha: complex | Value = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexCopyOp(OperatorOp):
    """aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    source: SSAValue
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, source: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SearchsortedTensorOp(OperatorOp):
    """aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"""

    sorted_sequence: SSAValue
    self: SSAValue
    out_int32: Attribute
    right: Attribute
    side: Attribute | None
    sorter: SSAValue | None
    result: OpResult
    def __init__(_op, sorted_sequence: Value, self: Value, *, out_int32: bool = ..., right: bool = ..., side: str | None = ..., sorter: Value | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BucketizeTensorOp(OperatorOp):
    """aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"""

    self: SSAValue
    boundaries: SSAValue
    out_int32: Attribute
    right: Attribute
    result: OpResult
    def __init__(_op, self: Value, boundaries: Value, *, out_int32: bool = ..., right: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScatterReduceTwoOp(OperatorOp):
    """aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    src: SSAValue
    reduce: Attribute
    include_self: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, src: Value, reduce: str, *, include_self: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MaskedScatterOp(OperatorOp):
    """aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor"""

    self: SSAValue
    mask: SSAValue
    source: SSAValue
    result: OpResult
    def __init__(_op, self: Value, mask: Value, source: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmbeddingBagOp(OperatorOp):
    """aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)"""

    weight: SSAValue
    indices: SSAValue
    offsets: SSAValue
    scale_grad_by_freq: Attribute
    mode: Attribute
    sparse: Attribute
    per_sample_weights: SSAValue | None
    include_last_offset: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    result_3: OpResult
    def __init__(_op, weight: Value, indices: Value, offsets: Value, scale_grad_by_freq: bool = ..., mode: int = ..., sparse: bool = ..., per_sample_weights: Value | None = ..., include_last_offset: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmbeddingBagPaddingIdxOp(OperatorOp):
    """aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)"""

    weight: SSAValue
    indices: SSAValue
    offsets: SSAValue
    scale_grad_by_freq: Attribute
    mode: Attribute
    sparse: Attribute
    per_sample_weights: SSAValue | None
    include_last_offset: Attribute
    padding_idx: Attribute | None
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    result_3: OpResult
    def __init__(_op, weight: Value, indices: Value, offsets: Value, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Value | None, include_last_offset: bool, padding_idx: int | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _EmbeddingBagOp(OperatorOp):
    """aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)"""

    weight: SSAValue
    indices: SSAValue
    offsets: SSAValue
    scale_grad_by_freq: Attribute
    mode: Attribute
    sparse: Attribute
    per_sample_weights: SSAValue | None
    include_last_offset: Attribute
    padding_idx: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    result_3: OpResult
    def __init__(_op, weight: Value, indices: Value, offsets: Value, scale_grad_by_freq: bool = ..., mode: int = ..., sparse: bool = ..., per_sample_weights: Value | None = ..., include_last_offset: bool = ..., padding_idx: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _EmbeddingBagForwardOnlyOp(OperatorOp):
    """aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)"""

    weight: SSAValue
    indices: SSAValue
    offsets: SSAValue
    scale_grad_by_freq: Attribute
    mode: Attribute
    sparse: Attribute
    per_sample_weights: SSAValue | None
    include_last_offset: Attribute
    padding_idx: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    result_3: OpResult
    def __init__(_op, weight: Value, indices: Value, offsets: Value, scale_grad_by_freq: bool = ..., mode: int = ..., sparse: bool = ..., per_sample_weights: Value | None = ..., include_last_offset: bool = ..., padding_idx: int = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScatterReduceOp(OperatorOp):
    """aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    src: SSAValue
    reduce: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, src: Value, *, reduce: str, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScatterValueReduceOp(OperatorOp):
    """aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    value_operand: SSAValue | None
    value: Attribute | None
    reduce: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, value: complex | Value, *, reduce: str, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class PutOp(OperatorOp):
    """aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor"""

    self: SSAValue
    index: SSAValue
    source: SSAValue
    accumulate: Attribute
    result: OpResult
    def __init__(_op, self: Value, index: Value, source: Value, accumulate: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexFillIntTensorOp(OperatorOp):
    """aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    value: SSAValue
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, value: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IndexReduceOp(OperatorOp):
    """aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor"""

    self: SSAValue
    dim: Attribute
    index: SSAValue
    source: SSAValue
    reduce: Attribute
    include_self: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UnsafeIndexTensorOp(OperatorOp):
    """aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"""

    self: SSAValue
    indices: Sequence[SSAValue]
    indices_mask: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, indices: Sequence[Value | None], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UnsafeIndexPutOp(OperatorOp):
    """aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"""

    self: SSAValue
    indices: Sequence[SSAValue]
    indices_mask: Attribute | None
    values: SSAValue
    accumulate: Attribute
    result: OpResult
    def __init__(_op, self: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UnsafeMaskedIndexOp(OperatorOp):
    """aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor"""

    self: SSAValue
    mask: SSAValue
    indices: Sequence[SSAValue]
    indices_mask: Attribute | None
    fill_operand: SSAValue | None
    fill: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, mask: Value, indices: Sequence[Value | None], fill: complex | Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _UnsafeMaskedIndexPutAccumulateOp(OperatorOp):
    """aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor"""

    self: SSAValue
    mask: SSAValue
    indices: Sequence[SSAValue]
    indices_mask: Attribute | None
    values: SSAValue
    result: OpResult
    def __init__(_op, self: Value, mask: Value, indices: Sequence[Value | None], values: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MsortOp(OperatorOp):
    """aten::msort(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArgsortStableOp(OperatorOp):
    """aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor"""

    self: SSAValue
    stable: Attribute
    dim: Attribute
    descending: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, stable: bool, dim: int = ..., descending: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class KthvalueOp(OperatorOp):
    """aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"""

    self: SSAValue
    k_operand: SSAValue | None
    k: Attribute | None
    dim: Attribute
    keepdim: Attribute
    values: OpResult
    indices: OpResult
    def __init__(_op, self: Value, k: int | Value, dim: int = ..., keepdim: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SearchsortedScalarOp(OperatorOp):
    """aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"""

    sorted_sequence: SSAValue
    self_operand: SSAValue | None
    self: Attribute | None
    out_int32: Attribute
    right: Attribute
    side: Attribute | None
    sorter: SSAValue | None
    result: OpResult
    def __init__(_op, sorted_sequence: Value, self: complex | Value, *, out_int32: bool = ..., right: bool = ..., side: str | None = ..., sorter: Value | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BucketizeScalarOp(OperatorOp):
    """aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"""

    self_operand: SSAValue | None
    self: Attribute | None
    boundaries: SSAValue
    out_int32: Attribute
    right: Attribute
    result: OpResult
    def __init__(_op, self: complex | Value, boundaries: Value, *, out_int32: bool = ..., right: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NonzeroStaticOp(OperatorOp):
    """aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor"""

    self: SSAValue
    size_operand: SSAValue | None
    size: Attribute | None
    fill_value: Attribute
    result: OpResult
    def __init__(_op, self: Value, *, size: int | Value, fill_value: int = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _Unique2Op(OperatorOp):
    """aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)"""

    self: SSAValue
    sorted: Attribute
    return_inverse: Attribute
    return_counts: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, self: Value, sorted: bool = ..., return_inverse: bool = ..., return_counts: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UniqueConsecutiveOp(OperatorOp):
    """aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)"""

    self: SSAValue
    return_inverse: Attribute
    return_counts: Attribute
    dim: Attribute | None
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, self: Value, return_inverse: bool = ..., return_counts: bool = ..., dim: int | None = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsinTensorTensorOp(OperatorOp):
    """aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor"""

    elements: SSAValue
    test_elements: SSAValue
    assume_unique: Attribute
    invert: Attribute
    result: OpResult
    def __init__(_op, elements: Value, test_elements: Value, *, assume_unique: bool = ..., invert: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsinTensorScalarOp(OperatorOp):
    """aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor"""

    elements: SSAValue
    test_element_operand: SSAValue | None
    test_element: Attribute | None
    assume_unique: Attribute
    invert: Attribute
    result: OpResult
    def __init__(_op, elements: Value, test_element: complex | Value, *, assume_unique: bool = ..., invert: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class IsinScalarTensorOp(OperatorOp):
    """aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor"""

    element_operand: SSAValue | None
    element: Attribute | None
    test_elements: SSAValue
    assume_unique: Attribute
    invert: Attribute
    result: OpResult
    def __init__(_op, element: complex | Value, test_elements: Value, *, assume_unique: bool = ..., invert: bool = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArgwhereOp(OperatorOp):
    """aten::argwhere(Tensor self) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class WhereOp(OperatorOp):
    """aten::where(Tensor condition) -> Tensor[]"""

    condition: SSAValue
    result: Sequence[OpResult]
    def __init__(_op, condition: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NonzeroNumpyOp(OperatorOp):
    """aten::nonzero_numpy(Tensor self) -> Tensor[]"""

    self: SSAValue
    result: Sequence[OpResult]
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UniqueDimOp(OperatorOp):
    """aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)"""

    self: SSAValue
    dim: Attribute
    sorted: Attribute
    return_inverse: Attribute
    return_counts: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    def __init__(_op, self: Value, dim: int, sorted: bool = ..., return_inverse: bool = ..., return_counts: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmbeddingRenormOp(OperatorOp):
    """aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor"""

    self: SSAValue
    indices: SSAValue
    max_norm: Attribute
    norm_type: Attribute
    result: OpResult
    def __init__(_op, self: Value, indices: Value, max_norm: float, norm_type: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArangeOp(OperatorOp):
    """aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    end_operand: SSAValue | None
    end: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, end: complex | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArangeStartOp(OperatorOp):
    """aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: complex | Value, end: complex | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ArangeStartStepOp(OperatorOp):
    """aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    step_operand: SSAValue | None
    step: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: complex | Value, end: complex | Value, step: complex | Value = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FullOp(OperatorOp):
    """aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    fill_value_operand: SSAValue | None
    fill_value: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], fill_value: complex | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FullLikeOp(OperatorOp):
    """aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    fill_value_operand: SSAValue | None
    fill_value: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, fill_value: complex | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ZerosOp(OperatorOp):
    """aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ZerosLikeOp(OperatorOp):
    """aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class OnesOp(OperatorOp):
    """aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class OnesLikeOp(OperatorOp):
    """aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmptyMemoryFormatOp(OperatorOp):
    """aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmptyLikeOp(OperatorOp):
    """aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmptyStridedOp(OperatorOp):
    """aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], stride: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NewZerosOp(OperatorOp):
    """aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NewOnesOp(OperatorOp):
    """aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NewFullOp(OperatorOp):
    """aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    fill_value_operand: SSAValue | None
    fill_value: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], fill_value: complex | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NewEmptyOp(OperatorOp):
    """aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ScalarTensorOp(OperatorOp):
    """aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    s_operand: SSAValue | None
    s: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, s: complex | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EyeOp(OperatorOp):
    """aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    n_operand: SSAValue | None
    n: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, n: int | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EyeMOp(OperatorOp):
    """aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    n_operand: SSAValue | None
    n: Attribute | None
    m_operand: SSAValue | None
    m: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, n: int | Value, m: int | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinspaceOp(OperatorOp):
    """aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    steps: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: complex | Value, end: complex | Value, steps: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TrilIndicesOp(OperatorOp):
    """aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    row: Attribute
    col: Attribute
    offset: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, row: int, col: int, offset: int = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class TriuIndicesOp(OperatorOp):
    """aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    row: Attribute
    col: Attribute
    offset: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, row: int, col: int, offset: int = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class EmptyPermutedOp(OperatorOp):
    """aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    physical_layout: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], physical_layout: Sequence[int], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NewEmptyStridedOp(OperatorOp):
    """aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    self: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, size: Sequence[int | Value], stride: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinspaceTensorTensorOp(OperatorOp):
    """aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start: SSAValue
    end: SSAValue
    steps: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: Value, end: Value, steps: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinspaceTensorScalarOp(OperatorOp):
    """aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start: SSAValue
    end_operand: SSAValue | None
    end: Attribute | None
    steps: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: Value, end: complex | Value, steps: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LinspaceScalarTensorOp(OperatorOp):
    """aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start_operand: SSAValue | None
    start: Attribute | None
    end: SSAValue
    steps: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: complex | Value, end: Value, steps: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogspaceOp(OperatorOp):
    """aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    steps: Attribute
    base: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: complex | Value, end: complex | Value, steps: int, base: float = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogspaceTensorTensorOp(OperatorOp):
    """aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start: SSAValue
    end: SSAValue
    steps: Attribute
    base: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: Value, end: Value, steps: int, base: float = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogspaceTensorScalarOp(OperatorOp):
    """aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start: SSAValue
    end_operand: SSAValue | None
    end: Attribute | None
    steps: Attribute
    base: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: Value, end: complex | Value, steps: int, base: float = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogspaceScalarTensorOp(OperatorOp):
    """aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start_operand: SSAValue | None
    start: Attribute | None
    end: SSAValue
    steps: Attribute
    base: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: complex | Value, end: Value, steps: int, base: float = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CartesianProdOp(OperatorOp):
    """aten::cartesian_prod(Tensor[] tensors) -> Tensor"""

    tensors: Sequence[SSAValue]
    result: OpResult
    def __init__(_op, tensors: Sequence[Value], *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CombinationsOp(OperatorOp):
    """aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor"""

    self: SSAValue
    r: Attribute
    with_replacement: Attribute
    result: OpResult
    def __init__(_op, self: Value, r: int = ..., with_replacement: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class KaiserWindowOp(OperatorOp):
    """aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class KaiserWindowPeriodicOp(OperatorOp):
    """aten::kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class KaiserWindowBetaOp(OperatorOp):
    """aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    beta: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, beta: float, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HannWindowOp(OperatorOp):
    """aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HannWindowPeriodicOp(OperatorOp):
    """aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HammingWindowOp(OperatorOp):
    """aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HammingWindowPeriodicOp(OperatorOp):
    """aten::hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HammingWindowPeriodicAlphaOp(OperatorOp):
    """aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    alpha: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, alpha: float, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class HammingWindowPeriodicAlphaBetaOp(OperatorOp):
    """aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    alpha: Attribute
    beta: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, alpha: float, beta: float, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BlackmanWindowOp(OperatorOp):
    """aten::blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BlackmanWindowPeriodicOp(OperatorOp):
    """aten::blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BartlettWindowOp(OperatorOp):
    """aten::bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BartlettWindowPeriodicOp(OperatorOp):
    """aten::bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    window_length: Attribute
    periodic: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, window_length: int, periodic: bool, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RangeStepOp(OperatorOp):
    """aten::range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    start_operand: SSAValue | None
    start: Attribute | None
    end_operand: SSAValue | None
    end: Attribute | None
    step_operand: SSAValue | None
    step: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, start: complex | Value, end: complex | Value, step: complex | Value = ..., *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandOp(OperatorOp):
    """aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandnOp(OperatorOp):
    """aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandLikeOp(OperatorOp):
    """aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandnLikeOp(OperatorOp):
    """aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandintOp(OperatorOp):
    """aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    high_operand: SSAValue | None
    high: Attribute | None
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, high: int | Value, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandintLowOp(OperatorOp):
    """aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    low_operand: SSAValue | None
    low: Attribute | None
    high_operand: SSAValue | None
    high: Attribute | None
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, low: int | Value, high: int | Value, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandintLikeOp(OperatorOp):
    """aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    high_operand: SSAValue | None
    high: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, high: int | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandintLikeLowDtypeOp(OperatorOp):
    """aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"""

    self: SSAValue
    low_operand: SSAValue | None
    low: Attribute | None
    high_operand: SSAValue | None
    high: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    memory_format: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, low: int | Value, high: int | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., memory_format: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandpermOp(OperatorOp):
    """aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    n_operand: SSAValue | None
    n: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, n: int | Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BernoulliOp(OperatorOp):
    """aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BernoulliPOp(OperatorOp):
    """aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    p: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class BernoulliTensorOp(OperatorOp):
    """aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    p: SSAValue
    result: OpResult
    def __init__(_op, self: Value, p: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormalFunctionalOp(OperatorOp):
    """aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    mean: Attribute
    std: Attribute
    result: OpResult
    def __init__(_op, self: Value, mean: float = ..., std: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class MultinomialOp(OperatorOp):
    """aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    num_samples_operand: SSAValue | None
    num_samples: Attribute | None
    replacement: Attribute
    result: OpResult
    def __init__(_op, self: Value, num_samples: int | Value, replacement: bool = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ExponentialOp(OperatorOp):
    """aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    lambd: Attribute
    result: OpResult
    def __init__(_op, self: Value, lambd: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormalTensorFloatOp(OperatorOp):
    """aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor"""

    mean: SSAValue
    std: Attribute
    result: OpResult
    def __init__(_op, mean: Value, std: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormalFloatTensorOp(OperatorOp):
    """aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor"""

    mean: Attribute
    std: SSAValue
    result: OpResult
    def __init__(_op, mean: float, std: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormalTensorTensorOp(OperatorOp):
    """aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor"""

    mean: SSAValue
    std: SSAValue
    result: OpResult
    def __init__(_op, mean: Value, std: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NormalFloatFloatOp(OperatorOp):
    """aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"""

    mean: Attribute
    std: Attribute
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    result: OpResult
    def __init__(_op, mean: float, std: float, size: Sequence[int | Value], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class CauchyOp(OperatorOp):
    """aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    median: Attribute
    sigma: Attribute
    result: OpResult
    def __init__(_op, self: Value, median: float = ..., sigma: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GeometricOp(OperatorOp):
    """aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    p: Attribute
    result: OpResult
    def __init__(_op, self: Value, p: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class LogNormalOp(OperatorOp):
    """aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    mean: Attribute
    std: Attribute
    result: OpResult
    def __init__(_op, self: Value, mean: float = ..., std: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class UniformOp(OperatorOp):
    """aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    from_: Attribute
    to: Attribute
    result: OpResult
    def __init__(_op, self: Value, from_: float = ..., to: float = ..., *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandomOp(OperatorOp):
    """aten::random(Tensor self, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandomFromOp(OperatorOp):
    """aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    from_: Attribute
    to: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, from_: int, to: int | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class RandomToOp(OperatorOp):
    """aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor"""

    self: SSAValue
    to: Attribute
    result: OpResult
    def __init__(_op, self: Value, to: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DropoutOp(OperatorOp):
    """aten::dropout(Tensor input, float p, bool train) -> Tensor"""

    input: SSAValue
    p: Attribute
    train: Attribute
    result: OpResult
    def __init__(_op, input: Value, p: float, train: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FeatureDropoutOp(OperatorOp):
    """aten::feature_dropout(Tensor input, float p, bool train) -> Tensor"""

    input: SSAValue
    p: Attribute
    train: Attribute
    result: OpResult
    def __init__(_op, input: Value, p: float, train: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class AlphaDropoutOp(OperatorOp):
    """aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor"""

    input: SSAValue
    p: Attribute
    train: Attribute
    result: OpResult
    def __init__(_op, input: Value, p: float, train: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FeatureAlphaDropoutOp(OperatorOp):
    """aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor"""

    input: SSAValue
    p: Attribute
    train: Attribute
    result: OpResult
    def __init__(_op, input: Value, p: float, train: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeDropoutBackwardOp(OperatorOp):
    """aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor"""

    grad_output: SSAValue
    mask: SSAValue
    scale: Attribute
    result: OpResult
    def __init__(_op, grad_output: Value, mask: Value, scale: float, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class NativeDropoutOp(OperatorOp):
    """aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)"""

    input: SSAValue
    p: Attribute
    train: Attribute | None
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, input: Value, p: float, train: bool | None, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SymSizeIntOp(OperatorOp):
    """aten::sym_size.int(Tensor self, int dim) -> SymInt"""

    self: SSAValue
    dim: Attribute
    result: OpResult
    def __init__(_op, self: Value, dim: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SymNumelOp(OperatorOp):
    """aten::sym_numel(Tensor self) -> SymInt"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ItemOp(OperatorOp):
    """aten::item(Tensor self) -> Scalar"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LocalScalarDenseOp(OperatorOp):
    """aten::_local_scalar_dense(Tensor self) -> Scalar"""

    self: SSAValue
    result: OpResult
    def __init__(_op, self: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AssertScalarOp(OperatorOp):
    """aten::_assert_scalar(Scalar self, str assert_msg) -> ()"""

    self_operand: SSAValue | None
    self: Attribute | None
    assert_msg: Attribute
    def __init__(_op, self: complex | Value, assert_msg: str, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _PrintOp(OperatorOp):
    """aten::_print(str s) -> ()"""

    s: Attribute
    def __init__(_op, s: str, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AssertAsyncMsgOp(OperatorOp):
    """aten::_assert_async.msg(Tensor self, str assert_msg) -> ()"""

    self: SSAValue
    assert_msg: Attribute
    def __init__(_op, self: Value, assert_msg: str, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _AssertTensorMetadataOp(OperatorOp):
    """aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()"""

    a: SSAValue
    size_operand: Sequence[SSAValue]
    size: Attribute | None
    stride_operand: Sequence[SSAValue]
    stride: Attribute | None
    dtype: Attribute | None
    device: Attribute | None
    layout: Attribute | None
    def __init__(_op, a: Value, size: Sequence[int | Value] | None = ..., stride: Sequence[int | Value] | None = ..., dtype: DType | None = ..., *, device: str | None = ..., layout: str | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SymConstrainRangeForSizeOp(OperatorOp):
    """aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()"""

    size_operand: SSAValue | None
    size: Attribute | None
    min: Attribute | None
    max: Attribute | None
    def __init__(_op, size: complex | Value, *, min: int | None = ..., max: int | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class SymConstrainRangeOp(OperatorOp):
    """aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()"""

    size_operand: SSAValue | None
    size: Attribute | None
    min: Attribute | None
    max: Attribute | None
    def __init__(_op, size: complex | Value, *, min: int | None = ..., max: int | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FakeQuantizePerTensorAffineOp(OperatorOp):
    """aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor"""

    self: SSAValue
    scale: Attribute
    zero_point: Attribute
    quant_min: Attribute
    quant_max: Attribute
    result: OpResult
    def __init__(_op, self: Value, scale: float, zero_point: int, quant_min: int, quant_max: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FakeQuantizePerTensorAffineCachemaskOp(OperatorOp):
    """aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> (Tensor output, Tensor mask)"""

    self: SSAValue
    scale: Attribute
    zero_point: Attribute
    quant_min: Attribute
    quant_max: Attribute
    output: OpResult
    mask: OpResult
    def __init__(_op, self: Value, scale: float, zero_point: int, quant_min: int, quant_max: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FakeQuantizePerTensorAffineTensorQparamsOp(OperatorOp):
    """aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> Tensor"""

    self: SSAValue
    scale: SSAValue
    zero_point: SSAValue
    quant_min: Attribute
    quant_max: Attribute
    result: OpResult
    def __init__(_op, self: Value, scale: Value, zero_point: Value, quant_min: int, quant_max: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _FakeQuantizePerTensorAffineCachemaskTensorQparamsOp(OperatorOp):
    """aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)"""

    self: SSAValue
    scale: SSAValue
    zero_point: SSAValue
    fake_quant_enabled: SSAValue
    quant_min: Attribute
    quant_max: Attribute
    output: OpResult
    mask: OpResult
    def __init__(_op, self: Value, scale: Value, zero_point: Value, fake_quant_enabled: Value, quant_min: int, quant_max: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FakeQuantizePerChannelAffineOp(OperatorOp):
    """aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> Tensor"""

    self: SSAValue
    scale: SSAValue
    zero_point: SSAValue
    axis: Attribute
    quant_min: Attribute
    quant_max: Attribute
    result: OpResult
    def __init__(_op, self: Value, scale: Value, zero_point: Value, axis: int, quant_min: int, quant_max: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class FakeQuantizePerChannelAffineCachemaskOp(OperatorOp):
    """aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)"""

    self: SSAValue
    scale: SSAValue
    zero_point: SSAValue
    axis: Attribute
    quant_min: Attribute
    quant_max: Attribute
    output: OpResult
    mask: OpResult
    def __init__(_op, self: Value, scale: Value, zero_point: Value, axis: int, quant_min: int, quant_max: int, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _ToDimOrderCopyOp(OperatorOp):
    """dim_order_ops::_to_dim_order_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, int[]? dim_order=None) -> Tensor"""

    self: SSAValue
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    non_blocking: Attribute
    dim_order: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., non_blocking: bool = ..., dim_order: Sequence[int] | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _CloneDimOrderOp(OperatorOp):
    """dim_order_ops::_clone_dim_order(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor"""

    self: SSAValue
    non_blocking: Attribute
    dim_order: Attribute | None
    result: OpResult
    def __init__(_op, self: Value, *, non_blocking: bool = ..., dim_order: Sequence[int] | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _EmptyDimOrderOp(OperatorOp):
    """dim_order_ops::_empty_dim_order(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, int[]? dim_order=None) -> Tensor"""

    size: Attribute
    dtype: Attribute | None
    layout: Attribute | None
    device: Attribute | None
    pin_memory: Attribute | None
    dim_order: Attribute | None
    result: OpResult
    def __init__(_op, size: Sequence[int], *, dtype: DType | None = ..., layout: str | None = ..., device: str | None = ..., pin_memory: bool | None = ..., dim_order: Sequence[int] | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class QuantizePerTensorOp(OperatorOp):
    """quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor"""

    input: SSAValue
    scale: Attribute
    zero_point: Attribute
    quant_min: Attribute
    quant_max: Attribute
    dtype: Attribute
    result: OpResult
    def __init__(_op, input: Value, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class QuantizePerTensorTensorOp(OperatorOp):
    """quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor"""

    input: SSAValue
    scale: SSAValue
    zero_point: SSAValue
    quant_min: Attribute
    quant_max: Attribute
    dtype: Attribute
    result: OpResult
    def __init__(_op, input: Value, scale: Value, zero_point: Value, quant_min: int, quant_max: int, dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DequantizePerTensorOp(OperatorOp):
    """quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"""

    input: SSAValue
    scale: Attribute
    zero_point: Attribute
    quant_min: Attribute
    quant_max: Attribute
    dtype: Attribute
    out_dtype: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: DType, *, out_dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DequantizePerTensorTensorOp(OperatorOp):
    """quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"""

    input: SSAValue
    scale: SSAValue
    zero_point: SSAValue
    quant_min: Attribute
    quant_max: Attribute
    dtype: Attribute
    out_dtype: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, scale: Value, zero_point: Value, quant_min: int, quant_max: int, dtype: DType, *, out_dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class QuantizePerChannelOp(OperatorOp):
    """quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor"""

    input: SSAValue
    scales: SSAValue
    zero_points: SSAValue
    axis: Attribute
    quant_min: Attribute
    quant_max: Attribute
    dtype: Attribute
    result: OpResult
    def __init__(_op, input: Value, scales: Value, zero_points: Value, axis: int, quant_min: int, quant_max: int, dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class DequantizePerChannelOp(OperatorOp):
    """quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"""

    input: SSAValue
    scales: SSAValue
    zero_points: SSAValue | None
    axis: Attribute
    quant_min: Attribute
    quant_max: Attribute
    dtype: Attribute
    out_dtype: Attribute | None
    result: OpResult
    def __init__(_op, input: Value, scales: Value, zero_points: Value | None, axis: int, quant_min: int, quant_max: int, dtype: DType, *, out_dtype: DType | None = ..., result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class ChooseQparamsTensorOp(OperatorOp):
    """quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)"""

    input: SSAValue
    quant_min: Attribute
    quant_max: Attribute
    eps: Attribute
    dtype: Attribute
    result_0: OpResult
    result_1: OpResult
    def __init__(_op, input: Value, quant_min: int, quant_max: int, eps: float, dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinearCrossEntropyBatchChunkedOp(OperatorOp):
    """torch_nn::_linear_cross_entropy_batch_chunked(Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight, str reduction, SymInt ignore_index, float label_smoothing, SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype, bool allow_retain_graph, bool compute_input_grad, bool compute_linear_weight_grad, bool compute_linear_bias_grad) -> (Tensor, Tensor, Tensor, Tensor)"""

    input: SSAValue
    linear_weight: SSAValue
    target: SSAValue
    linear_bias: SSAValue | None
    weight: SSAValue | None
    reduction: Attribute
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    label_smoothing: Attribute
    batch_chunk_size_operand: SSAValue | None
    batch_chunk_size: Attribute | None
    acc_policy: Attribute
    acc_dtype: Attribute
    allow_retain_graph: Attribute
    compute_input_grad: Attribute
    compute_linear_weight_grad: Attribute
    compute_linear_bias_grad: Attribute
    result_0: OpResult
    result_1: OpResult
    result_2: OpResult
    result_3: OpResult
    def __init__(_op, input: Value, linear_weight: Value, target: Value, linear_bias: Value | None, weight: Value | None, reduction: str, ignore_index: int | Value, label_smoothing: float, batch_chunk_size: int | Value, acc_policy: str, acc_dtype: DType, allow_retain_graph: bool, compute_input_grad: bool, compute_linear_weight_grad: bool, compute_linear_bias_grad: bool, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class _LinearCrossEntropyBatchChunkedNoReductionOp(OperatorOp):
    """torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight, SymInt ignore_index, SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype) -> Tensor"""

    input: SSAValue
    linear_weight: SSAValue
    target: SSAValue
    linear_bias: SSAValue | None
    weight: SSAValue | None
    ignore_index_operand: SSAValue | None
    ignore_index: Attribute | None
    batch_chunk_size_operand: SSAValue | None
    batch_chunk_size: Attribute | None
    acc_policy: Attribute
    acc_dtype: Attribute
    result: OpResult
    def __init__(_op, input: Value, linear_weight: Value, target: Value, linear_bias: Value | None, weight: Value | None, ignore_index: int | Value, batch_chunk_size: int | Value, acc_policy: str, acc_dtype: DType, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...

class GroupedMmFallbackOp(OperatorOp):
    """transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor"""

    input: SSAValue
    weight: SSAValue
    offs: SSAValue
    result: OpResult
    def __init__(_op, input: Value, weight: Value, offs: Value, *, result_types: Sequence[Attribute] | None = ..., attributes: Mapping[str, Attribute] | None = ...) -> None: ...
