/* The nodes above terms and phrases. Recursion is as deep as the query, at most QIX_QUERY_DEPTH_MAX. */
#include "qix_cursor.h"

static uint32_t seek_restricted(qix_run *run, qix_cursor *c, uint32_t fields, uint32_t target)
{
    for (;; target++) {
        target = qix_cursor_seek(run, c, target);
        if (target == QIX_DOC_END || !c->is_restricted)
            return target;
        c->tf = qix_restricted_tf(run, c, fields);
        if (run->status)
            return c->docid = QIX_DOC_END;
        if (c->tf > 0)
            return target;
    }
}

static uint32_t seek_and(qix_run *run, const qix_cursor *c, uint32_t target)
{
    for (uint32_t i = 0; i < c->child_count + c->excluded_count;) {
        uint32_t docid = qix_seek(run, c->children[i], target);
        if (i >= c->child_count) {
            if (docid != target) {
                i++;
                continue;
            }
            docid = target + 1; /* excluded: go on behind it */
        } else if (docid == QIX_DOC_END) {
            return QIX_DOC_END;
        }
        i = docid == target ? i + 1 : 0;
        target = docid;
    }
    return run->status ? QIX_DOC_END : target;
}

static uint32_t seek_or(qix_run *run, const qix_cursor *c, uint32_t target)
{
    uint32_t lowest = QIX_DOC_END;
    for (uint32_t i = 0; i < c->child_count; i++) {
        uint32_t docid = qix_seek(run, c->children[i], target);
        lowest = docid < lowest ? docid : lowest;
    }
    return lowest;
}

uint32_t qix_seek(qix_run *run, uint32_t node, uint32_t target)
{
    qix_cursor *c = &run->cursors[node];
    if (c->has_begun && c->docid >= target)
        return c->docid;
    switch (c->kind) {
    case QIX_NODE_TERM:
        return seek_restricted(run, c, run->query->nodes[node].fields, target);
    case QIX_NODE_PHRASE:
        c->docid = qix_phrase_seek(run, node, target);
        break;
    case QIX_NODE_AND:
        c->docid = seek_and(run, c, target);
        break;
    case QIX_NODE_OR:
        c->docid = seek_or(run, c, target);
        break;
    default: /* QIX_NODE_NOT, QIX_NODE_FILTER */
        c->docid = qix_seek(run, node + 1, target);
    }
    c->has_begun = true;
    return c->docid;
}

/* Scores of children add up in the order of the query, so that they round as the oracle's do. */
static double sum_scores(qix_run *run, uint32_t node)
{
    double sum = 0.0;
    uint32_t docid = run->cursors[node].docid;
    for (uint32_t child = node + 1; child < run->query->nodes[node].end; child = run->query->nodes[child].end)
        if (run->cursors[child].kind != QIX_NODE_NOT && run->cursors[child].docid == docid)
            sum += qix_score(run, child);
    return sum;
}

double qix_score(qix_run *run, uint32_t node)
{
    const qix_cursor *c = &run->cursors[node];
    switch (c->kind) {
    case QIX_NODE_TERM: {
        uint32_t tf = c->is_restricted ? c->tf : c->block.tfs[c->at];
        return c->factor * qix_norm(run->ranker, tf, qix_cursor_code(c));
    }
    case QIX_NODE_PHRASE:
        return c->factor * qix_norm(run->ranker, c->tf, qix_cursor_code(&run->cursors[node + 1]));
    case QIX_NODE_AND:
    case QIX_NODE_OR:
        return sum_scores(run, node);
    default: /* a filter adds nothing */
        return 0.0;
    }
}

static double bound_sum(qix_run *run, const qix_cursor *c, bool needs_all, uint32_t lo, uint32_t hi)
{
    double sum = 0.0;
    bool is_possible = false;
    for (uint32_t i = 0; i < c->child_count; i++) {
        double bound = qix_bound(run, c->children[i], lo, hi);
        if (bound >= 0.0) {
            sum += bound;
            is_possible = true;
        } else if (needs_all) {
            return QIX_NO_MATCH;
        }
    }
    return is_possible ? sum : QIX_NO_MATCH;
}

/* A phrase is nowhere more frequent than its rarest term. */
static double bound_phrase(qix_run *run, const qix_cursor *c, uint32_t node, uint32_t lo, uint32_t hi)
{
    double lowest = 1.0;
    for (uint32_t i = 0; i < c->child_count; i++) {
        double norm = qix_cursor_norm_bound(run, &run->cursors[node + 1 + i], lo, hi);
        lowest = norm < lowest ? norm : lowest;
    }
    return lowest < 0.0 ? QIX_NO_MATCH : c->factor * lowest * QIX_BOUND_SLACK;
}

double qix_bound(qix_run *run, uint32_t node, uint32_t lo, uint32_t hi)
{
    qix_cursor *c = &run->cursors[node];
    double norm;
    switch (c->kind) {
    case QIX_NODE_TERM:
        norm = qix_cursor_norm_bound(run, c, lo, hi);
        return norm < 0.0 ? QIX_NO_MATCH : c->factor * norm * QIX_BOUND_SLACK;
    case QIX_NODE_PHRASE:
        return bound_phrase(run, c, node, lo, hi);
    case QIX_NODE_AND:
        return bound_sum(run, c, true, lo, hi);
    case QIX_NODE_OR:
        return bound_sum(run, c, false, lo, hi);
    default:
        return qix_bound(run, node + 1, lo, hi) < 0.0 ? QIX_NO_MATCH : 0.0;
    }
}
