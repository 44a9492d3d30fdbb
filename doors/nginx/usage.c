/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: the answer's body goes by, and what it says of its cost is heard. Nothing is changed, and nothing held up.
 *
 * Where the gate's filter stands (config) the bytes are as the backend sent them: before gzip, ssi and charset. What lies in a file is
 * read into memory, which nginx does when it is asked to: only for answers that are looked into.
 */
#include "doors/nginx/gate.h"


/* The header is about to be sent, and the flow knows the status. */

void
ngx_http_weir_usage_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    struct text       type, encoding;
    struct table     *table;
    struct algo_time  t;

    if (visit->asked || visit->flow->tickets == 0) {
        return;
    }

    visit->asked = 1;

    type.data = (char *) r->headers_out.content_type.data;
    type.size = r->headers_out.content_type.len;

    encoding = TEXT("");

    if (r->headers_out.content_encoding
        && r->headers_out.content_encoding->hash != 0)
    {
        encoding.data = (char *) r->headers_out.content_encoding->value.data;
        encoding.size = r->headers_out.content_encoding->value.len;
    }

    if (!flow_wants_body(visit->flow, type, encoding)) {
        return;
    }

    if (r->header_only
        || r->headers_out.status == NGX_HTTP_NO_CONTENT
        || r->headers_out.status == NGX_HTTP_NOT_MODIFIED)
    {
        table = visit->world->env.table;

        table_time(table, &t);

        table_stay(table);
        flow_body(visit->flow, &t, NULL, 0, true);
        table_unstay(table);

        return;
    }

    visit->usage = 1;
    r->filter_need_in_memory = 1;

    ngx_http_set_ctx(r, visit, ngx_http_weir_filter_module);
}


/* A part of the main request's own body. */

void
ngx_http_weir_usage_feed(ngx_http_weir_visit_t *visit, ngx_chain_t *in)
{
    ngx_buf_t         *b;
    ngx_uint_t         last;
    struct table      *table;
    struct algo_time   t;

    last = 0;

    for ( /* void */ ; in; in = in->next) {
        b = in->buf;

        if (ngx_buf_in_memory(b) && b->last != b->pos) {
            flow_body(visit->flow, &visit->flow->time, b->pos, b->last - b->pos,
                      false);
        }

        last |= b->last_buf;
    }

    if (!last) {
        return;
    }

    visit->usage = 0;

    table = visit->world->env.table;

    table_time(table, &t);

    table_stay(table);    /* to its last step, should it leave with the last ticket */
    flow_body(visit->flow, &t, NULL, 0, true);
    table_unstay(table);
}
