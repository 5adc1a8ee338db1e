/* The runtime half of the accelerator in C, for libraries of xdsl-exir: NAME_backend_npu(&npu) before NAME_load. As driver.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include LIBRARY

struct step {
  int64_t x, w, b, relu, int8, batch, rows, columns, tile, at_x, at_w, at_y, x_zero, y_zero;
  double x_scale, w_scale, y_scale;
};
struct delegate { int64_t steps, outputs; struct step step[]; };

static float number(const struct step *s, float sum, const float *b, int64_t row) {
  float y = (s->int8 ? sum * (float)(s->x_scale * s->w_scale) : sum) + (b ? b[row] : 0);
  return s->relu && y < 0 ? 0 : y;
}

/* One layer, so many rows of the weight at a time as fit: what is computed is in local memory alone. */
static void layer(const struct step *s, const char *weights, const char *x, char *y) {
  _Alignas(64) static _Thread_local char local[64 * 1024];
  const int64_t size = s->int8 ? 1 : 4;
  const float *b = s->b < 0 ? NULL : (const float *)(weights + s->b);
  memcpy(local + s->at_x, x, s->batch * s->columns * size);
  for (int64_t start = 0; start < s->rows; start += s->tile) {
    const int64_t rows = s->rows - start < s->tile ? s->rows - start : s->tile;
    memcpy(local + s->at_w, weights + s->w + start * s->columns * size, rows * s->columns * size);
    for (int64_t i = 0; i < s->batch; i++)
      for (int64_t j = 0; j < rows; j++) {
        const int64_t in = s->columns * i, of = s->columns * j, out = i * rows + j;
        if (s->int8) {
          const int8_t *a = (int8_t *)(local + s->at_x) + in, *w = (int8_t *)(local + s->at_w) + of;
          int32_t sum = 0;
          for (int64_t k = 0; k < s->columns; k++) sum += (a[k] - (int32_t)s->x_zero) * w[k];
          float q = rintf(number(s, (float)sum, b, start + j) / (float)s->y_scale) + s->y_zero;
          ((int8_t *)(local + s->at_y))[out] = q < -128 ? -128 : q > 127 ? 127 : (int8_t)q;
        } else {
          const float *a = (float *)(local + s->at_x) + in, *w = (float *)(local + s->at_w) + of;
          float sum = 0;
          for (int64_t k = 0; k < s->columns; k++) sum += a[k] * w[k];
          ((float *)(local + s->at_y))[out] = number(s, sum, b, start + j);
        }
      }
    for (int64_t i = 0; i < s->batch; i++)
      memcpy(y + (i * s->rows + start) * size, local + s->at_y + i * rows * size, rows * size);
  }
}

static void *load(const void *bytes, int64_t count, const char *const *specs) { return (void *)bytes; }
static void unload(void *made) {}

static int run(void *made, int inputs, const exir_array *in, int outputs, const exir_array *out) {
  const struct delegate *d = made;
  const int64_t *returned = (const int64_t *)(d->step + d->steps);
  char *values[inputs + d->steps];
  for (int i = 0; i < inputs; i++) values[i] = in[i].data;
  for (int64_t i = 0; i < d->steps; i++) {
    const struct step *s = &d->step[i];
    values[inputs + i] = malloc(s->batch * s->rows * 4);
    layer(s, (const char *)(returned + d->outputs), values[s->x], values[inputs + i]);
  }
  for (int i = 0; i < outputs; i++) {
    const struct step *s = &d->step[returned[i] - inputs];
    memcpy(out[i].data, values[returned[i]], s->batch * s->rows * (s->int8 ? 1 : 4));
  }
  for (int64_t i = 0; i < d->steps; i++) free(values[inputs + i]);
  return 0;
}

const exir_backend npu = {load, run, unload};
