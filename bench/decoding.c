/* Decodes a word at a time, the likeliest each, and says how long a word takes: ./decoding WEIGHTS PROMPT STEPS
 *
 * The prompt is the words 1, 2, ... PROMPT. The words go to standard output, the least milliseconds of a step to standard error. */
#define _POSIX_C_SOURCE 199309L
#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decoding.h"

enum { LONGEST = 512, WORDS = DECODING_DECODE_OUT0_ELEMENTS };

static int64_t likeliest(const float *scores) {
  int64_t best = 0;
  for (int64_t word = 1; word < WORDS; word++)
    if (scores[word] > scores[best]) best = word;
  return best;
}

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  static int64_t prompt[LONGEST];
  static float scores[WORDS];
  double least = 1e9;
  if (argc != 4) return EXIT_FAILURE;
  int length = atoi(argv[2]), steps = atoi(argv[3]);
  for (int at = 0; at < length; at++) prompt[at] = at + 1;

  int code = decoding_load(argv[1]);
  if (!code) code = decoding_prefill(prompt, scores);
  for (int step = 0; !code && step < steps; step++) {
    int64_t word = likeliest(scores);
    printf("%lld\n", (long long)word);
    double start = milliseconds();
    code = decoding_decode(&word, scores);
    double took = milliseconds() - start;
    if (took < least) least = took;
  }
  if (code) fprintf(stderr, "%s\n", decoding_error());
  else fprintf(stderr, "%f\n", least);
  decoding_free();
  return code;
}
