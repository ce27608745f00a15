/* Plans: the ways to find the best documents of a part. All give the same hits; they differ in what they need not read.
 *
 * A plan is a row of the table in qix_plan.c: a name (for explanations), whether it fits a query, and a function that
 * offers every document of the part at hand that can enter the heap (qix_search.h). Each lives in a file of its own. */
#ifndef QIX_PLAN_H
#define QIX_PLAN_H

#include "qix_search.h"

/* The plan for a query; the same for every part. */
uint32_t qix_plan_pick(const qix_query *query);
/* Walk the part that `s` is set to. */
void qix_plan_walk(uint32_t index, qix_search_state *s);

/* Whether the root has a child with a list that all matches are in (qix_and.c). */
bool qix_has_lists(const qix_query *query);

/* ---- the walks ---- */

void qix_walk_term(qix_search_state *s); /* qix_term.c */
bool qix_is_or_of_terms(const qix_query *query);
void qix_walk_or(qix_search_state *s);      /* qix_or.c */
void qix_walk_or_tree(qix_search_state *s); /* qix_or_tree.c */
void qix_walk_and(qix_search_state *s);     /* qix_and.c */
void qix_walk_tree(qix_search_state *s);    /* qix_walk.c */

#endif
