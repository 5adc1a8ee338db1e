"""Random numbers in C: the functions that a program's code calls (`lowering.draws`), after `interpreter.generator`, and how they are seeded.

They draw from the generator of the instance whose method is running.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

GENERATOR = """
struct generator { /* mt19937 */
  uint32_t state[624];
  int at;
  bool has_kept; /* the second number of the last pair of normal ones */
  double kept;
};

static $thread_local struct generator *drawing; /* that of the instance whose method runs */

static void seed(struct generator *g, uint64_t number) {
  g->state[0] = (uint32_t)number;
  for (uint32_t i = 1; i < 624; i++)
    g->state[i] = UINT32_C(1812433253) * (g->state[i - 1] ^ g->state[i - 1] >> 30) + i;
  g->at = 624;
  g->has_kept = false;
}

static uint32_t word(void) {
  struct generator *g = drawing;
  if (g->at == 624) {
    for (int i = 0; i < 624; i++) {
      uint32_t y = (g->state[i] & UINT32_C(0x80000000)) | (g->state[(i + 1) % 624] & UINT32_C(0x7fffffff));
      g->state[i] = g->state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? UINT32_C(0x9908b0df) : 0);
    }
    g->at = 0;
  }
  uint32_t y = g->state[g->at++];
  y ^= y >> 11;
  y ^= y << 7 & UINT32_C(0x9d2c5680);
  y ^= y << 15 & UINT32_C(0xefc60000);
  return y ^ y >> 18;
}

static uint64_t words(void) { /* the upper half first */
  uint64_t upper = word();
  return upper << 32 | word();
}

static float uniform32(void) { return (word() & 0xffffff) * 0x1p-24f; }
static double uniform64(void) { return (double)(words() & ((UINT64_C(1) << 53) - 1)) * 0x1p-53; }

/* Two at a time; the second is the next one's. */
static double normal(void) {
  struct generator *g = drawing;
  if (g->has_kept) {
    g->has_kept = false;
    return g->kept;
  }
  const double angle = uniform64(), distance = uniform64(), radius = sqrt(-2.0 * log1p(-distance));
  g->kept = radius * sin(6.283185307179586 * angle);
  g->has_kept = true;
  return radius * cos(6.283185307179586 * angle);
}
"""

FUNCTIONS = {
    "uniform.float32": """
$name {
  const double *p = AT(1);
  const float low = p[0], end = p[1];
  for (int64_t i = 0; i < n0; i++) { /* 48 bits of a product are exact in float64 */
    float x = uniform32() * (double)(end - low) + (double)low;
    ((float *)AT(0))[i] = x == end ? low : x;
  }
}
""",
    "uniform.float64": """
$name {
  const double *p = AT(1);
  for (int64_t i = 0; i < n0; i++) {
    double x = fma(uniform64(), p[1] - p[0], p[0]);
    ((double *)AT(0))[i] = x == p[1] ? p[0] : x;
  }
}
""",
    "integers.int64": """
$name {
  const int64_t *p = AT(1);
  for (int64_t i = 0; i < n0; i++)
    ((int64_t *)AT(0))[i] = (int64_t)((p[2] ? words() : word()) % (uint64_t)p[1] + (uint64_t)p[0]);
}
""",
    "permutation.int64": """
$name {
  int64_t *x = AT(0);
  for (int64_t i = 0; i < n0; i++) x[i] = i;
  for (int64_t i = 0; i + 1 < n0; i++) {
    int64_t other = i + word() % (n0 - i), held = x[i];
    x[i] = x[other];
    x[other] = held;
  }
}
""",
    **{
        f"log_normal.{dtype}": Template("""
$$name {
  const double *p = AT(1);
  for (int64_t i = 0; i < n0; i++) (($type *)AT(0))[i] = exp(normal() * p[1] + p[0]);
}
""").substitute(type=type)
        for dtype, type in (("float32", "float"), ("float64", "double"))
    },
    **{
        f"normal.{dtype}": Template("""
/* Sixteen at a time by the method of Box and Muller, the last sixteen from draws of their own where the rest is fewer; fewer than sixteen in pairs. */
$$name {
  $type *x = AT(0);
  if (n0 < 16) {
    for (int64_t i = 0; i < n0; i++) x[i] = normal();
    return;
  }
  for (int64_t i = 0; i < n0; i++) x[i] = $uniform();
  for (int64_t i = 0; i < n0; i += 16) {
    if (i + 16 > n0) {
      i = n0 - 16;
      for (int j = 0; j < 16; j++) x[i + j] = $uniform();
    }
    for (int j = 0; j < 8; j++) {
      const $type radius = sqrt$f(-2 * log$f(1 - x[i + j])), angle = ($type)6.283185307179586 * x[i + j + 8];
      x[i + j] = radius * cos$f(angle);
      x[i + j + 8] = radius * sin$f(angle);
    }
  }
}
""").substitute(type=type, uniform=uniform, f=f)
        for dtype, type, uniform, f in (
            ("float32", "float", "uniform32", "f"),
            ("float64", "double", "uniform64", ""),
        )
    },
}
"""By what comes after the prefix of its name, the definition of each function."""


def definitions(names: Mapping[str, int], thread_local: str) -> str:
    """The generator, and the functions of these names, each with how many memrefs it takes; nothing for none."""
    if not names:
        return ""
    parts = [Template(GENERATOR).substitute(thread_local=thread_local), "\n#define AT(i) (v##i + o##i)\n"]
    for index, (name, count) in enumerate(names.items()):
        kind = ".".join(name.split(".")[-2:])
        text = FUNCTIONS[kind]
        parameters = ", ".join(
            f"void *a{i}, {element(kind, i)} *v{i}, int64_t o{i}, int64_t n{i}, int64_t s{i}"
            for i in range(count)
        )
        parts.append(f'\nvoid draw{index}({parameters}) __asm__("{name}");')
        parts.append(Template(text).substitute(name=f"void draw{index}({parameters})"))
    return "".join([*parts, "#undef AT\n"])


ELEMENTS = {"float32": "float", "float64": "double", "int64": "int64_t"}


def element(kind: str, argument: int) -> str:
    """The type of the elements of an argument: parameters are float64, of integers int64."""
    function, dtype = kind.split(".")
    return ELEMENTS[dtype] if not argument else "int64_t" if function == "integers" else "double"
