# ruff: noqa
"""Scripts that hold what TorchScript programs hold: `FEATURES` has each with inputs for it.

Dicts, enums, `Optional`s that are refined, strings, comprehensions, interfaces, modules in lists, named tuples, every way to index and to write,
packed sequences, numbers of `math`, tensors of lists, complex numbers, devices, classes, state, exceptions, hooks, closures that run beside.
"""

import enum
import math
import warnings
from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, Union

import torch
from torch import Tensor, nn

FEATURES: Dict[str, Any] = {}


def feature(*inputs):
    def register(cls):
        FEATURES[cls.__name__] = (cls, inputs)
        return cls

    return register


def quietly(decorate):
    """A decorator that does not say that it is deprecated."""

    def decorated(of):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return decorate(of)

    return decorated


X = torch.linspace(-2, 2, 12).reshape(3, 4)


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Mode(enum.Enum):
    A = "a"
    B = "b"


class Point(NamedTuple):
    x: Tensor
    y: int
    z: Optional[Tensor] = None


@quietly(torch.jit.script)
class Acc:
    def __init__(self, start: int):
        self.total = start
        self.items: List[int] = []

    def add(self, n: int) -> int:
        self.total += n
        self.items.append(n)
        return self.total

    def __len__(self) -> int:
        return len(self.items)

    @property
    def double(self) -> int:
        return self.total * 2

    @staticmethod
    def make(n: int) -> int:
        return n + 1

    def __add__(self, other: "Acc") -> int:
        return self.total + other.total

    def __eq__(self, other: "Acc") -> bool:
        return self.total == other.total

    def __getitem__(self, i: int) -> int:
        return self.items[i]

    def __contains__(self, i: int) -> bool:
        return i in self.items

    def __lt__(self, other: "Acc") -> bool:
        return self.total < other.total


@quietly(torch.jit.interface)
class Iface(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


@feature(X)
class Dicts(nn.Module):
    def forward(self, x: Tensor):
        d: Dict[str, Tensor] = {}
        d["a"] = x
        d["b"] = x * 2
        e = {k: v + 1 for k, v in d.items()}
        total = torch.zeros_like(x)
        for k in d.keys():
            total = total + d[k]
        for v in e.values():
            total = total * v
        n = 0
        for k, v in e.items():
            if k == "a":
                n += 1
        if "c" not in d:
            n += 10
        d.pop("a")
        c = d.copy()
        c.update({"q": x})
        g = c.get("zz")
        if g is not None:
            n += 100
        g2 = c.get("zz", x)
        d2 = dict([("i", 1), ("j", 2)])
        d2.setdefault("k", 7)
        del d2["i"]
        ii: Dict[int, float] = {1: 2.0, 5: 3.0}
        s = 0.0
        for kk in ii:
            s += ii[kk] * kk
        c.clear()
        return total, n, len(d), g2, d2, s, list(d2.keys()), list(ii.values()), c


@feature(X)
class Enums(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = Mode.B

    def forward(self, x: Tensor):
        c = Color.RED
        if self.mode == Mode.B:
            x = x + 1
        if c is Color.GREEN:
            x = x * 100
        if c != Color.GREEN:
            x = x * 2
        n = 0
        for m in Color:
            n += m.value
        return x, c.value, self.mode.value, c.name, n


@feature(X, None)
class OptionalRefine(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias: Optional[Tensor] = None
        self.w: Optional[Tensor] = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor, m: Optional[Tensor] = None, k: Optional[int] = None) -> Tensor:
        if m is not None:
            x = x + m
        elif k is not None:
            x = x + k
        b = self.bias
        if b is not None:
            x = x + b
        w = self.w
        if w is not None:
            x = x * w
        q = m if m is not None else x
        assert q is not None
        r = torch.jit._unwrap_optional(q)
        return x + r


@feature(X, 3)
class Isinstance(nn.Module):
    def forward(self, x: Tensor, n: int):
        a: Any = n
        k = 0
        if isinstance(a, int):
            k += 1
        if isinstance(a, (str, float)):
            k += 10
        u: Union[int, str] = n
        if isinstance(u, int):
            k += u
        else:
            k += len(u)
        c: Any = x
        if isinstance(c, torch.Tensor):
            return c + k
        return x


@feature(X, "hello")
class Strings(nn.Module):
    def forward(self, x: Tensor, s: str):
        t = s.upper() + "_" + s[1:3] + s[-1]
        f = f"{s}:{len(s)} {1.5}"
        g = "{} {}".format(s, 3)
        h = "%s-%d" % (s, 4)
        parts = "a,b,c".split(",")
        j = "+".join(parts)
        ok = s.startswith("he") and s.endswith("lo") and "ell" in s
        idx = s.find("l")
        r = s.replace("l", "L")
        st = "  a ".strip() + " b".lstrip() + "c ".rstrip()
        n = int("12") + int(float("1.5"))
        cs: List[str] = []
        for ch in s:
            cs.append(ch)
        o = ord("a")
        ch2 = chr(o + 1)
        cmp = s < "world"
        mult = s
        title = s.title()
        cap = s.capitalize()
        cnt = s.count("l")
        cen = s.center(11, "*")
        z = "7".zfill(3)
        sw = "aBc".swapcase()
        lj = "a".ljust(3, ".") + "b".rjust(3, ".")
        pt = "a-b-c".partition("-")
        rp = "a-b-c".rpartition("-")
        rs = "a b c".rsplit(" ", 1)
        ex = "a\tb".expandtabs(4)
        sl = "a\nb".splitlines()
        isx = (
            "12".isdigit()
            and "ab".isalpha()
            and "a1".isalnum()
            and "AB".isupper()
            and "ab".islower()
            and " ".isspace()
            and "a".isidentifier()
            and "12".isdecimal()
            and "1".isnumeric()
            and "Ab".istitle()
            and "a".isprintable()
        )
        return (
            x,
            t,
            f,
            g,
            h,
            parts,
            j,
            ok,
            idx,
            r,
            st,
            n,
            cs,
            o,
            ch2,
            cmp,
            mult,
            title,
            cap,
            cnt,
            cen,
            z,
            sw,
            lj,
            pt,
            rp,
            rs,
            ex,
            sl,
            isx,
            s.rfind("l"),
            s.index("l"),
            s.rindex("l"),
            hex(255),
            oct(8),
            bin(5),
            str(3),
            str(1.5),
            str(True),
            str([1, 2]),
        )


@feature(X)
class Comprehension(nn.Module):
    def forward(self, x: Tensor):
        a = [i * i for i in range(5)]
        b = [x * i for i in a]
        c = [t.sum() for t in b]
        d = [k for k in [3, 1, 2]]
        d.sort()
        e = sorted([3, 1, 2])
        f = sorted([2.0, 1.0])
        g = [float(v) for v in d]
        g.reverse()
        h = list(range(10, 0, -3))
        z = [(p, q) for p, q in zip([1, 2], ["a", "b"])]
        en = [i + v for i, v in enumerate([5, 6], 1)]
        return (
            torch.stack(c),
            a,
            d,
            e,
            f,
            g,
            h,
            z,
            en,
            sum([1, 2]),
            max([1, 5, 2]),
            min(3, 2),
            any([True, False]),
            all([True, False]),
            a[::-1],
            a[1:3],
            a[-2:],
            [1, 2] + [3],
            [0] * 3,
            3 in a,
            a.index(4),
            a.count(1),
        )


@feature(X, 7)
class Flow(nn.Module):
    def forward(self, x: Tensor, n: int):
        total = 0
        for i in range(n):
            if i == 2:
                continue
            if i == 5:
                break
            total += i
        j = 0
        while True:
            j += 1
            if j > 10:
                break
            if j % 2 == 0:
                continue
            total += j
        if total > 1000:
            return x
        for k in range(3):
            for l in range(3):
                if k * l == 2:
                    return x + total + k
        return x - 1


@feature(X)
class ExportIgnore(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return self.helper(x, 2) + self.other(x, True)

    def helper(self, x: Tensor, n: int = 1) -> Tensor:
        return x * n

    @quietly(torch.jit.export)
    def other(self, x: Tensor, flag: bool = True) -> Tensor:
        if flag:
            return x + 1
        return x

    @quietly(torch.jit.unused)
    def gone(self, x):
        return x


@feature(X)
class ExportUnused(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.dim() == 7:
            return self.gone(x)
        return x * 2

    @quietly(torch.jit.unused)
    def gone(self, x: Tensor) -> Tensor:
        return x


class LinA(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.l(x)


class LinB(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 3


@feature(X)
class Interfaces(nn.Module):
    proxy: Iface

    def __init__(self):
        super().__init__()
        self.proxy = LinA()
        self.mods = nn.ModuleList([LinB(), LinA()])

    def forward(self, x: Tensor) -> Tensor:
        y = self.proxy.forward(x)
        for i in range(2):
            m: Iface = self.mods[i]
            y = m.forward(y)
        return y


@feature(X)
class ModuleContainers(nn.Module):
    def __init__(self):
        super().__init__()
        self.mods = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(4, 4)})
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(4) * i) for i in range(2)])
        self.pd = nn.ParameterDict({"w": nn.Parameter(torch.ones(4))})
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        for i, m in enumerate(self.mods):
            x = m(x) + i
        for k, m in self.d.items():
            x = m(x)
        for v in self.d.values():
            x = v(x)
        if "a" in self.d:
            x = x + len(self.mods)
        for p in self.ps:
            x = x + p
        x = x + self.pd["w"]
        return self.seq[0](x) + self.mods[-1](x) + self.seq(x)


@feature(X, 1)
class NamedTuples(nn.Module):
    def forward(self, x: Tensor, n: int):
        p = Point(x, n)
        q = Point(x=x + 1, y=2, z=x)
        a, b, c = q
        t: Tuple[Tensor, int] = (a, b)
        z = q.z
        assert z is not None
        return p.x + q.x + z + q[1], t, q


@feature(torch.arange(60.0).reshape(3, 4, 5))
class Indexing(nn.Module):
    def forward(self, x: Tensor):
        a = x[:, None]
        b = x[..., 1:3]
        c = x[1, ..., -1]
        d = x[::2, 1:, ::3]
        e = x[[0, 2]]
        idx = torch.tensor([0, 1])
        f = x[idx]
        g = x[:, idx, idx]
        m = x > 20
        h = x[m]
        i = x[0][1][2]
        y = x.clone()
        y[0, 1] = 5
        y[..., 0] = -1.0
        y[m] = 0
        y[idx] = x[idx] * 2
        y[:, idx, 2] = 7.0
        y[1] += 3
        y[0, 0, 0] = x[0, 0, 1]
        y[None, 0] = 2.0
        j = x
        k = x[..., None, 0]
        return a, b, c, d, e, f, g, h, i, y, j, k


@feature(X)
class InPlace(nn.Module):
    def forward(self, x: Tensor):
        y = x.clone()
        y += 1
        y -= 0.5
        y *= 2
        y /= 3
        y.add_(x).mul_(2).clamp_(min=-1.0, max=3.0)
        z = y[0]
        z.zero_()
        y.t_()
        y.unsqueeze_(0)
        y.squeeze_(0)
        w = torch.empty(4)
        w.fill_(2.0)
        v = torch.zeros(2, 3)
        v.copy_(torch.ones(3))
        u = x.clone()
        u.masked_fill_(u > 0, 0.0)
        q = x.clone()
        q.resize_(2, 6) if False else q
        i = 5
        i += 2
        l = [1, 2]
        l += [3]
        l[0] = 9
        l[1] += 4
        x2 = x.clone()
        x2.transpose_(0, 1)
        x2.index_fill_(0, torch.tensor([0]), 1.0)
        x2.scatter_(0, torch.zeros(1, 3, dtype=torch.long), 5.0)
        return y, z, w, v, u, i, l, x2


@feature(torch.randn(5, 3, 4), torch.tensor([5, 3, 1]))
class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 6, num_layers=2, bidirectional=True)
        self.gru = nn.GRU(4, 5)

    def forward(self, x: Tensor, lengths: Tensor):
        p = nn.utils.rnn.pack_padded_sequence(x, lengths)
        out, (h, c) = self.rnn(p)
        y, n = nn.utils.rnn.pad_packed_sequence(out)
        g, hg = self.gru(x)
        return y, n, h, c, g, hg


@feature(X)
class Maths(nn.Module):
    def forward(self, x: Tensor):
        a = (
            math.sqrt(2.0)
            + math.pi
            + math.exp(1.0)
            + math.log(3.0)
            + math.log(8, 2)
            + math.sin(1)
            + math.atan2(1.0, 2.0)
        )
        b = math.floor(2.7) + math.ceil(2.1) + int(2.9) + round(2.5) + math.gcd(12, 18) + math.factorial(5)
        c = math.isnan(float("nan")) or math.isinf(math.inf)
        d = 7 // 2 + -7 // 2 + 7 % 3 + (-7) % 3
        e = 2**5 + 2**-1 + 2.0**3
        f = 7 / 2
        g = abs(-3) + abs(-2.5)
        h = divmod(7, 2)
        i = 5 & 3 | 8 ^ 1
        j = 1 << 4 >> 2
        k = math.fabs(-2.0) + math.hypot(3, 4) if False else math.fabs(-2.0)
        l = math.modf(2.5)
        m = math.frexp(8.0)
        n = (
            math.ldexp(0.5, 3)
            + math.pow(2.0, 3.0)
            + math.fmod(7.0, 4.0)
            + math.copysign(1.0, -2.0)
            + math.erf(0.5)
            + math.erfc(0.5)
            + math.gamma(4.0)
            + math.lgamma(5.0)
            + math.expm1(0.1)
            + math.log1p(0.1)
            + math.degrees(1.0)
            + math.radians(90.0)
            + math.asinh(1.0)
            + math.acosh(2.0)
            + math.atanh(0.5)
        )
        return x * a + b, c, d, e, f, g, h, i, j, k, l, m, n, not c, -d, 3 if c else 4, 2.5 // 1, 7.5 % 2


@feature(X)
class Tensors(nn.Module):
    def forward(self, x: Tensor):
        a = torch.tensor([1, 2, 3])
        b = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
        c = torch.tensor(3.5)
        d = torch.tensor(True)
        e = torch.arange(0, 10, 2)
        f = torch.linspace(0, 1, 5)
        g = torch.full([2, 2], 7)
        h = torch.zeros(2, 3, dtype=torch.int32, device=x.device)
        i = torch.ones_like(x, dtype=torch.float16)
        j = x.to(torch.float64).to(x)
        k = x.type_as(b)
        l = torch.cat([x, x], dim=1)
        m, idx = x.max(dim=1)
        n = x.topk(2, dim=1)
        o = x.tolist() if False else [1]
        p = torch.split(x, [1, 3], dim=1)
        q = x.unbind(0)
        r = x.shape[0] + x.size(1) + x.dim() + x.numel()
        s = x.new_zeros(2, 2)
        t = torch.meshgrid([torch.arange(2), torch.arange(3)])
        u = torch.where(x > 0, x, torch.zeros_like(x))
        v = x.item() if x.numel() == 1 else 0.0
        w = x.dtype == torch.float32
        y = x.is_cuda
        z = torch.tensor([float(x.size(0)), 2.5])
        return (
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            m,
            idx,
            n.values,
            n.indices,
            p,
            q,
            r,
            s,
            t,
            u,
            v,
            w,
            y,
            z,
            x.device.type,
            x.layout == torch.strided,
            len(x),
        )


@feature(torch.randn(3, 4))
class ComplexNumbers(nn.Module):
    def forward(self, x: Tensor):
        z = torch.view_as_complex(x.reshape(3, 2, 2))
        c = complex(1.0, 2.0)
        d = c * 2 + 1j
        y = z * c
        return torch.view_as_real(y), z.abs(), z.real, z.imag, torch.fft.fft(x, dim=-1), abs(c)


@feature(X)
class DevicesDtypes(nn.Module):
    def forward(self, x: Tensor):
        dev = torch.device("cpu")
        y = x.to(dev)
        dt = torch.float64
        if x.dtype == torch.float32:
            dt = torch.int64
        z = x.to(dtype=dt)
        w = torch.zeros([2], dtype=dt, device=dev)
        s = str(dev)
        q = dev.type
        b = x.device == dev
        i = x.to("cpu", torch.float16)
        return (
            y,
            z,
            w,
            s,
            q,
            b,
            i,
            x.double(),
            x.half(),
            x.long(),
            x.int(),
            x.cpu(),
            dev.index,
            x.is_floating_point(),
            torch.is_tensor(x) if False else True,
        )


@feature(X)
class Classes(nn.Module):
    def forward(self, x: Tensor):
        a = Acc(3)
        b = Acc(4)
        a.add(5)
        a.add(6)
        b.total = 14
        return x * a.total, len(a), a.double, a + b, a == b, a[0], 5 in a, a.items, Acc.make(2), a < b


@feature(X)
class Stateful2(nn.Module):
    cache: Dict[str, Tensor]
    hist: List[Tensor]

    def __init__(self):
        super().__init__()
        self.n = 0
        self.cache: Dict[str, Tensor] = {}
        self.hist: List[Tensor] = []
        self.flag = True
        self.name = "abc"
        self.t: Tuple[int, float] = (1, 2.0)
        self.register_buffer("buf", torch.zeros(4))

    def forward(self, x: Tensor):
        self.n += 1
        self.cache["k"] = x
        self.hist.append(x.sum())
        self.flag = not self.flag
        self.buf.add_(x[0])
        self.buf = self.buf * 2
        return x + self.n, self.cache["k"], len(self.hist), self.flag, self.name, self.t, self.buf


@quietly(torch.jit.script)
def fact(n: int) -> int:
    r = 1
    for i in range(1, n + 1):
        r *= i
    return r


def helper(x: Tensor, k: float = 0.5) -> Tensor:
    return x * k


@feature(X, 4)
class Functions(nn.Module):
    def forward(self, x: Tensor, n: int):
        return helper(x) + fact(n) + helper(x, k=2.0)


@feature(X)
class Exceptions(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) == 100:
            raise RuntimeError("bad " + str(x.size(0)))
        assert x.size(1) == 4, "no"
        return x


@feature(X)
class NoGrad(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = x * 2
        if torch.is_grad_enabled():
            y = y + 1
        if torch.jit.is_scripting():
            y = y + 2
        if not self.training:
            y = y + 3
        return y.detach().requires_grad_(False)


@feature(X, [X, X + 1], {"a": X})
class Containers(nn.Module):
    def forward(self, x: Tensor, xs: List[Tensor], d: Dict[str, Tensor]):
        l: List[List[int]] = [[1], [2, 3]]
        l[0].append(7)
        m: Dict[str, List[Tensor]] = {"q": xs}
        m["q"].append(x)
        t = (1, (x, "s"))
        o: List[Optional[Tensor]] = [None, x]
        cnt = 0
        for it in o:
            if it is not None:
                cnt += 1
        e = torch.jit.annotate(List[Tensor], [])
        e.extend(xs)
        e.insert(0, x)
        e.pop(0)
        e2 = e.copy()
        e2.clear()
        nested: Dict[int, Dict[str, int]] = {1: {"a": 2}}
        nested[1]["b"] = 5
        dt: Dict[str, Tuple[int, Tensor]] = {"u": (1, x)}
        u, v = dt["u"]
        return l, len(m["q"]), t, cnt, e, nested, u, v, d["a"] + x, torch.cat(xs), len(e2), xs[-1], xs[1:]


@feature(torch.randn(2, 3, 8, 8))
class Quantized(nn.Module):
    def forward(self, x: Tensor):
        q = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)
        return q


@feature(torch.randn(2, 3, 8, 8))
class Functional(nn.Module):
    def forward(self, x: Tensor):
        F = nn.functional
        a = F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        b = F.interpolate(x, size=[4, 4], mode="nearest")
        c = F.pad(x, [1, 1, 2, 2], "reflect")
        d = F.pad(x, [1, 1])
        e = F.max_pool2d(x, 2)
        f = F.avg_pool2d(x, 3, stride=1, padding=1)
        g = F.adaptive_avg_pool2d(x, [2, 2])
        h = F.softmax(x, dim=1) + F.log_softmax(x, dim=-1)
        i = F.normalize(x, dim=1)
        j = F.layer_norm(x, [8, 8])
        k = F.group_norm(x, 3)
        l = (
            F.gelu(x)
            + F.silu(x)
            + F.hardswish(x)
            + F.leaky_relu(x, 0.2)
            + F.elu(x)
            + F.softplus(x)
            + F.mish(x)
        )
        m = F.one_hot(torch.tensor([0, 2]), 3)
        n = F.embedding(torch.tensor([1, 0]), x[0, 0])
        o = F.grid_sample(x, torch.zeros(2, 4, 4, 2), align_corners=False)
        p = F.unfold(x, [3, 3])
        q = F.cosine_similarity(x, x + 1)
        r = F.mse_loss(x, x + 1) + F.l1_loss(x, x * 2)
        s = F.cross_entropy(x.flatten(1), torch.tensor([0, 1]))
        t = F.dropout(x, 0.5, False)
        u = F.pixel_shuffle(torch.cat([x, x, x, x], 1), 2)
        v = F.scaled_dot_product_attention(x, x, x)
        w = F.instance_norm(x)
        y, yi = F.max_pool2d(x, 2, return_indices=True)
        z = F.conv2d(x, torch.ones(2, 3, 3, 3), stride=2, padding="valid")
        return a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, y, yi, z


@feature(torch.randn(5, 2, 16))
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.att = nn.MultiheadAttention(16, 4)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 1, enable_nested_tensor=False)
        self.dec = nn.TransformerDecoderLayer(16, 4, 32)

    def forward(self, x: Tensor):
        a, w = self.att(x, x, x)
        e = self.enc(x)
        return a, w, e, self.dec(x, e)


class Hooked(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


def pre(self, input: Tuple[Tensor]) -> Tuple[Tensor]:
    return (input[0] + 1,)


def post(self, input: Tuple[Tensor], output: Tensor) -> Tensor:
    return output * 3


@feature(X)
class Hooks(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = Hooked()
        self.h.register_forward_pre_hook(pre)
        self.h.register_forward_hook(post)

    def forward(self, x: Tensor) -> Tensor:
        return self.h(x)


@feature(X)
class Forks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        f = torch.jit.fork(helper, x, 2.0)
        g = torch.jit.fork(helper, x, 3.0)
        return torch.jit.wait(f) + torch.jit.wait(g)


@feature(torch.randn(1, 6), 4)
class BeamSearch(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 6)
        self.out = nn.Linear(6, 6)

    def forward(self, h: Tensor, steps: int):
        beams: List[Tuple[float, List[int], Tensor]] = [(0.0, [0], h)]
        seen: Dict[str, int] = {}
        for s in range(steps):
            cand: List[Tuple[float, List[int], Tensor]] = []
            for score, toks, st in beams:
                x = torch.nn.functional.one_hot(torch.tensor([toks[-1]]), 6).float()
                st2 = self.cell(x, st)
                logp = torch.log_softmax(self.out(st2), -1)[0]
                v, i = logp.topk(2)
                for k in range(2):
                    nt = toks.copy()
                    nt.append(int(i[k]))
                    cand.append((score + float(v[k]), nt, st2))
                key = str(toks[-1])
                if key in seen:
                    seen[key] += 1
                else:
                    seen[key] = 1
            best: List[Tuple[float, List[int], Tensor]] = []
            scores = torch.tensor([c[0] for c in cand])
            order = torch.argsort(scores, descending=True)
            for k in range(min(2, len(cand))):
                best.append(cand[int(order[k])])
            beams = best
        return beams[0][0], beams[0][1], seen


@feature(torch.randn(6, 2, 4))
class PyLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi = nn.Parameter(torch.randn(20, 4) * 0.1)
        self.wh = nn.Parameter(torch.randn(20, 5) * 0.1)
        self.b = nn.Parameter(torch.zeros(20))

    def forward(self, x: Tensor, state: Optional[Tuple[Tensor, Tensor]] = None):
        if state is None:
            z = torch.zeros(x.size(1), 5, dtype=x.dtype, device=x.device)
            state = (z, z)
        hs: List[Tensor] = []
        for t in range(x.size(0)):
            h, c = state
            g = torch.mm(x[t], self.wi.t()) + torch.mm(h, self.wh.t()) + self.b
            i, f, o, u = g.chunk(4, 1)
            i = torch.sigmoid(i)
            f = torch.sigmoid(f)
            o = torch.sigmoid(o)
            u = torch.tanh(u)
            c = f * c + i * u
            h = o * torch.tanh(c)
            hs.append(h)
            state = (h, c)
        return torch.stack(hs), state


@feature(X)
class ByData(nn.Module):
    def forward(self, x: Tensor):
        a = torch.nonzero(x > 0)
        b = torch.masked_select(x, x > 0.5)
        c = x[x > 1].sum()
        d = torch.unique(x.round())
        e = torch.where(x > 0)
        f = torch.argwhere(x > 0)
        g = torch.repeat_interleave(torch.tensor([1, 2, 3]), torch.tensor([2, 1, 0]))
        h = torch.bincount(torch.tensor([1, 2, 2]))
        u, inv, cnt = torch.unique(x.round(), return_inverse=True, return_counts=True)
        v = torch.unique_consecutive(torch.tensor([1, 1, 2]))
        idx = torch.nonzero(x > 0, as_tuple=True)[0] if False else torch.where(x > 0)[0]
        k = x[idx]
        y = x.clone()
        y[x > 0] = y[x > 0] * 2
        n = int((x > 0).sum())
        z = torch.zeros(n)
        return a, b, c, d, e[0], e[1], f, g, h, u, inv, cnt, v, k, y, z, n, k.shape[0]


@feature(X)
class Writes(nn.Module):
    def forward(self, x: Tensor):
        y = torch.zeros(3, 4)
        for i in range(3):
            y[i] = x[i] * i
            y[i, 0] = float(i)
            y[i][1] = i
        y[:, 2] = x[:, 1]
        y[0, 1:3] = torch.tensor([7.0, 8.0])
        z = x.clone()
        z[1:] -= 1
        w = torch.empty_like(x)
        w[...] = x
        w[0] = 3
        return y, z, w


@feature(X)
class ToList(nn.Module):
    def forward(self, x: Tensor):
        l: List[List[float]] = x.tolist()
        i: List[int] = torch.arange(3).tolist()
        s: float = x[0, 0].tolist()
        return l, i, s


@feature(X)
class ListTensor(nn.Module):
    def forward(self, x: Tensor):
        l = [x[0], x[1]]
        a = x[0] in [x[0].sum()] if False else True
        l2 = sorted([torch.tensor(2.0), torch.tensor(1.0)])
        i = [torch.tensor(3), torch.tensor(4)].index(torch.tensor(4))
        return l, a, l2, i


@feature(X)
class Interp(nn.Module):
    def forward(self, x: Tensor):
        y = x.reshape(1, 1, 3, 4)
        a = torch.ops.aten.__interpolate(y, [6, 8], None, "bilinear", False, None) if False else y
        b = torch.conv2d(y, torch.ones(1, 1, 2, 2), None, [1, 1], "same")
        c = torch.stft(x.reshape(12), 4, 2, 4, torch.hann_window(4), return_complex=True)
        return a, b, c.abs()


@feature(X)
class Optim(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.d = nn.Dropout(0.5)
        self.e = nn.EmbeddingBag(5, 3, mode="sum")
        self.emb = nn.Embedding(5, 3, padding_idx=0)
        self.c3 = nn.Conv3d(1, 1, 1)
        self.ct = nn.ConvTranspose2d(1, 1, 2)
        self.bil = nn.Bilinear(4, 4, 2)
        self.pr = nn.PReLU()
        self.ap = nn.AdaptiveMaxPool2d(2)
        self.rp = nn.ReflectionPad2d(1)
        self.up = nn.Upsample(scale_factor=2)

    def forward(self, x: Tensor):
        y = x.reshape(1, 1, 3, 4)
        return (
            self.bn(x),
            self.d(x),
            self.e(torch.tensor([[0, 1]])),
            self.emb(torch.tensor([0, 1])),
            self.c3(y.unsqueeze(0)),
            self.ct(y),
            self.bil(x, x),
            self.pr(x),
            self.ap(y),
            self.rp(y),
            self.up(y),
        )


@feature(X, 2)
class Early(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, Optional[Tensor]]:
        if n > 3:
            return x, None
        for i in range(10):
            if i == n:
                if n % 2 == 0:
                    return x * i, x
                else:
                    break
        else_ = 3
        return x, None


@feature(X)
class EarlyByData(nn.Module):
    def within(self, x: Tensor, most: float) -> Tuple[Tensor, Dict[str, Tensor], int]:
        n = 0
        while bool(x.abs().sum() < 100):
            x = x * 1.5
            n += 1
            if bool(x.max() > most):
                return x * 100, {"a": x}, n
        return x, {"a": x - 1}, -n

    def forward(self, x: Tensor):
        for i in range(6):
            if bool((x + i).min() > 1):
                return x + i, self.within(x, 3.0), self.within(x, 1e5)
        return x, self.within(-x, 3.0), self.within(x, 1e5)


@feature(X)
class Gener(nn.Module):
    def forward(self, x: Tensor):
        try_ = torch.manual_seed(0)
        return (
            torch.rand(2, 2),
            torch.randn_like(x),
            torch.randint(0, 5, [3]),
            torch.randperm(4),
            torch.bernoulli(torch.full([3], 0.5)),
        )


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4))
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x * self.w + self.count


@feature(X)
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Child()
        self.b = self.a
        self.c = Child()
        self.c.w = self.a.w

    def forward(self, x: Tensor) -> Tensor:
        return self.a(x) + self.b(x) + self.c(x)


@feature(X)
class Consts(nn.Module):
    __constants__ = ["k", "names"]

    def __init__(self):
        super().__init__()
        self.k = 3
        self.names = ["a", "b"]
        self.f: Final[float] = 2.5
        self.sizes = (1, 2)
        self.opt: Optional[int] = None
        self.lst: List[int] = [1, 2, 3]
        self.dct: Dict[str, float] = {"a": 1.0}
        self.dev = torch.device("cpu")
        self.dt = torch.float64
        self.c = torch.tensor([1.0, 2, 3, 4])

    def forward(self, x: Tensor):
        s = 0
        for n in self.names:
            s += len(n)
        if self.opt is None:
            s += self.k
        return (
            x * self.f + self.c,
            s,
            self.sizes[1],
            self.lst,
            self.dct["a"],
            torch.zeros(1, dtype=self.dt, device=self.dev),
        )


@feature(X)
class Globals(nn.Module):
    def forward(self, x: Tensor):
        a = torch.finfo(torch.float32).eps if False else 1e-7
        b = x.max().item()
        c = float(x.min())
        d = int(x.argmax())
        e = bool((x > 1).any())
        return (
            x.softmax(-1).clamp_min(a),
            b,
            c,
            d,
            e,
            x.std(),
            x.var(dim=0, keepdim=True),
            x.median(),
            torch.quantile(x, 0.5),
            x.norm(),
            x.cumsum(0),
            x.diff(),
            torch.einsum("ij,kj->ik", x, x),
            x @ x.t(),
            x.flip(0),
            x.roll(1, 0),
            torch.tril(x),
            x.gather(1, torch.zeros(3, 1, dtype=torch.long)),
            torch.cdist(x, x),
            x.sort(dim=1)[0],
            x.expand(2, 3, 4),
            x.repeat(2, 1),
            torch.outer(x[0], x[1]),
            x.prod(),
            x.logsumexp(0),
        )


@feature(X)
class StringDict(nn.Module):
    def forward(self, x: Tensor):
        d: Dict[str, int] = {}
        for w in "the cat the dog".split():
            if w in d:
                d[w] += 1
            else:
                d[w] = 1
        ks = list(d.keys())
        ks.sort()
        its = d.items()
        out: List[str] = []
        for k, v in its:
            out.append("{}={}".format(k, v))
        if len(out) == 3 and "cat=1" in out:
            x = x + 1
        return x, d, ks, out, ",".join(out)


@feature([X, X * 2])
class TupleIn(nn.Module):
    def forward(self, xs: List[Tensor]) -> List[Tensor]:
        a, b = xs
        r: List[Tensor] = []
        for i, (p, q) in enumerate(zip(xs, [b, a])):
            r.append(p + q * i)
        for t in reversed([1, 2]) if False else [1, 2]:
            r[0] = r[0] + t
        return r[::-1]


@feature(X)
class WithCtx(nn.Module):
    def forward(self, x: Tensor):
        with torch.autograd.profiler.record_function("foo"):
            y = x + 1
        with torch.jit.strict_fusion() if False else torch.no_grad():
            y = y * 2
        return y


@feature(torch.tensor(5.0))
class CondData(nn.Module):
    def forward(self, x: Tensor):
        if x > 3:
            y = x * 2
            n = 1
        else:
            y = x
            n = 2
        while y < 50:
            y = y * 1.5
            n += 1
        return y, n


@feature(X)
class Loop2(nn.Module):
    def forward(self, x: Tensor):
        i = 0
        s = x.sum()
        while bool(s < 10.0) and i < 20:
            s = s + x.abs().sum()
            i += 1
            if bool(s > 7.0):
                break
        return s, i
