/* Query programs: a query tree as bytes, so that one call carries it into C and no object is made for a node.
 *
 * A node is its kind (1 byte) and, by kind:
 *   QIX_NODE_TERM    fields (1: bit f for field f, 0: any), weight (8: double), key bytes (2), key
 *   QIX_NODE_PHRASE  fields (1), weight (8), count (1), then count x: offset (4), key bytes (2), key
 *   QIX_NODE_AND, QIX_NODE_OR   count (2), then as many nodes
 *   QIX_NODE_NOT (only in an AND), QIX_NODE_FILTER   one node */
#ifndef QIX_QUERY_H
#define QIX_QUERY_H

#include <stdbool.h>

#include "qix_format.h"
#include "qix_status.h"

enum qix_node_kind { QIX_NODE_TERM = 1, QIX_NODE_PHRASE, QIX_NODE_AND, QIX_NODE_OR, QIX_NODE_NOT, QIX_NODE_FILTER };

/* Nodes lie in preorder: the children of node i are i + 1, then each child's `end`, up to the end of i. The terms of a
 * phrase are its children. */
typedef struct {
    uint8_t kind;
    uint8_t fields;
    uint32_t end;
    uint32_t offset; /* of a phrase's term */
    double weight;
    const uint8_t *key;
    uint32_t key_bytes;
} qix_node;

typedef struct {
    qix_node nodes[QIX_QUERY_NODES_MAX];
    uint32_t count;
} qix_query;

/* Parse and check a program; keys point into it. QIX_ERR_ARGUMENT says which rule it breaks. */
qix_status qix_query_parse(const uint8_t *program, uint32_t bytes, qix_query *ret_query, qix_fault *fault);

#endif
