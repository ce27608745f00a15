#include "qix_probe.h"

/* Docids and the beginning of the frequencies of most blocks. */
#define PREFETCH_LINES 3u
#define LINE_BYTES 64u

void qix_probe_open(qix_probe *probe, const qix_cursor *cursor)
{
    probe->cursor = cursor;
    probe->near = 0;
    probe->index = probe->bound_block = QIX_NO_BLOCK;
}

void qix_probe_rewind(qix_probe *probe)
{
    probe->near = 0;
}

uint32_t qix_probe_block(qix_probe *probe, uint32_t docid)
{
    const qix_list *list = &probe->cursor->list;
    if (!list->is_long)
        return 0;
    return probe->near = qix_list_find(list, probe->near, docid);
}

void qix_probe_prefetch(const qix_probe *probe, uint32_t block)
{
    const qix_list *list = &probe->cursor->list;
    if (!list->is_long || probe->index == block)
        return;
    uint64_t at = qix_load_u32(list->block_offsets + 4 * (uint64_t)block), bytes = qix_left(&list->bytes);
    for (uint32_t line = 0; line < PREFETCH_LINES && at < bytes; line++, at += LINE_BYTES)
        __builtin_prefetch(list->bytes.pos + at);
}

double qix_probe_norm(const qix_run *run, qix_probe *probe, uint32_t block)
{
    const qix_list *list = &probe->cursor->list;
    if (!list->is_long)
        return probe->cursor->short_norm;
    if (probe->bound_block != block) {
        probe->bound_block = block;
        probe->bound_norm = qix_pairs_norm(run->ranker, list->block_pairs + 2 * QIX_PAIRS * (uint64_t)block);
    }
    return probe->bound_norm;
}

static bool check(qix_run *run, qix_probe *probe, qix_status status)
{
    if (!status)
        return true;
    probe->index = QIX_NO_BLOCK;
    qix_run_fail(run, status);
    return false;
}

/* So that loops of fixed length end in it. */
static void pad(qix_block *block)
{
    for (uint32_t i = block->count; i < QIX_BLOCK; i++) {
        block->docids[i] = QIX_DOC_END;
        block->tfs[i] = 1;
        block->codes[i] = 0;
    }
}

static bool enter(qix_run *run, qix_probe *probe, uint32_t index)
{
    if (probe->index == index)
        return true;
    qix_status status = QIX_OK;
    if (probe->cursor->list.is_long) {
        status = qix_list_enter(&probe->cursor->list, index, &probe->block, run->fault);
        run->postings_decoded += qix_list_count(&probe->cursor->list, index);
        run->blocks_decoded++;
    } else {
        probe->block = probe->cursor->block; /* decoded when it was opened */
    }
    if (!check(run, probe, status))
        return false;
    pad(&probe->block);
    probe->has_bits = false;
    probe->index = index;
    return true;
}

/* Take the bits of a short bitmap as they are; false if they are not what their summary says, which decoding shows. */
static bool take_bits(qix_probe *probe, uint32_t index)
{
    const qix_list *list = &probe->cursor->list;
    const qix_block *block = &probe->block;
    uint64_t bytes = qix_left(&block->packed_docids), last = 0;
    uint32_t found = 0;
    if (block->kind != QIX_BLOCK_BITMAP || bytes > 8 * QIX_PROBE_WORDS)
        return false;
    uint8_t raw[8 * QIX_PROBE_WORDS] = {0};
    memcpy(raw, block->packed_docids.pos, bytes);
    for (uint32_t i = 0; i < QIX_PROBE_WORDS; i++) {
        uint64_t word = qix_load_u64(raw + 8 * i);
        probe->bits[i] = word;
        probe->ranks[i] = (uint8_t)found;
        found += (uint32_t)__builtin_popcountll(word);
        last = word ? 64 * i + 63 - (uint32_t)__builtin_clzll(word) : last;
        if (found > QIX_BLOCK)
            return false;
    }
    probe->bits_start = (uint32_t)(qix_list_previous(list, index) + 1);
    return found == QIX_BLOCK && probe->bits_start + last == qix_list_last(list, index) &&
           qix_list_last(list, index) < list->segment->info.doc_count;
}

bool qix_probe_ready(qix_run *run, qix_probe *probe, uint32_t index)
{
    if (!enter(run, probe, index))
        return false;
    if (probe->block.has_docids || probe->has_bits)
        return true;
    probe->has_bits = take_bits(probe, index);
    return probe->has_bits || qix_probe_docids(run, probe, index);
}

bool qix_probe_fill(qix_run *run, qix_probe *probe, uint32_t index)
{
    if (!enter(run, probe, index))
        return false;
    if (!probe->block.is_whole && !probe->block.has_codes && !qix_probe_docids(run, probe, index))
        return false;
    return check(run, probe, qix_list_fill(&probe->cursor->list, &probe->block, run->fault));
}

bool qix_probe_docids(qix_run *run, qix_probe *probe, uint32_t index)
{
    return enter(run, probe, index) &&
           check(run, probe, qix_list_locate(&probe->cursor->list, index, &probe->block, run->fault));
}
