"""`kernel-forms`: operators in the forms that fast kernels take, at edge, before a program is cut into dispatches.

    mm(f16, f16)                        becomes    _to_copy(mm(_to_copy(f16) : f32, ...)) : f16
    addmm(x, a, b, alpha = 2)           becomes    x + 2 * mm(a, b), but of float32 without factors, whose kernel adds
    a batch norm after a convolution    becomes    part of its weight and bias (`fold-batch-norm`)
    convolutions                        become     ones that have kernels (`convolution_forms`)
    transforms of several dimensions    become     one after the other (`fourier_forms`)
    pow(x, 2)                           becomes    x * x

What is made of weights is written as operators of weights, for constants to be folded. A rule says KEEP where it has no
better form. All of them hold for symbolic sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import dce

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder, Namespace, Results, flat_results, meta, sizes
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.bodies import BodiesInPlace
from xdsl_exir.lowering.dispatches.views import is_view
from xdsl_exir.targets.cpu.convolution_forms import CONVOLUTION_FORMS
from xdsl_exir.targets.cpu.distance_forms import DISTANCE_FORMS
from xdsl_exir.targets.cpu.fourier_forms import FOURIER_FORMS
from xdsl_exir.targets.cpu.order_forms import ORDER_FORMS
from xdsl_exir.targets.cpu.quantized_forms import QUANTIZED_FORMS, keep_integers
from xdsl_exir.targets.cpu.row_forms import ROW_FORMS, WITH_KERNELS, Arguments, Form, narrowed
from xdsl_exir.targets.cpu.scan_forms import SCAN_FORMS
from xdsl_exir.transforms.canonicalization import is_apart
from xdsl_exir.transforms.decompositions.pointwise import KERNEL_POWERS
from xdsl_exir.transforms.decompositions.view import Sizes
from xdsl_exir.transforms.fold_batch_norm import FoldBatchNorm
from xdsl_exir.transforms.matching import is_tensor, known, made_by
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern, apply_once

WIDER = {dt.Half: dt.Float, dt.BFloat16: dt.Float, dt.Char: dt.Int, dt.Byte: dt.Int, dt.Short: dt.Int}
"""In which dtype a product of another is computed: sums are rounded once, integers are cut off."""


def product(aten: Namespace, name: str, a: Arguments) -> Results:
    """A product of two matrices, or of batches of them. Of a matrix and a vector it is that of the vector and the turned matrix."""
    multiply, matrix, other = getattr(aten, name), a["self"], a["mat2"]
    if not is_matvec(a):
        return multiply(matrix, other)
    *batch, rows, count = sizes(aten, matrix)
    vectors = aten.view(other, [*batch, 1, count])
    made = multiply(vectors, aten.permute(matrix, [*range(len(batch)), -1, -2]))
    return aten.view(made, [*batch, rows, 1])


def is_matvec(a: Arguments) -> bool:
    """Whether it is the product of a matrix of several rows and a vector."""
    *shape, count = meta(a["self"]).shape
    unknown = [size for size in shape if not isinstance(size, int)]
    if len(unknown) > 1 or not isinstance(count, int) or meta(a["mat2"]).shape[-2] != count:
        return False
    return 0 not in (*shape, count) and meta(a["mat2"]).shape[-1] == 1 and shape[-1] != 1


def added_product(aten: Namespace, a: Arguments) -> Results:
    """`beta * self + alpha * (mat1 @ mat2)`, where a `beta` of 0 drops even NaN; as it is where its kernel takes it."""
    beta, alpha, dtype = a["beta"], a["alpha"], meta(a["mat1"]).dtype
    factors = {"self": a["mat1"], "mat2": a["mat2"]}
    if (beta, alpha) == (1, 1) and dtype is dt.Float and not is_matvec(factors):
        return aten.addmm(a["self"], a["mat1"], a["mat2"])
    if dtype not in (dt.Float, dt.Double) and not (isinstance(beta, int) and isinstance(alpha, int)):
        return KEEP
    result = product(aten, "mm", factors)
    if alpha != 1:
        result = aten.mul.Tensor(result, alpha)
    if beta == 0:
        return result
    return aten.add.Tensor(result, a["self"] if beta == 1 else aten.mul.Tensor(a["self"], beta))


def is_added_apart(a: Arguments) -> bool:
    """Whether the kernel of products does not add."""
    scaled = (a["beta"], a["alpha"]) != (1, 1) or a["out"].dtype is not dt.Float
    return scaled or is_matvec({"self": a["mat1"], "mat2": a["mat2"]})


def added_matvec(aten: Namespace, a: Arguments) -> Results:
    """The same of a matrix and a vector, which is a matrix of one column."""
    vector = aten.unsqueeze(a["vec"], 1)
    addend = a["self"] if not meta(a["self"]).ndim else aten.unsqueeze(a["self"], 1)
    given = {**a, "self": addend, "mat1": a["mat"], "mat2": vector}
    made = added_product(aten, given)
    return KEEP if made is KEEP else aten.squeeze.dims(made, [1])


# --- others ------------------------------------------------------------------------------------------------------


def repeated(aten: Namespace, a: Arguments) -> Results:
    """Every dimension behind one of its repetitions, expanded and copied, of which both become one."""
    known, repeats, size = meta(a["self"]).shape, a["repeats"], Sizes(aten, a["self"])
    if not all(isinstance(count, int) for count in repeats):
        return KEEP
    shape = [*[1] * (len(repeats) - len(known)), *known]
    apart = [each for own in shape for each in (1, own)]
    copies = [each for pair in zip(repeats, shape, strict=True) for each in pair]
    made = aten.clone(aten.expand(aten.view(a["self"], size.of_view(apart)), size.all(copies)))
    return aten.view(made, size.of_view([size.together(pair) for pair in zip(repeats, shape, strict=True)]))


def power(aten: Namespace, a: Arguments) -> Results:
    """One of a number that is another function."""
    exponent = known(a["exponent"])
    assert exponent is not None
    return KERNEL_POWERS[exponent](aten, a["self"])


def is_function(a: Arguments) -> bool:
    """Whether a power is one of those; of integers the reciprocal is not."""
    exponent, category = known(a["exponent"]), a["out"].dtype.category
    is_real = category is Category.FLOAT or (category is Category.INT and exponent == 2)
    return is_real and exponent in KERNEL_POWERS and meta(a["self"]).shape == a["out"].shape


def is_itself(a: Arguments) -> bool:
    """Whether a cast is to what is given, as `canonicalize` drops it too."""
    return a["memory_format"] is None and meta(a["self"]) == a["out"]


# --- all of them -------------------------------------------------------------------------------------------------

FORMS: dict[str, Form] = {
    "aten._to_copy": Form(lambda aten, a: a["self"], frozenset(dt.DTYPES), is_itself, mixed=True),
    "aten.repeat": Form(repeated, frozenset(dt.DTYPES)),
    "aten.pow.Tensor_Tensor": Form(power, frozenset(dt.DTYPES), is_function),
    "aten.mm": Form(lambda aten, a: product(aten, "mm", a), WITH_KERNELS, is_matvec),
    "aten.bmm": Form(lambda aten, a: product(aten, "bmm", a), WITH_KERNELS, is_matvec),
    "aten.addmm": Form(added_product, WITH_KERNELS, is_added_apart),
    "aten.addmv": Form(added_matvec, WITH_KERNELS),
    **CONVOLUTION_FORMS,
    **ROW_FORMS,
    **SCAN_FORMS,
    **DISTANCE_FORMS,
    **ORDER_FORMS,
    **FOURIER_FORMS,
    **QUANTIZED_FORMS,
}
"""By operator."""


class KernelForm(OperatorPattern):
    """Puts an operation in the form that kernels take, in the dtype that they compute in; not in a delegate or a dispatch, which
    are what they say."""

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        form = FORMS.get(op.SPEC.qualified_name)
        if form is None or is_apart(op):
            return KEEP
        out = meta(op.results[0])
        a: Arguments = {**op.arguments(), "out": out}
        wider, aten = WIDER.get(out.dtype), Namespace(builder)
        one_dtype = all(meta(value).dtype is out.dtype for value in op.operands if is_tensor(value))
        if not (one_dtype or form.mixed) or (
            not form.whole and any(result.uses for result in op.results[1:])
        ):
            return KEEP
        if out.dtype in form.dtypes:
            return form.build(aten, a) if form.helps(a) else KEEP
        if wider not in form.dtypes:
            return KEEP
        widened = {value: aten._to_copy(value, dtype=wider) for value in op.operands if is_tensor(value)}
        a |= {name: widened[value] for name, value in a.items() if is_tensor(value)}
        made = form.build(aten, a)
        if made is KEEP:
            return KEEP
        first, *others = flat_results(made)
        result = narrowed(aten, first, out.dtype)
        return (result, *others) if others else result


def sink_widenings(module: ModuleOp) -> None:
    """Moves what makes float32 of halves to what takes it, whose kernel may then read the halves: for one that does, or, of what
    is given, for each."""
    for op in list(module.walk()):
        widening = made_by(op.results[0], "aten._to_copy") if op.results else None
        if widening is None or WIDER.get(meta(widening.operands[0]).dtype) is not meta(op.results[0]).dtype:
            continue
        takers, block = list(dict.fromkeys(use.operation for use in op.results[0].uses)), op.parent
        apart = all(taker.parent is block for taker in takers)
        if block is None or not apart or not (len(takers) == 1 or is_given(widening.operands[0])):
            continue
        for taker in takers[1:]:
            block.insert_op_before(own := op.clone(), taker)
            taker.operands = [own.results[0] if each is op.results[0] else each for each in taker.operands]
        if takers and op.next_op is not takers[0]:
            op.detach()
            block.insert_op_before(op, takers[0])


def is_given(value: SSAValue) -> bool:
    """Whether it is an input, or a view of one."""
    while isinstance(op := value.owner, OperatorOp) and is_view(op):
        value = op.operands[0]
    return isinstance(value.owner, Block)


@dataclass(frozen=True)
class KernelForms(ModulePass):
    """Puts products, convolutions, reductions and norms in the forms that kernels take, norms of known statistics in what is before them."""

    name = "kernel-forms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        BodiesInPlace().apply(ctx, op)
        FoldBatchNorm().apply(ctx, op)
        apply_once(op, KernelForm())
        dce(op)  # what was built anew in another form
        keep_integers(ctx, op)
        sink_widenings(op)
