#include "qix_query.h"

#include "qix_reader.h"

#define WEIGHT_MAX 1e6
#define FIELDS_MAX ((1u << QIX_FIELD_COUNT) - 1u)
/* Words of a phrase may be this far apart; more could not be met in a document. */
#define OFFSET_MAX (1u << QIX_POSITION_BITS)

typedef struct {
    qix_reader r;
    qix_query *query;
    qix_fault *fault;
} parser;

static qix_status refuse(const parser *p, const char *reason)
{
    return qix_fail(p->fault, QIX_ERR_ARGUMENT, 0, reason);
}

static qix_status add_node(parser *p, uint8_t kind, qix_node **ret_node)
{
    if (p->query->count == QIX_QUERY_NODES_MAX)
        return refuse(p, "a query has at most 256 nodes");
    *ret_node = &p->query->nodes[p->query->count++];
    **ret_node = (qix_node){.kind = kind, .weight = 1.0, .end = p->query->count};
    return QIX_OK;
}

static qix_status read_key(parser *p, qix_node *node)
{
    const uint8_t *size;
    if (!qix_read_bytes(&p->r, 2, &size) || !qix_read_bytes(&p->r, qix_load_u16(size), &node->key))
        return refuse(p, "query program ends too early");
    node->key_bytes = qix_load_u16(size);
    if (node->key_bytes < 1)
        return refuse(p, "a key needs a namespace");
    return QIX_OK;
}

static qix_status read_weight(parser *p, qix_node *node)
{
    const uint8_t *raw;
    if (!qix_read_bytes(&p->r, 9, &raw))
        return refuse(p, "query program ends too early");
    node->fields = raw[0];
    node->weight = qix_load_double(raw + 1);
    if (!(node->weight > 0.0 && node->weight <= WEIGHT_MAX))
        return refuse(p, "a weight must be above 0 and at most 1000000");
    if (node->fields > FIELDS_MAX)
        return refuse(p, "unknown field");
    return QIX_OK;
}

static qix_status parse_phrase(parser *p, qix_node *node)
{
    uint8_t count = 0;
    qix_status status = read_weight(p, node);
    if (!status && (!qix_read_u8(&p->r, &count) || count < 1 || count > QIX_PHRASE_TERMS_MAX))
        status = refuse(p, "a phrase has 1 to 32 terms");
    for (uint32_t i = 0; !status && i < count; i++) {
        qix_node *term = NULL;
        const uint8_t *offset = NULL;
        status = add_node(p, QIX_NODE_TERM, &term);
        if (status)
            return status;
        if (!qix_read_bytes(&p->r, 4, &offset))
            return refuse(p, "query program ends too early");
        term->offset = qix_load_u32(offset);
        if (term->offset > OFFSET_MAX)
            return refuse(p, "a phrase's offset is above 1048576");
        status = read_key(p, term);
        if (!status && term->key[0] != 0)
            status = refuse(p, "a phrase is made of words");
    }
    return status;
}

static qix_status parse_node(parser *p, uint32_t depth, bool is_in_and);

static qix_status parse_children(parser *p, const qix_node *node, uint32_t depth)
{
    const uint8_t *raw;
    bool has_positive = false;
    if (!qix_read_bytes(&p->r, 2, &raw))
        return refuse(p, "query program ends too early");
    uint32_t count = qix_load_u16(raw);
    for (uint32_t i = 0; i < count; i++) {
        has_positive = has_positive || (p->r.pos < p->r.end && *p->r.pos != QIX_NODE_NOT);
        qix_status status = parse_node(p, depth + 1, node->kind == QIX_NODE_AND);
        if (status)
            return status;
    }
    return has_positive ? QIX_OK : refuse(p, "And and Or need a child that is no Not");
}

/* Recursion ends at QIX_QUERY_DEPTH_MAX. */
static qix_status parse_node(parser *p, uint32_t depth, bool is_in_and)
{
    uint8_t kind;
    qix_node *node = NULL;
    if (depth > QIX_QUERY_DEPTH_MAX)
        return refuse(p, "a query nests at most 16 deep");
    if (!qix_read_u8(&p->r, &kind))
        return refuse(p, "query program ends too early");
    if (kind == QIX_NODE_NOT && !is_in_and)
        return refuse(p, "Not stands only within And");
    qix_status status = add_node(p, kind, &node);
    if (status)
        return status;
    switch (kind) {
    case QIX_NODE_TERM:
        status = read_weight(p, node);
        if (!status)
            status = read_key(p, node);
        break;
    case QIX_NODE_PHRASE:
        status = parse_phrase(p, node);
        break;
    case QIX_NODE_AND:
    case QIX_NODE_OR:
        status = parse_children(p, node, depth);
        break;
    case QIX_NODE_NOT:
    case QIX_NODE_FILTER:
        status = parse_node(p, depth + 1, false);
        break;
    default:
        status = refuse(p, "unknown kind of query node");
    }
    node->end = p->query->count;
    return status;
}

qix_status qix_query_parse(const uint8_t *program, uint32_t bytes, qix_query *ret_query, qix_fault *fault)
{
    parser p = {{program, program + bytes}, ret_query, fault};
    ret_query->count = 0;
    qix_status status = parse_node(&p, 1, false);
    if (!status && p.r.pos != p.r.end)
        status = refuse(&p, "bytes follow the query");
    return status;
}
