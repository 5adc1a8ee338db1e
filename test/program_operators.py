"""What random programs are made of: templates of PyTorch expressions, and how their slots are filled.

A template is Python with slots: `torch.add({x}, {y})`. The first tensor slot of a template is its subject; slots after it
refer to it. `Maker.fill` draws them:

    {x} {f} {i} {b} {c} {r}   a tensor: of any dtype, float, integer, bool, float or complex, real number
    {w}                       a tensor that may be written to
    {y} {yf} {m}              what broadcasts with the subject: of any dtype, float, bool (a mask)
    {n} {q} {j}               a Python number of any kind, a positive float, an integer from 1 to 3
    {d} {D} {k}               a dimension of the subject, a list of some, True or False
    {t} {T}                   a dtype, a float dtype
    {e}                       an index into the dimension that {d} drew
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations


def each(template: str, names: str) -> list[str]:
    """A template for each of some names, in the place of `NAME`."""
    return [template.replace("NAME", name) for name in names.split()]


MOVES = [
    *each("{x}.NAME()", "t mT T mH squeeze flatten ravel clone contiguous detach positive conj resolve_conj"),
    *each("torch.NAME({x})", "t adjoint squeeze flatten ravel clone positive fliplr flipud view_as_real real imag"),
    *each("torch.NAME({x})", "atleast_1d atleast_2d atleast_3d diag tril triu diag_embed block_diag"),
    "{x}.mT", "{x}.T", "{x}.mH", "{x}.H", "{x}.real", "{x}.imag",
    "{x}.transpose({d}, {d})", "torch.swapaxes({x}, {d}, {d})", "{x}.movedim({d}, {d})",
    "{x}.unsqueeze({d})", "{x}.squeeze({d})", "{x}.squeeze({D})", "{x}.select({d}, {e})",
    "{x}.narrow({d}, {e}, 1)", "{x}.unbind({d})", "{x}.split({j}, {d})", "{x}.chunk({j}, {d})",
    "torch.tensor_split({x}, {j}, dim={d})", "torch.tensor_split({x}, [1, {j}], dim={d})",
    "torch.tensor_split({x}, [{e}, {j}], {d})", "torch.hsplit({x}, {j})", "torch.vsplit({x}, {j})",
    "{x}.diagonal()", "{x}.diagonal({e}, {d}, {d})", "{x}.unfold({d}, {j}, {j})", "{x}.flatten({d}, {d})",
    "{x}.view(-1)", "{x}.reshape(-1)", "{x}.view({x0}.shape)", "{x}.reshape({x0}.shape)",
    "{x}.expand_as({x0})", "{x}.expand({x0}.shape)", "torch.broadcast_to({x}, {x0}.shape)",
    "{x}.view_as({x0})", "{x}.reshape_as({x0})", "{x}.unflatten({d}, (-1, {j}))", "{x}.unflatten({d}, (1, -1))",
    "torch.meshgrid({x}.flatten(), {x}.flatten()[:2], indexing='ij')", "torch.broadcast_tensors({x}, {y})",
    "torch.meshgrid({x}, indexing='xy')", "torch.broadcast_tensors({x}, {x})",
    "{x}.flip({D})", "{x}.flip({d})", "{x}.roll({e}, {d})", "{x}.roll({j})", "torch.rot90({x}, {j}, [{d}, {d}])",
    "{x}.repeat_interleave({j}, {d})", "{x}.repeat_interleave({j})", "{x}.repeat_interleave(0, {d})",
    "torch.tile({x}, ({j}, 1))", "torch.tile({x}, ({j},))", "torch.cat([{x}, {y}], {d})", "torch.cat([{x}, {x}], {d})",
    "torch.stack([{x}, {x}], {d})", "torch.hstack([{x}, {x}])", "torch.vstack([{x}, {x}])", "torch.dstack([{x}, {x}])",
    "torch.column_stack([{x}, {x}])", "torch.cat([{x}.flatten(), {y}.flatten()])",
    "{x}.index_select({d}, torch.tensor([{e}, {e}]))", "{x}.index_select({d}, torch.tensor([{e}]).flip(0))",
    "torch.take({x}, torch.tensor([0, -1]))", "{x}.tril({j})", "{x}.triu(-{j})", "torch.diag_embed({x}, {j})",
    "{x}.view_as(-{x})", "{x}.expand(*{x}.shape)", "{x}.expand(2, *{x}.shape)", "{x}.expand({j}, *{x}.shape)",
    "{x}[None]", "{x}[..., None]", "{x}[...]", "{x}[::2]", "{x}[..., ::2]", "{x}[1:]", "{x}[..., :-1]", "{x}[-1]", "{x}[..., 0]",
    "{x}[:, None]", "{x}[1:, ..., ::3]", "{x}[:0]", "{x}[..., 1:2]", "{x}[[0, -1]]", "{x}[:, [0, 0]]", "{x}[torch.tensor(0)]",
    "{x}[..., torch.tensor([[0, -1]])]", "{x}[torch.tensor([0, 0]), ..., torch.tensor([-1, 0])]",
    "torch.take_along_dim({x}, torch.argsort({x}, {d}, stable=True), {d})", "torch.gather({x}, {d}, torch.zeros_like({x}, dtype=torch.int64))",
    "torch.as_strided({x}, ({j},), (1,))", "torch.as_strided({x}, (2, {j}), (1, 1))", "torch.as_strided({x}, (), ())",
    "torch.as_strided({x}, ({j}, 2), (0, 1))", "{x}.as_strided({x}.shape, {x}.stride())", "{x}.new_ones(3).as_strided((2, 2), (1, 1))",
    "torch.full(({j}, 4), {n}).as_strided((2, 2), (2, 1))", "torch.zeros(2, 3).as_strided((6,), (1,))", "{x}.permute(list(range({x}.dim()))[::-1])",
    "torch.movedim({x}, 0, -1)", "torch.moveaxis({x}, (0, 1), (1, 0))", "torch.view_as_real({x})", "torch.view_as_complex({x})",
    "{x}.sort(dim={d}, stable=True)", "torch.sort({x}, dim={d}, descending={k}, stable=True)", "torch.topk({x}, 1, {d}, {k})[0]",
    "torch.msort({x})", "{x}.argsort({d}, stable=True)", "torch.kthvalue({x}, 1, {d}, {k})[0]", "torch.searchsorted({x}.flatten().sort()[0], {x})",
    "torch.bucketize({x}, torch.tensor([-1.0, 0.0, 0.5, 2.0]))", "torch.unique_consecutive({x}.flatten()[:0])",
    "torch.nn.functional.pad({x}, (1, 2), value=1)", "torch.nn.functional.pad({x}, (-1, 1))", "torch.nn.functional.pad({x}, (0, 1, 1, 0))",
    "torch.combinations({x}.flatten()[:4])", "torch.cartesian_prod({x}.flatten()[:3], {x}.flatten()[:2])", "torch.vander({x}.flatten()[:3], 3)",
    "torch.nn.functional.one_hot({i}.abs() % 4, 4)", "torch.nn.functional.one_hot(({b}).long(), {j} + 1)",
    "{x}.scatter({d}, torch.zeros_like({x}, dtype=torch.int64), {y})", "{x}.index_add({d}, torch.tensor([{e}]), {x}.narrow({d}, 0, 1))",
    "{x}.index_copy({d}, torch.tensor([{e}]), {x}.narrow({d}, 0, 1))", "{x}.index_fill({d}, torch.tensor([{e}]), {n})",
    "torch.select_scatter({x}, {x}.select({d}, 0), {d}, {e})", "torch.slice_scatter({x}, {x}[1:], 0, 1)", "torch.diagonal_scatter({x}, {x}.diagonal())",
    "torch.masked_fill({x}, {m}, {n})", "{x}.masked_fill({m}, torch.tensor({n}))", "torch.where({m}, {x}, {y})", "torch.where({m}, {n}, {x})",
    "torch.where({m}, {x}, {n})", "{x}.masked_scatter({m}, {x})", "{x}.index_put((torch.tensor([0]),), {x}[-1])", "{x}.pixel_shuffle(1)",
    "torch.unravel_index(torch.tensor([0, 1]), (2, 3))", "{x}.swapdims(0, -1)", "{x}.new_full(({j},), {n})", "{x}.new_zeros({x}.shape)",
    "torch.zeros_like({x})", "torch.ones_like({x}, dtype={t})", "torch.full_like({x}, {n})", "torch.full({x}.shape, {n})", "torch.zeros(0, {j})",
    "torch.arange({j} * 3)", "torch.arange(0, 2, 0.5)", "torch.arange({j}, -5, -2, dtype={t})", "torch.linspace(0, {n}, 4)", "torch.eye({j}, 3)",
    "torch.tril_indices(3, {j})", "torch.scalar_tensor({n}, dtype={t})", "torch.tensor({n})", "torch.logspace(0, 1, {j})", "torch.complex({f}, {f0})",
    "torch.hann_window({j})", "torch.constant_pad_nd({x}, (1, 0), {n})",
    "torch.full({x}.shape, {n}).expand(2, *{x}.shape)", "torch.ones({j}, 4)[:, ::2]", "torch.full((4,), {n}, dtype={t}).unfold(0, 2, 1)",
]  # fmt: skip
"""What moves values, chooses among them or makes new ones: exact."""

EXACT = [
    *each("torch.NAME({x})", "neg abs sign sgn floor ceil round trunc bitwise_not logical_not isnan isinf isfinite"),
    *each("torch.NAME({x})", "isposinf isneginf isreal signbit square frac nan_to_num conj_physical resolve_neg reciprocal"),
    *each("torch.nn.functional.NAME({x})", "relu relu6 hardtanh hardswish hardsigmoid hardshrink leaky_relu"),
    *each("{x}.NAME()", "abs neg square logical_not round byte bool half int"),
    *each("torch.NAME({x}, {y})", "add sub mul div maximum minimum fmax fmin eq ne lt le gt ge logical_and logical_or"),
    *each("torch.NAME({x}, {y})", "logical_xor bitwise_and bitwise_or bitwise_xor floor_divide remainder fmod copysign"),
    *each("torch.NAME({x}, {y})", "true_divide rsub gcd lcm heaviside nextafter ldexp multiply subtract greater not_equal"),
    *each("torch.NAME({x}, {n})", "add sub mul div eq lt ge floor_divide remainder fmod rsub copysign bitwise_and"),
    *each("{x} NAME {y}", "+ - * / // % == < >="), *each("{x} NAME {n}", "+ - * / // % == < !="),
    *each("{n} NAME {x}", "+ - * / // % > <="),
    *each("torch.div({x}, NAME, rounding_mode='trunc')", "{y} {n}"), *each("torch.div({x}, NAME, rounding_mode='floor')", "{y} {n}"),
    "torch.add({x}, {y}, alpha={n})", "torch.sub({x}, {y}, alpha={j})", "torch.clamp({x}, -1, 2)", "torch.clamp({x}, min={n})",
    "torch.clamp({x}, max={y})", "torch.clamp({x}, {y}, {y})", "torch.clip({x}, 0, 1)", "torch.where({x} > 0, {x}, {y})",
    "torch.bitwise_left_shift({i}, {j})", "torch.bitwise_right_shift({i}, {j})", "{i} << {j}", "{i} >> {j}", "{b} & {b0}", "~{b}", "{i} ^ {i0}",
    "torch.isclose({x}, {y})", "torch.isin({x}, torch.tensor([0, 1, 2]))", "torch.round({f}, decimals={j})", "torch.nan_to_num({f}, {n}, 1.0, -1.0)",
    *each("torch.NAME({x}, dim={d}, keepdim={k})", "amax amin all any max min argmax argmin aminmax"),
    *each("torch.NAME({x})", "amax amin all any max min argmax argmin aminmax count_nonzero"),
    *each("torch.NAME({x}, {D}, {k})", "amax amin all any"), *each("torch.NAME({x}, [])", "amax amin all any sum nansum mean count_nonzero"),
    *each("torch.NAME({x}, dim=[])", "all any sum nansum mean amax"), *each("torch.NAME({x}, {d})", "count_nonzero max min argmax all any"),
    "torch.count_nonzero({x}, {D})", "torch.median({x})", "torch.nanmedian({x})", "torch.median({x}, {d}, {k})[0]", "torch.mode({x}, {d}, {k})[0]",
    "torch.nanmedian({x}, {d})[0]", "torch.max({x}, {y})", "torch.min({x}, {y})", "torch.cummax({x}, {d})", "torch.cummin({x}, {d})",
    *each("torch.NAME({i}, {D}, {k})", "sum nansum"), *each("torch.NAME({i}, {d})", "sum prod cumsum cumprod"), "torch.sum({b}, {d}, {k})",
    "torch.sum({i})", "torch.prod({i})", "torch.sum({b})", "torch.bincount({i}.flatten().abs() % 7)", "torch.diff({x}, dim={d})", "torch.diff({x}, {j})",
    *each("torch.NAME({i}, {i0})", "matmul inner outer kron"), "{i} ** {j}", "{x} ** 2", "torch.max({x}, {d}, {k})", "torch.trapezoid({i})",
    "torch.trace({x})", "torch.trace({i})", "torch.cross({i}, {i0}, dim={d})",
    "torch.sum({i}, {d}, dtype={T})", "torch.cumsum({b}, {d})", "torch.dot({i}.flatten(), {i}.flatten())", "torch.histc({f}, 4, -2, 2)",
    "torch.nn.functional.max_pool1d({f}.reshape(1, 1, -1), {j})", "torch.nn.functional.max_pool2d({f}.reshape(1, 1, 1, -1), (1, {j}), stride=1)",
    "torch.nn.functional.threshold({x}, 0.5, {n})", "torch.nn.functional.softshrink({f})", "torch.nn.functional.relu6({x})",
    "torch.nn.functional.leaky_relu({f}, {q})", "torch.nn.functional.prelu({f}, torch.tensor([0.25], dtype={f}.dtype))", "torch.nn.functional.adaptive_max_pool1d({f}.reshape(1, 1, -1), {j})",
    "torch.addcmul({f}, {f0}, {f0})", "torch.addcdiv({f}, {f0}, {f0}, value={n})", "torch.add({f}, {f0}, alpha={q})", "{f} * {q}", "torch.lerp({f}, {f0}, 0.5)", "torch.quantile({f}, 0.5, dim={d}, keepdim={k})",
    "torch.logical_and({x}, {y}).sum({d})", "torch.nn.functional.interpolate({f}.reshape(1, 1, -1), scale_factor=2)", "torch.frexp({f})",
    "torch.nn.functional.pad({f}.reshape(1, 1, -1), (1, 1), mode='replicate')", "torch.nn.functional.pad({f}.reshape(1, 1, -1), (1, 0), mode='reflect')",
    "torch.nn.functional.pad({x}.reshape(1, 1, -1), (1, 1), mode='circular')", "torch.nn.functional.channel_shuffle({f}.reshape(1, 2, 1, -1), 2)",
    "torch.nn.functional.embedding({i}.abs() % 3, {f}.reshape(-1, 1).expand(-1, 2)[:3])", "torch.signbit(-{x})", "torch.sgn({c})", "torch.fix({x})",
]  # fmt: skip
"""Arithmetic whose result is the rounded one, and what chooses: exact on every machine."""

INEXACT = [
    *each("torch.NAME({x})", "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh"),
    *each("torch.NAME({x})", "atanh erf erfc erfinv lgamma digamma sigmoid sinc rsqrt sqrt i0 deg2rad rad2deg logit angle"),
    *each("torch.special.NAME({x})", "entr i0e i1 i1e ndtr ndtri log_ndtr erfcx bessel_j0 bessel_j1 bessel_y0 modified_bessel_k0 psi gammaln expit spherical_bessel_j0"),
    *each("torch.nn.functional.NAME({f})", "softplus silu gelu mish selu elu celu logsigmoid softsign tanhshrink tanh"),
    *each("torch.NAME({x}, {y})", "atan2 hypot logaddexp logaddexp2 pow float_power xlogy"), *each("torch.special.NAME({x}, {y})", "xlog1py zeta"),
    *each("torch.NAME({x}, {n})", "pow float_power xlogy"), "torch.pow({n}, {x})", "{x} ** {n}", "{n} ** {x}", "torch.polygamma({j}, {f})",
    *each("torch.NAME({x})", "sum mean prod nansum nanmean std var var_mean norm std_mean"),
    *each("torch.NAME({x}, {d}, keepdim={k})", "sum mean prod nansum nanmean logsumexp std var"),
    *each("torch.NAME({x}, {D}, keepdim={k})", "sum mean nansum nanmean logsumexp std var var_mean"), *each("torch.NAME({x}, {d})", "cumsum cumprod logcumsumexp"),
    *each("torch.NAME({x}, {d})", "softmax log_softmax"), "torch.nn.functional.softmin({f}, {d})",
    "torch.var({f}, {d}, correction=0, keepdim={k})", "torch.std({f}, dim=None, correction=0)", "torch.sum({x}, {d}, dtype={T})", "torch.mean({x}, {d}, dtype={T})",
    "torch.linalg.vector_norm({c}, {j}, {d}, {k})", "torch.linalg.vector_norm({c}, float('inf'))", "torch.linalg.vector_norm({c}, 0)", "torch.norm({f}, p={j}, dim={d})",
    "torch.linalg.norm({c})", "torch.linalg.matrix_norm({c})", "torch.nn.functional.normalize({f}, dim={d})", "torch.cosine_similarity({f}, {f0}, dim={d})",
    "torch.trapezoid({x})", "torch.cumulative_trapezoid({x})", "torch.trapezoid({f}, dim={d})", "torch.cov({f})", "torch.corrcoef({f})", "torch.dist({f}, {f0})",
    "torch.cdist({f}.reshape(-1, 1), {f0}.reshape(-1, 1))", "torch.gradient({f}.flatten())[0]", "torch.renorm({f}, 2, {d}, 1.0)",
    "{f} @ {f0}", "{f} @ {f0}.mT", "{f}.mT @ {f}", "torch.matmul({f}, {f0})", "torch.matmul({x}, {x}.mT)", "torch.mm({f}, {f0}.t())", "torch.mv({f}, {f0})",
    "torch.bmm({f}, {f}.mT)", "torch.outer({c}.flatten(), {c}.flatten()[:3])", "torch.kron({c}, {c0}[:2])", "torch.dot({f}.flatten(), {f}.flatten())", "torch.vdot({c}.flatten(), {c}.flatten())",
    "torch.inner({c}, {c})", "torch.einsum('...i,...i->...', {c}, {c})", "torch.einsum('ij,kj->ik', {f}, {f0})", "torch.einsum('ij->ji', {x})", "torch.einsum('ii->i', {x})", "torch.einsum('ij->', {f})",
    "torch.tensordot({f}, {f}, dims=1)", "torch.addmm({f}, {f0}, {f0}.t(), beta={n}, alpha=2)", "torch.baddbmm({f}, {f}, {f}.mT)", "torch.addmv({f}, {f0}, {f0})", "torch.chain_matmul({f}, {f}.t())",
    "torch.linalg.multi_dot([{f}, {f}.mT, {f}])", "torch.linalg.matrix_power({f} @ {f}.mT, 2)", "torch.linalg.det({f} @ {f}.mT + 2 * torch.eye({f}.shape[-2], dtype={f}.dtype))",
    "torch.linalg.inv({f} @ {f}.mT + 2 * torch.eye({f}.shape[-2], dtype={f}.dtype))", "torch.linalg.cholesky({f} @ {f}.mT + 2 * torch.eye({f}.shape[-2], dtype={f}.dtype))",
    "torch.linalg.solve({f} @ {f}.mT + 2 * torch.eye({f}.shape[-2], dtype={f}.dtype), {f})", "torch.linalg.slogdet({f} @ {f}.mT + 2 * torch.eye({f}.shape[-2], dtype={f}.dtype))",
    "torch.linalg.svdvals({f})", "torch.linalg.eigvalsh({f} @ {f}.mT)", "torch.linalg.matrix_exp({f} @ {f}.mT * 0.01)", "torch.linalg.cross({f}, {f0}, dim={d})",
    "torch.nn.functional.linear({f}, {f0})", "torch.nn.functional.linear({f}, torch.ones({j}, {f}.shape[-1], dtype={f}.dtype), torch.ones({j}, dtype={f}.dtype)[0])",
    "torch.nn.functional.layer_norm({f}, {f}.shape[-1:])", "torch.nn.functional.rms_norm({f}, {f}.shape[-1:])", "torch.nn.functional.group_norm({f}, 1)", "torch.nn.functional.instance_norm({f})",
    "torch.nn.functional.batch_norm({f}, None, None, training=True)", "torch.nn.functional.local_response_norm({f}, {j})", "torch.nn.functional.glu({f}, {d})", "torch.nn.functional.glu({f})",
    "torch.nn.functional.conv1d({f}.reshape(1, 1, -1), torch.ones(2, 1, {j}, dtype={f}.dtype), padding=1)", "torch.nn.functional.conv1d({f}.reshape(1, 1, -1), torch.arange(1., 3., dtype={f}.dtype).reshape(1, 1, 2), stride={j}, dilation=2)",
    "torch.nn.functional.conv2d({f}.reshape(1, 1, 1, -1), torch.ones(2, 1, 1, 2, dtype={f}.dtype), torch.ones(2, dtype={f}.dtype), padding='same')",
    "torch.nn.functional.conv_transpose1d({f}.reshape(1, 1, -1), torch.ones(1, 2, {j}, dtype={f}.dtype), stride={j})",
    "torch.nn.functional.avg_pool1d({f}.reshape(1, 1, -1), {j})", "torch.nn.functional.avg_pool2d({f}.reshape(1, 1, 1, -1), [1, 2], ceil_mode={k})",
    "torch.nn.functional.adaptive_avg_pool1d({f}.reshape(1, 1, -1), {j})", "torch.nn.functional.lp_pool1d({f}.reshape(1, 1, -1), 2, {j})", "torch.nn.functional.interpolate({f}.reshape(1, 1, -1), size={j}, mode='linear')",
    "torch.nn.functional.interpolate({f}.reshape(1, 1, -1, 1), size=({j}, 3), mode='bilinear', align_corners={k}, antialias={k})", "torch.nn.functional.interpolate({f}.reshape(1, 1, 1, -1), scale_factor=2, mode='bicubic')",
    "torch.nn.functional.unfold({f}.reshape(1, 1, 1, -1), (1, 2))", "torch.nn.functional.mse_loss({f}, {f0})", "torch.nn.functional.l1_loss({f}, {f0}, reduction='sum')", "torch.nn.functional.smooth_l1_loss({f}, {f0})",
    "torch.nn.functional.huber_loss({f}, {f0})", "torch.nn.functional.kl_div({f}, {f0}, reduction='batchmean')", "torch.nn.functional.binary_cross_entropy_with_logits({f}, {f0}.sigmoid())",
    "torch.nn.functional.cross_entropy({f}, torch.zeros({f}.shape[0], dtype=torch.int64))", "torch.nn.functional.scaled_dot_product_attention({f}, {f}, {f})", "torch.nn.functional.pairwise_distance({f}, {f0})",
    "torch.fft.fft({c})", "torch.fft.rfft({f})", "torch.fft.ifft({c}, dim={d})", "torch.fft.fft2({c})", "torch.fft.fftshift({x})", "torch.fft.irfft({c})", "torch.polar({f}.abs(), {f})", "torch.mvlgamma({f}.abs() + 2, {j})",
    "torch.lerp({f}, {f0}, {yf})", "torch.lerp({f}, {f0}, {q})", "torch.addcmul({x}, {x}, {x}, value={n})", "torch.special.multigammaln({f}.abs() + 2, 1)", "torch.igamma({f}.abs(), {f0}.abs())", "torch.igammac({f}.abs(), {q} + {f0}.abs())",
    "torch.scatter_reduce({f}, {d}, torch.zeros_like({f}, dtype=torch.int64), {f}, 'mean')", "torch.scatter_reduce({x}, {d}, torch.zeros_like({x}, dtype=torch.int64), {x}, 'amax', include_self={k})",
    "torch.scatter_add({x}, {d}, torch.zeros_like({x}, dtype=torch.int64), {x})", "torch.index_reduce({f}, {d}, torch.tensor([{e}]), {f}.narrow({d}, 0, 1), 'prod')", "torch.nanquantile({f}, 0.3, dim={d})",
    "torch.quantile({f}, torch.tensor([0.25, 0.6], dtype={f}.dtype), dim={d})", "{x}.cumsum({d}).clamp(-9, 9)", "torch.prod({x}, {d}, {k})", "torch.std_mean({f}, {d}, keepdim={k})", "torch.special.log_softmax({x}, {d}, dtype={T})",
    "torch.softmax({x}, {d}, dtype={T})", "torch.logsumexp({f}, {D}, {k})", "torch.sqrt({x}.abs())", "torch.log1p({x}.abs())", "torch.exp(-{x}.abs())", "torch.tanh({x}) * {n}",
]  # fmt: skip
"""Whose last bits may differ."""

WRITES = [
    *each("{w}.NAME_({y})", "add sub mul copy div eq lt logical_and bitwise_or remainder floor_divide"),
    *each("{w}.NAME_({n})", "add mul fill sub div clamp_min clamp_max eq ge pow remainder fmod bitwise_and"),
    *each("{w}.NAME_()", "zero neg abs relu square logical_not floor round sign sgn trunc bitwise_not conj_physical"),
    "{w}.masked_fill_({m}, {n})", "{w}.masked_fill_({w} > 0, {n})", "{w}.masked_scatter_({m}, {w}.clone())", "{w}.clamp_(-1, 1)", "{w}.nan_to_num_(0.0)", "{w}.add_({y}, alpha={n})",
    "{w}[...] = {y}", "{w}[0] = {n}", "{w}[..., -1] = {n}", "{w}[1:] = {n}", "{w}[::2] = {n}", "{w}[..., ::2] += {n}", "{w}[{m}] = {n}", "{w}[{w} > 0] = {n}", "{w}[1:] = {w}[:-1].clone()", "{w}[..., :1] *= {n}",
    "{w}[torch.tensor([0, -1])] = {n}", "{w}[..., torch.tensor([0])] = {n}", "{w}[:, 0] = {w}[:, -1].clone()", "{w}[0] += {y}", "{w}[torch.tensor([0, 0])] += {n}", "{w}[torch.tensor(0)] = {w}[-1].clone()", "{w}[None] = {y}", "{w}[:0] = {n}",
    "{w}.index_put_((torch.tensor([0, 0]),), {w}[0].clone(), accumulate={k})", "{w}.index_put_((torch.tensor([0, -1]),), torch.tensor({n}, dtype={w}.dtype))", "{w}.index_fill_({d}, torch.tensor([{e}]), {n})",
    "{w}.index_add_({d}, torch.tensor([{e}]), {w}.narrow({d}, 0, 1).clone())", "{w}.index_copy_({d}, torch.tensor([{e}]), {w}.narrow({d}, 0, 1).clone())", "{w}.scatter_({d}, torch.zeros_like({w}, dtype=torch.int64), {n})",
    "{w}.select({d}, {e}).fill_({n})", "{w}.select({d}, 0).add_({n})", "{w}.narrow({d}, {e}, 1).mul_({n})", "{w}.t().add_({n})", "{w}.transpose({d}, {d}).mul_({n})", "{w}.permute(list(range({w}.dim()))[::-1]).copy_({y})",
    "{w}.diagonal().fill_({n})", "{w}.diagonal().add_({n})", "{w}.fill_diagonal_({n})", "{w}.view(-1).add_({n})", "{w}.view(-1)[::2].zero_()", "{w}.flatten().zero_()", "{w}.reshape(-1).mul_({n})", "{w}.unsqueeze({d}).add_({y})",
    "{w}.squeeze().sub_({n})", "{w}.movedim({d}, {d}).fill_({n})", "{w}.expand({w}.shape).add_({n})", "torch.broadcast_to({w}, {w}.shape).mul_({n})", "torch.broadcast_tensors({w}, {w})[0].add_({n})", "{w}.unfold({d}, 1, 1).fill_({n})",
    "{w}.unfold({d}, 2, 2).mul_({n})", "{w}.split({j}, {d})[-1].add_({n})", "{w}.chunk({j}, {d})[0].zero_()", "{w}.unbind({d})[0].neg_()", "{w}.tensor_split({j}, {d})[0].fill_({n})", "{w}.real.add_({n})", "{w}.imag.fill_({n})",
    "torch.view_as_real({w}).mul_({n})", "{w}.positive().add_({n})", "{w}.contiguous().add_({n})", "{w}.to({w}.dtype).mul_({n})", "{w}.detach().add_({n})", "{w}.as_strided((2,), (1,)).fill_({n})", "{w}.as_strided((1, 2), (2, 1)).add_({n})",
    "{w}.as_strided({w}.shape, {w}.stride()).logical_not_()", "{w}.unflatten({d}, (1, -1)).add_({n})", "{w}.squeeze_()", "{w}.unsqueeze_({d})", "{w}.transpose_({d}, {d})", "{w}.t_()", "{w}.squeeze_({d})", "{w}.swapaxes_({d}, {d})",
    "{w}.tril_()", "{w}.triu_()", "{w}.cumsum_({d})", "{w}.addcmul_({w}.clone(), {w}.clone())", "{w}.lerp_({w}.clone(), 0.5)", "{w}.heaviside_({y})", "{w}.bitwise_xor_({y})", "{w}.copysign_({y})",
    "{w}.clamp_({n}, 3)", "{w}.copy_({y}.expand({w}.shape))", "{w}.view_as({w}).add_({n})", "{w}.narrow({d}, 0, 1).copy_({w}.narrow({d}, -1, 1).clone())", "{w}.flip({d}).add_({n})", "{w}.swapdims(0, -1)[0].fill_({n})",
    "{w}.diagonal({e}, {d}, {d}).copy_({y})", "{w}.mT.fill_({n})", "{w}.mT.mul_({n})", "{w}.T[0].fill_({n})", "torch.meshgrid({w}, indexing='ij')[0].add_({n})", "torch.atleast_2d({w}).add_({n})", "torch.nn.functional.relu_({w})", "torch.nn.functional.relu({w}, inplace=True)",
]  # fmt: skip
"""Statements that write. Some write to a copy, that is for PyTorch to know."""
