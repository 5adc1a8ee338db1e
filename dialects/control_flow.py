"""The `higher_order` dialect: PyTorch's operators that take functions, with the functions as regions.

Names, order of operands and meaning are PyTorch's (`torch/_higher_order_ops`): `cond`, `while_loop`, `map`, `scan` and
their kin. As in Export IR a function sees nothing of the graph around it: regions are isolated from above, of one block
each, and what they use comes in as an operand and is a block argument of every region. Operations do what is in their
regions and nothing more. Becoming `scf` is left to lowering.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr, TensorType, f64
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.canonicalization import Canonicalizes
from xdsl_exir.dialects.meta import same_size
from xdsl_exir.dialects.region_types import (
    Types,
    argument_types,
    check_predicate,
    check_types,
    leading_dimension,
    may_carry,
    slice_type,
    stack_type,
    types_of,
)
from xdsl_exir.dialects.tensors import (
    TensorMeta,
    is_tensor_type,
    tensor_meta,
    tensor_type,
)


def yielded_types(region: Region) -> list[Attribute]:
    """Types that a region yields. Raises `VerifyException` where it does not end in a yield."""
    last = region.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"a region ends in {YieldOp.name}")
    return types_of(last.values)


def shared_arguments(op: Operation) -> list[tuple[SSAValue, SSAValue]]:
    """Operands that regions see as they are, whichever turn it is, each with the argument of a region that is it."""
    match op:
        case CondOp():
            pairs = [(region, op.inputs, 0) for region in op.regions]
        case LoopOp():
            pairs = [(region, op.additional_inputs, len(op.carried_inputs)) for region in op.regions]
        case MapOp():
            pairs = [(op.body_region, op.pos_args, len(op.xs))]
        case ScanOp():
            pairs = [(op.combine_region, op.additional_inputs, len(op.init) + len(op.xs))]
        case AssociativeScanOp():
            pairs = [(op.combine_region, op.additional_inputs, 2 * len(op.xs))]
        case _:
            pairs = []
    return [
        pair
        for region, operands, first in pairs
        for pair in zip(operands, region.block.args[first:], strict=True)
    ]


# --- operations ----------------------------------------------------------------------------------------------


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region with its results.

    ```mlir
    higher_order.yield %0, %1 : tensor<3xf32>, tensor<f32>
    ```
    """

    name = "higher_order.yield"

    values = var_operand_def()

    traits = lazy_traits_def(lambda: (IsTerminator(), Pure(), HasParent(*OPERATIONS)))

    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


@irdl_op_definition
class CondOp(IRDLOperation):
    """`torch.cond(pred, true_fn, false_fn, operands)`: one of two functions, as a boolean says.

    ```mlir
    %y = higher_order.cond %p : tensor<i1> inputs(%x : tensor<3xf32>) -> tensor<3xf32> {
    ^bb0(%a : tensor<3xf32>):
      %b = aten.sin(%a) : (tensor<3xf32>) -> tensor<3xf32>
      higher_order.yield %b : tensor<3xf32>
    } else {
    ^bb1(%c : tensor<3xf32>):
      %d = aten.cos(%c) : (tensor<3xf32>) -> tensor<3xf32>
      higher_order.yield %d : tensor<3xf32>
    }
    ```
    """

    name = "higher_order.cond"

    pred = operand_def()
    inputs = var_operand_def()
    true_region = region_def("single_block")
    false_region = region_def("single_block")
    outputs = var_result_def()

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect(), Canonicalizes())

    assembly_format = (
        "$pred `:` type($pred) (`inputs` `(` $inputs^ `:` type($inputs) `)`)? (`->` type($outputs)^)? "
        "attr-dict-with-keyword $true_region `else` $false_region"
    )

    def __init__(
        self,
        pred: SSAValue,
        inputs: Sequence[SSAValue],
        true_region: Region,
        false_region: Region,
        result_types: Types,
    ):
        super().__init__(
            operands=[pred, inputs], regions=[true_region, false_region], result_types=[result_types]
        )

    def verify_(self) -> None:
        check_predicate("pred", self.pred.type)
        for what, region in (("true region", self.true_region), ("false region", self.false_region)):
            check_types(f"arguments of the {what}", argument_types(region), types_of(self.inputs))
            check_types(f"yield of the {what}", yielded_types(region), types_of(self.outputs))


class LoopOp(IRDLOperation):
    """What the two forms of `while_loop` share: a condition and a body over carried and additional values."""

    carried_inputs = var_operand_def()
    additional_inputs = var_operand_def()
    cond_region = region_def("single_block")
    body_region = region_def("single_block")
    outputs = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect(), Canonicalizes())

    assembly_format = (
        "(`carried` `(` $carried_inputs^ `:` type($carried_inputs) `)`)? "
        "(`additional` `(` $additional_inputs^ `:` type($additional_inputs) `)`)? "
        "(`->` type($outputs)^)? attr-dict-with-keyword $cond_region `do` $body_region"
    )

    def __init__(
        self,
        carried_inputs: Sequence[SSAValue],
        additional_inputs: Sequence[SSAValue],
        cond_region: Region,
        body_region: Region,
        result_types: Types,
    ):
        super().__init__(
            operands=[carried_inputs, additional_inputs],
            regions=[cond_region, body_region],
            result_types=[result_types],
        )

    def verify_(self) -> None:
        inputs = types_of([*self.carried_inputs, *self.additional_inputs])
        carried = types_of(self.carried_inputs)
        for what, region in (("condition", self.cond_region), ("body", self.body_region)):
            check_types(f"arguments of the {what}", inputs, argument_types(region), may_carry)
        decided = yielded_types(self.cond_region)
        if len(decided) != 1:
            raise VerifyException(f"the condition yields {len(decided)} values, not one")
        check_predicate("yield of the condition", decided[0])
        check_types("yield of the body", yielded_types(self.body_region), carried, may_carry)
        self.verify_outputs(carried)

    def verify_outputs(self, carried: Types) -> None:
        """Raises `VerifyException` where the results do not fit the carried values."""
        check_types("results", types_of(self.outputs), carried, may_carry)


@irdl_op_definition
class WhileLoopOp(LoopOp):
    """`while_loop(cond_fn, body_fn, carried_inputs, additional_inputs)`: a body, as long as a condition holds.

    The first region gives the condition, the second the carried values of the next turn; both get the carried and the
    additional values. The results are the carried values at the end.

    ```mlir
    %i_1, %y = higher_order.while_loop carried(%i, %x : tensor<i64>, tensor<3xf32>) additional(%w : tensor<3xf32>)
        -> tensor<i64>, tensor<3xf32> {
    ^bb0(%j : tensor<i64>, %a : tensor<3xf32>, %b : tensor<3xf32>):
      %c = aten.lt.Scalar(%j, other = 5) : (tensor<i64>) -> tensor<i1>
      higher_order.yield %c : tensor<i1>
    } do {
    ^bb1(%j : tensor<i64>, %a : tensor<3xf32>, %b : tensor<3xf32>):
      ...
      higher_order.yield %k, %d : tensor<i64>, tensor<3xf32>
    }
    ```
    """

    name = "higher_order.while_loop"


@irdl_op_definition
class WhileLoopStackOutputOp(LoopOp):
    """`while_loop` that gives the carried values of every turn, stacked along a new leading dimension.

    Of a loop without a turn the results are the carried inputs, with a leading dimension of 1.

    ```mlir
    %y = higher_order.while_loop_stack_output carried(%x : tensor<3xf32>)
        -> tensor<?x3xf32, #exir.shape<[u0, 3]>> {
      ...
    } do {
      ...
    }
    ```
    """

    name = "higher_order.while_loop_stack_output"

    def verify_outputs(self, carried: Types) -> None:
        outputs = types_of(self.outputs)
        if outputs:
            leading_dimension(outputs)
        check_types("results", [slice_type(type) for type in outputs], carried)


@irdl_op_definition
class MapOp(IRDLOperation):
    """`map_impl(f, xs, pos_args)`: a function of every element along the leading dimension of `xs`.

    The results are stacked along a new leading dimension.

    ```mlir
    %y = higher_order.map xs(%x : tensor<4x3xf32>) args(%w : tensor<3xf32>) -> tensor<4x3xf32> {
    ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
      %c = aten.mul.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      higher_order.yield %c : tensor<3xf32>
    }
    ```
    """

    name = "higher_order.map"

    xs = var_operand_def(TensorType)
    pos_args = var_operand_def()
    body_region = region_def("single_block")
    outputs = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect(), Canonicalizes())

    assembly_format = (
        "`xs` `(` $xs `:` type($xs) `)` (`args` `(` $pos_args^ `:` type($pos_args) `)`)? "
        "(`->` type($outputs)^)? attr-dict-with-keyword $body_region"
    )

    def __init__(
        self, xs: Sequence[SSAValue], pos_args: Sequence[SSAValue], body_region: Region, result_types: Types
    ):
        super().__init__(operands=[xs, pos_args], regions=[body_region], result_types=[result_types])

    def verify_(self) -> None:
        xs = types_of(self.xs)
        length = leading_dimension(xs)
        inputs = [*map(slice_type, xs), *types_of(self.pos_args)]
        check_types("arguments of the body", argument_types(self.body_region), inputs)
        expected = [stack_type(type, length) for type in yielded_types(self.body_region)]
        check_types("results", types_of(self.outputs), expected)


@irdl_op_definition
class ScanOp(IRDLOperation):
    """`scan(combine_fn, init, xs, additional_inputs)`: a function folded over the leading dimension of `xs`.

    The region gets the carried values, one element of each of `xs`, and the additional values; it yields the next carried
    values, then outputs. The results are the last carried values, then the outputs of all steps, stacked along a new
    leading dimension.

    ```mlir
    %last, %ys = higher_order.scan init(%i : tensor<3xf32>) xs(%x : tensor<4x3xf32>)
        -> tensor<3xf32>, tensor<4x3xf32> {
    ^bb0(%carry : tensor<3xf32>, %a : tensor<3xf32>):
      %b = aten.add.Tensor(%carry, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %c = aten.sin(%b) : (tensor<3xf32>) -> tensor<3xf32>
      higher_order.yield %b, %c : tensor<3xf32>, tensor<3xf32>
    }
    ```
    """

    name = "higher_order.scan"

    init = var_operand_def()
    xs = var_operand_def(TensorType)
    additional_inputs = var_operand_def()
    combine_region = region_def("single_block")
    outputs = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect(), Canonicalizes())

    assembly_format = (
        "(`init` `(` $init^ `:` type($init) `)`)? `xs` `(` $xs `:` type($xs) `)` "
        "(`additional` `(` $additional_inputs^ `:` type($additional_inputs) `)`)? "
        "(`->` type($outputs)^)? attr-dict-with-keyword $combine_region"
    )

    def __init__(
        self,
        init: Sequence[SSAValue],
        xs: Sequence[SSAValue],
        additional_inputs: Sequence[SSAValue],
        combine_region: Region,
        result_types: Types,
    ):
        super().__init__(
            operands=[init, xs, additional_inputs], regions=[combine_region], result_types=[result_types]
        )

    def verify_(self) -> None:
        init, xs = types_of(self.init), types_of(self.xs)
        length = leading_dimension(xs)
        inputs = [*init, *map(slice_type, xs), *types_of(self.additional_inputs)]
        check_types("arguments of the combine region", inputs, argument_types(self.combine_region), may_carry)
        yielded, outputs = yielded_types(self.combine_region), types_of(self.outputs)
        count = len(init)
        check_types("carried values of the yield", yielded[:count], init, may_carry)
        check_types("carried results", outputs[:count], init, may_carry)
        stacked = [stack_type(type, length) for type in yielded[count:]]
        check_types("stacked results", outputs[count:], stacked)


@irdl_op_definition
class AssociativeScanOp(IRDLOperation):
    """`associative_scan(combine_fn, xs, additional_inputs)`: all prefixes of `xs`, combined by an associative function.

    The region gets two elements of each of `xs`, first all left ones, and the additional values; it yields the two
    combined. The order in which elements are combined is not fixed.

    ```mlir
    %y = higher_order.associative_scan xs(%x : tensor<4x3xf32>) -> tensor<4x3xf32> {
    ^bb0(%a : tensor<3xf32>, %b : tensor<3xf32>):
      %c = aten.add.Tensor(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      higher_order.yield %c : tensor<3xf32>
    }
    ```
    """

    name = "higher_order.associative_scan"

    xs = var_operand_def(TensorType)
    additional_inputs = var_operand_def()
    combine_region = region_def("single_block")
    outputs = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect(), Canonicalizes())

    assembly_format = (
        "`xs` `(` $xs `:` type($xs) `)` (`additional` `(` $additional_inputs^ `:` type($additional_inputs) `)`)? "
        "(`->` type($outputs)^)? attr-dict-with-keyword $combine_region"
    )

    def __init__(
        self,
        xs: Sequence[SSAValue],
        additional_inputs: Sequence[SSAValue],
        combine_region: Region,
        result_types: Types,
    ):
        super().__init__(
            operands=[xs, additional_inputs], regions=[combine_region], result_types=[result_types]
        )

    def verify_(self) -> None:
        xs = types_of(self.xs)
        leading_dimension(xs)
        slices = [slice_type(type) for type in xs]
        inputs = [*slices, *slices, *types_of(self.additional_inputs)]
        check_types("arguments of the combine region", argument_types(self.combine_region), inputs)
        check_types("yield", yielded_types(self.combine_region), slices)
        check_types("results", types_of(self.outputs), xs)


INDEX = tensor_type((), dt.Int)
"""The type of an index that a function of `flex_attention` gets."""


def score_type(query: Attribute) -> Attribute:
    """The type of one score of a query: at least Float, whichever dtype the query has."""
    return tensor_type((), working_dtype(query), None, tensor_meta(query).device)


def working_dtype(query: Attribute) -> dt.DType:
    """The dtype that `flex_attention` computes scores in."""
    return dt.Double if tensor_meta(query).dtype is dt.Double else dt.Float


@irdl_op_definition
class FlexAttentionOp(IRDLOperation):
    """`flex_attention(query, key, value, score_mod, block_mask, scale)`: attention with functions of its scores.

    Query is `[B, Hq, L, E]`, key `[B or 1, H, S, E]`, value `[B or 1, H, S, Ev]`; `Hq` is a multiple of `H`. The first region
    gives a score from a score (`scale` times the product of query and key) and its four indices, the second from the indices
    whether it counts; both get additional values. Results are the attention `[B, Hq, L, Ev]`, the logarithm to base 2 of
    the softmax' denominators, `[B, Hq, L]`, and the largest scores, divided by the logarithm of 2, `[B, Hq, L]`.

    ```mlir
    %y, %lse, %max = higher_order.flex_attention %q, %k, %v : tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>
        scale = 5.000000e-01 : f64 -> tensor<1x2x8x4xf32>, tensor<1x2x8xf32>, tensor<1x2x8xf32> {
    ^bb0(%score : tensor<f32>, %b : tensor<i32>, %h : tensor<i32>, %i : tensor<i32>, %j : tensor<i32>):
      higher_order.yield %score : tensor<f32>
    } mask {
    ^bb1(%b : tensor<i32>, %h : tensor<i32>, %i : tensor<i32>, %j : tensor<i32>):
      %counts = aten.ge.Tensor(%i, %j) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      higher_order.yield %counts : tensor<i1>
    }
    ```
    """

    name = "higher_order.flex_attention"

    query = operand_def(TensorType)
    key = operand_def(TensorType)
    value = operand_def(TensorType)
    score_args = var_operand_def()
    mask_args = var_operand_def()
    scale = prop_def(FloatAttr)
    score_region = region_def("single_block")
    mask_region = region_def("single_block")
    outputs = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect(), Canonicalizes())

    assembly_format = (
        "$query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) "
        "(`score_args` `(` $score_args^ `:` type($score_args) `)`)? "
        "(`mask_args` `(` $mask_args^ `:` type($mask_args) `)`)? "
        "`scale` `=` $scale `->` type($outputs) attr-dict-with-keyword $score_region `mask` $mask_region"
    )

    def __init__(
        self,
        query: SSAValue,
        key: SSAValue,
        value: SSAValue,
        score_args: Sequence[SSAValue],
        mask_args: Sequence[SSAValue],
        scale: float,
        score_region: Region,
        mask_region: Region,
    ):
        metas = tensor_meta(query.type), tensor_meta(value.type)
        types = FlexAttentionOp.results_of(*metas, working_dtype(query.type))
        super().__init__(
            operands=[query, key, value, score_args, mask_args],
            properties={"scale": FloatAttr(scale, f64)},
            regions=[score_region, mask_region],
            result_types=[types],
        )

    def verify_(self) -> None:
        query, key, value = (tensor_meta(each.type) for each in (self.query, self.key, self.value))
        if not query.ndim == key.ndim == value.ndim == 4:
            raise VerifyException("query, key and value have 4 dimensions")
        if not same_size(query.shape[3], key.shape[3]) or not same_size(key.shape[2], value.shape[2]):
            raise VerifyException(
                "query and key differ in their last dimension, or key and value in the one before"
            )
        for what, one, other in (("keys", key, value), ("queries", query, key)):
            if (
                isinstance(one.shape[1], int)
                and isinstance(other.shape[1], int)
                and one.shape[1] % other.shape[1]
            ):
                raise VerifyException(f"{other.shape[1]} heads do not divide {one.shape[1]} heads of {what}")
        score, indices = score_type(self.query.type), [INDEX] * 4
        expected = [score, *indices, *types_of(self.score_args)]
        check_types("arguments of the score region", argument_types(self.score_region), expected)
        expected = [*indices, *types_of(self.mask_args)]
        check_types("arguments of the mask region", argument_types(self.mask_region), expected)
        scored, counts = yielded_types(self.score_region), yielded_types(self.mask_region)
        if len(scored) != 1 or not is_tensor_type(scored[0]) or tensor_meta(scored[0]).shape:
            raise VerifyException("the score region yields one score")
        check_types("yield of the mask region", counts, [tensor_type((), dt.Bool)])
        made = FlexAttentionOp.results_of(query, value, working_dtype(self.query.type))
        check_types("results", types_of(self.outputs), made)

    @staticmethod
    def results_of(query: TensorMeta, value: TensorMeta, working: dt.DType) -> list[Attribute]:
        """Types of the results."""
        rows = tensor_type(query.shape[:-1], working, None, query.device)
        return [
            tensor_type((*query.shape[:-1], value.shape[-1]), query.dtype, None, query.device),
            rows,
            rows,
        ]


OPERATIONS: tuple[type[IRDLOperation], ...] = (
    CondOp,
    WhileLoopOp,
    WhileLoopStackOutputOp,
    MapOp,
    ScanOp,
    AssociativeScanOp,
    FlexAttentionOp,
)
"""The operations with regions."""


def dialect() -> Dialect:
    """The xDSL dialect."""
    return Dialect("higher_order", [YieldOp, *OPERATIONS], [])
