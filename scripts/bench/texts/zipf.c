/* Generated text on standard output: one document a line, documents in random order.
 *
 *   zipf DOCUMENTS SEED [MEAN_TOKENS]
 *
 * Words follow Zipf and Mandelbrot: the chance of rank r (from 1) is proportional to (r + SHIFT)^-EXPONENT, over VOCABULARY words.
 * Lengths are lognormal with mean MEAN_TOKENS (300) and sigma SIGMA, as pages of the web have, within LENGTH_MIN and
 * LENGTH_MAX. A word once used is likely to come again (Simon 1955): with chance REPEAT a token repeats an earlier one
 * of its document. Documents follow from the seed one after the other, so a longer text begins with the shorter one. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOCABULARY 500000u
#define EXPONENT 1.07
#define SHIFT 2.7
#define SIGMA 0.9
#define REPEAT 0.35
#define MEAN_TOKENS 300.0
#define LENGTH_MIN 8.0
#define LENGTH_MAX 8000.0
#define WORD_BYTES 8u /* three syllables and a blank */
#define PI 3.14159265358979323846

/* xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64. */
static uint64_t chance[4];

static uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static uint64_t draw(void)
{
    uint64_t result = rotate(chance[1] * 5, 7) * 9, shifted = chance[1] << 17;
    chance[2] ^= chance[0];
    chance[3] ^= chance[1];
    chance[1] ^= chance[2];
    chance[0] ^= chance[3];
    chance[2] ^= shifted;
    chance[3] = rotate(chance[3], 45);
    return result;
}

static void seed_chance(uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        chance[i] = z ^ z >> 31;
    }
}

/* In [0, 1). */
static double draw_share(void)
{
    return (double)(draw() >> 11) * 0x1p-53;
}

static uint32_t draw_below(uint32_t end)
{
    return (uint32_t)((draw() >> 32) * end >> 32);
}

/* Ranks by the alias method (Walker 1977): one draw and one look-up whatever the distribution. */
typedef struct {
    uint32_t keep; /* the share of this rank in its column, of 2^32 */
    uint32_t other;
} column;

static column columns[VOCABULARY];

static void make_columns(void)
{
    double *share = malloc(VOCABULARY * sizeof *share), sum = 0.0;
    uint32_t *stack = malloc(VOCABULARY * sizeof *stack), small = 0, large = VOCABULARY;
    if (!share || !stack)
        exit(1);
    for (uint32_t i = 0; i < VOCABULARY; i++)
        sum += share[i] = pow(i + 1.0 + SHIFT, -EXPONENT);
    for (uint32_t i = 0; i < VOCABULARY; i++) {
        share[i] *= VOCABULARY / sum;
        stack[share[i] < 1.0 ? small++ : --large] = i;
    }
    while (small && large < VOCABULARY) {
        uint32_t low = stack[--small], high = stack[large];
        columns[low] = (column){(uint32_t)(share[low] * 0x1p32), high};
        share[high] -= 1.0 - share[low];
        if (share[high] < 1.0) {
            large++;
            stack[small++] = high;
        }
    }
    while (large < VOCABULARY)
        stack[small++] = stack[large++];
    while (small) {
        uint32_t i = stack[--small];
        columns[i] = (column){UINT32_MAX, i};
    }
    free(share);
    free(stack);
}

static uint32_t draw_rank(void)
{
    uint64_t bits = draw();
    uint32_t i = (uint32_t)((bits >> 32) * VOCABULARY >> 32);
    return (uint32_t)bits <= columns[i].keep ? i : columns[i].other;
}

/* Words that can be read aloud, shorter ones for commoner ranks; each ends in the blank that follows it. */
static char words[VOCABULARY][WORD_BYTES];
static uint8_t word_bytes[VOCABULARY];

static void make_words(void)
{
    static const char consonants[] = "bdfghklmnprstvwz", vowels[] = "aeiou";
    const uint32_t syllables = 16 * 5;
    for (uint32_t rank = 0; rank < VOCABULARY; rank++) {
        unsigned length = 0;
        /* Numbers to the base of the syllables without a zero, so that every rank has a word of its own. */
        for (uint32_t rest = rank + 1; rest; rest = (rest - 1) / syllables) {
            uint32_t digit = (rest - 1) % syllables;
            words[rank][length++] = consonants[digit / 5];
            words[rank][length++] = vowels[digit % 5];
        }
        words[rank][length++] = ' ';
        word_bytes[rank] = (uint8_t)length;
    }
}

static uint32_t draw_length(double mean)
{
    double normal = sqrt(-2.0 * log(1.0 - draw_share())) * cos(2.0 * PI * draw_share());
    double length = exp(log(mean) - SIGMA * SIGMA / 2.0 + SIGMA * normal);
    return (uint32_t)fmin(fmax(length, LENGTH_MIN), LENGTH_MAX);
}

static int write_document(double mean)
{
    static uint32_t ranks[(size_t)LENGTH_MAX];
    static char line[(size_t)LENGTH_MAX * WORD_BYTES];
    const uint32_t repeat = (uint32_t)(REPEAT * 0x1p32);
    uint32_t length = draw_length(mean);
    char *at = line;
    for (uint32_t i = 0; i < length; i++) {
        int is_repeat = i && (uint32_t)draw() < repeat;
        ranks[i] = is_repeat ? ranks[draw_below(i)] : draw_rank();
        memcpy(at, words[ranks[i]], WORD_BYTES);
        at += word_bytes[ranks[i]];
    }
    at[-1] = '\n';
    return fwrite(line, 1, (size_t)(at - line), stdout) == (size_t)(at - line);
}

int main(int count, char **arguments)
{
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: zipf DOCUMENTS SEED [MEAN_TOKENS]\n");
        return 2;
    }
    double mean = count == 4 ? strtod(arguments[3], NULL) : MEAN_TOKENS;
    seed_chance(strtoull(arguments[2], NULL, 10));
    make_columns();
    make_words();
    for (uint64_t left = strtoull(arguments[1], NULL, 10); left; left--)
        if (!write_document(mean)) {
            perror("zipf");
            return 1;
        }
    return fflush(stdout) ? 1 : 0;
}
