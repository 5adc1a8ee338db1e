/* Continues a sequence of words, each by its number: ./generate out/decoder.weights 3 14 15 92
 *
 * The prompt, of any length, goes through `prefill` at once, what follows through `decode`, word by word. What both have
 * seen is in the library, which keeps the decoder's cache. */
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"

enum { STEPS = 16, LONGEST = 64 - STEPS, WORDS = DECODER_DECODE_OUT0_ELEMENTS };

static int64_t likeliest(const float *scores) {
  int64_t best = 0;
  for (int64_t word = 1; word < WORDS; word++)
    if (scores[word] > scores[best]) best = word;
  return best;
}

int main(int argc, char **argv) {
  static int64_t prompt[LONGEST];
  float scores[WORDS];
  int length = argc - 2;
  if (length < 0 || length > LONGEST) {
    fprintf(stderr, "usage: %s WEIGHTS WORD... (at most %d)\n", argv[0], LONGEST);
    return EXIT_FAILURE;
  }
  for (int i = 0; i < length; i++) prompt[i] = strtoll(argv[i + 2], NULL, 10) % WORDS;

  int code = decoder_load(argv[1]);
  if (!code) code = decoder_prefill(length, prompt, scores);
  for (int step = 0; !code && step < STEPS; step++) {
    int64_t word = likeliest(scores);
    printf("%lld\n", (long long)word);
    code = decoder_decode(&word, scores);
  }
  if (code) fprintf(stderr, "%s\n", decoder_error());
  decoder_free();
  return code;
}
