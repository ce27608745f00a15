/* The planner: the one place that looks at a query and picks how its documents are found. */
#include "qix_plan.h"

typedef struct {
    const char *name;
    bool (*fits)(const qix_query *query);
    void (*walk)(qix_search_state *s);
} plan;

static bool is_one_term(const qix_query *query)
{
    return query->nodes[0].kind == QIX_NODE_TERM && query->nodes[0].fields == 0;
}

static bool is_or(const qix_query *query)
{
    return query->nodes[0].kind == QIX_NODE_OR;
}

static bool is_and(const qix_query *query)
{
    return query->nodes[0].kind != QIX_NODE_OR && qix_has_lists(query);
}

static bool is_any(const qix_query *query)
{
    (void)query;
    return true;
}

/* The first that fits is taken, so that the special ones stand before the general ones. */
static const plan plans[] = {
    {"term", is_one_term, qix_walk_term}, {"or", qix_is_or_of_terms, qix_walk_or}, {"or tree", is_or, qix_walk_or_tree},
    {"and", is_and, qix_walk_and},        {"tree", is_any, qix_walk_tree},
};
#define PLAN_COUNT ((uint32_t)(sizeof plans / sizeof *plans))

uint32_t qix_plan_pick(const qix_query *query)
{
    uint32_t index = 0;
    while (!plans[index].fits(query))
        index++;
    return index;
}

void qix_plan_walk(uint32_t index, qix_search_state *s)
{
    plans[index].walk(s);
}

uint32_t qix_plan_count(void)
{
    return PLAN_COUNT;
}

const char *qix_plan_name(uint32_t index)
{
    return index < PLAN_COUNT ? plans[index].name : "";
}
