# Made from the operator spec by `python -m xdsl_exir.dialects.stubs`. Do not edit.
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Dialect, Operation, OpResult, SSAValue

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp

Value = SSAValue | Operation

OPERATORS: OperatorDialect

def dialect() -> Dialect: ...

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
