/* Phrases and terms within fields: what needs positions. */
#include "qix_cursor.h"

static bool step(qix_run *run, const qix_cursor *c, qix_position_walk *walk)
{
    const char *reason;
    if (qix_position_next(walk, &reason))
        return true;
    if (reason)
        qix_run_fail(run, qix_corrupt(run->fault, qix_offset_of(run->segment, c->list.positions.pos), reason));
    return false;
}

static uint32_t add_tf(uint32_t tf, uint32_t weight)
{
    return tf > UINT32_MAX - weight ? UINT32_MAX : tf + weight;
}

uint32_t qix_restricted_tf(qix_run *run, qix_cursor *c, uint32_t fields)
{
    qix_position_walk walk;
    uint32_t tf = 0;
    if (!qix_cursor_positions(run, c, &walk))
        return 0;
    while (step(run, c, &walk)) {
        uint32_t field = qix_position_field(walk.value);
        if (fields >> field & 1)
            tf = add_tf(tf, run->segment->info.field_weights[field]);
    }
    return tf;
}

/* Bring a walk to its first position >= wanted; false when there is none. */
static bool walk_to(qix_run *run, const qix_cursor *c, qix_position_walk *walk, int64_t wanted)
{
    while (!walk->started || walk->value < wanted)
        if (!step(run, c, walk))
            return false;
    return true;
}

/* Weighted number of places in the document where all terms stand at their offsets, in one of the fields. */
static uint32_t phrase_tf(qix_run *run, const qix_cursor *phrase, uint32_t node, uint32_t fields)
{
    qix_position_walk walks[QIX_PHRASE_TERMS_MAX];
    const qix_node *nodes = run->query->nodes;
    uint32_t terms = phrase->child_count, tf = 0, first = node + 1;
    for (uint32_t i = 0; i < terms; i++)
        if (!qix_cursor_positions(run, &run->cursors[first + i], &walks[i]))
            return 0;
    int64_t base = 0; /* where the word at offset 0 would be */
    for (uint32_t agreed = 0, i = 0;
         walk_to(run, &run->cursors[first + i], &walks[i], base + nodes[first + i].offset);) {
        int64_t here = (int64_t)walks[i].value - nodes[first + i].offset;
        agreed = here == base && agreed > 0 ? agreed + 1 : 1;
        base = here;
        if (agreed == terms) {
            uint32_t field = qix_position_field(walks[0].value);
            bool is_one_field = true;
            for (uint32_t j = 0; j < terms; j++)
                is_one_field = is_one_field && qix_position_field(walks[j].value) == field;
            if (is_one_field && (fields == 0 || fields >> field & 1))
                tf = add_tf(tf, run->segment->info.field_weights[field]);
            base++;
            agreed = 0;
        }
        i = i + 1 == terms ? 0 : i + 1;
    }
    return run->status ? 0 : tf;
}

/* The first document >= target that has all terms of the phrase, in any order. */
static uint32_t seek_all(qix_run *run, const qix_cursor *phrase, uint32_t node, uint32_t target)
{
    for (uint32_t i = 0; i < phrase->child_count;) {
        uint32_t docid = qix_cursor_seek(run, &run->cursors[node + 1 + i], target);
        if (docid == QIX_DOC_END)
            return QIX_DOC_END;
        i = docid == target ? i + 1 : 0;
        target = docid;
    }
    return target;
}

uint32_t qix_phrase_seek(qix_run *run, uint32_t node, uint32_t target)
{
    qix_cursor *phrase = &run->cursors[node];
    for (;; target++) {
        target = seek_all(run, phrase, node, target);
        if (target == QIX_DOC_END)
            return QIX_DOC_END;
        phrase->tf = phrase_tf(run, phrase, node, run->query->nodes[node].fields);
        if (run->status)
            return QIX_DOC_END;
        if (phrase->tf > 0)
            return target;
    }
}
