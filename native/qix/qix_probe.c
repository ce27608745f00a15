#include "qix_probe.h"

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

/* So that a search of fixed length ends in it. */
static void pad(qix_block *block)
{
    for (uint32_t i = block->count; i < QIX_BLOCK; i++)
        block->docids[i] = QIX_DOC_END;
}

bool qix_probe_enter(qix_run *run, qix_probe *probe, uint32_t index)
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
    probe->index = index;
    return true;
}

bool qix_probe_fill(qix_run *run, qix_probe *probe, uint32_t index)
{
    if (!qix_probe_enter(run, probe, index))
        return false;
    if (!probe->block.is_whole && !probe->block.has_codes && !qix_probe_locate(run, probe, index))
        return false;
    return check(run, probe, qix_list_fill(&probe->cursor->list, &probe->block, run->fault));
}

bool qix_probe_locate(qix_run *run, qix_probe *probe, uint32_t index)
{
    return qix_probe_enter(run, probe, index) &&
           check(run, probe, qix_list_locate(&probe->cursor->list, index, &probe->block, run->fault));
}
