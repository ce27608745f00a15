#include "qix_order.h"

#include <string.h>

static void merge_runs(uint64_t *from, uint64_t *to, uint64_t start, uint64_t middle, uint64_t end,
                       qix_in_order_fn in_order, const void *context)
{
    uint64_t left = start, right = middle;
    for (uint64_t at = start; at < end; at++) {
        bool take_left = right == end || (left < middle && in_order(context, from[left], from[right]));
        to[at] = take_left ? from[left++] : from[right++];
    }
}

static bool is_in_order(const uint64_t *refs, uint64_t count, qix_in_order_fn in_order, const void *context)
{
    for (uint64_t i = 1; i < count; i++)
        if (!in_order(context, refs[i - 1], refs[i]))
            return false;
    return true;
}

void qix_sort_refs(uint64_t *refs, uint64_t *scratch, uint64_t count, qix_in_order_fn in_order, const void *context)
{
    if (is_in_order(refs, count, in_order, context))
        return;
    uint64_t *from = refs, *to = scratch;
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t start = 0; start < count; start += 2 * run) {
            uint64_t middle = count - start > run ? start + run : count;
            uint64_t end = count - middle > run ? middle + run : count;
            merge_runs(from, to, start, middle, end, in_order, context);
        }
        uint64_t *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != refs)
        memcpy(refs, from, count * sizeof *refs);
}
