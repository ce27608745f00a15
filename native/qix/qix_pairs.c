#include "qix_block.h"
#include "qix_tf_code.h"

static double norm_of(uint8_t tf_code, uint32_t code, const double norm_k[256])
{
    double tf = qix_tf_decode(tf_code);
    return tf / (tf + norm_k[code]);
}

/* The postings that no other one beats in both frequency and length, by ascending code. Gives how many. */
static uint32_t frontier(const uint32_t *tfs, const uint32_t *codes, uint32_t count, qix_pair ret[256])
{
    uint8_t best[256] = {0};
    uint32_t lowest = 255, highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t tf = qix_tf_encode(tfs[i]);
        if (best[codes[i]] < tf)
            best[codes[i]] = tf;
        lowest = codes[i] < lowest ? codes[i] : lowest;
        highest = codes[i] > highest ? codes[i] : highest;
    }
    uint32_t found = 0;
    uint8_t top = 0;
    for (uint32_t code = lowest; code <= highest; code++)
        if (best[code] > top) {
            top = best[code];
            ret[found++] = (qix_pair){top, (uint8_t)code};
        }
    return found;
}

/* Join the neighbours whose common bound rises least above theirs. */
static void join_cheapest(qix_pair *pairs, uint32_t count, const double norm_k[256])
{
    uint32_t cheapest = 0;
    double least = 2.0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        double joined = norm_of(pairs[i + 1].tf, pairs[i].code, norm_k);
        double left = norm_of(pairs[i].tf, pairs[i].code, norm_k);
        double right = norm_of(pairs[i + 1].tf, pairs[i + 1].code, norm_k);
        double rise = joined - (left > right ? left : right);
        if (rise < least) {
            least = rise;
            cheapest = i;
        }
    }
    pairs[cheapest].tf = pairs[cheapest + 1].tf;
    for (uint32_t i = cheapest + 1; i + 1 < count; i++)
        pairs[i] = pairs[i + 1];
}

void qix_pairs_of(const uint32_t *tfs, const uint32_t *codes, uint32_t count, const double norm_k[256],
                  qix_pair ret_pairs[QIX_PAIRS])
{
    qix_pair all[256] = {{0, 0}};
    uint32_t found = frontier(tfs, codes, count, all);
    for (; found > QIX_PAIRS; found--)
        join_cheapest(all, found, norm_k);
    for (uint32_t i = 0; i < QIX_PAIRS; i++)
        ret_pairs[i] = all[i < found ? i : 0];
}
