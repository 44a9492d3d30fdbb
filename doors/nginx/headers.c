/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * headers: the rate headers, on allowed and refused answers alike.
 *
 * Those of the same name that the application or a cache sent are replaced: they describe another counter, or another client.
 * That also makes a second pass through the header filters (a 416 after us) harmless.
 */
#include "doors/nginx/gate.h"


ngx_int_t
ngx_http_weir_headers(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    return ngx_http_weir_headers_add(r, ngx_http_weir_answer_of(visit));
}


ngx_int_t
ngx_http_weir_headers_add(ngx_http_request_t *r, struct flow_answer *answer)
{
    size_t               i;
    ngx_table_elt_t     *h;
    struct flow_header  *header;

    for (i = 0; i < answer->header_count; i++) {
        header = &answer->headers[i];

        while ((h = ngx_http_weir_header_out(r, header->name, 0)) != NULL) {
            h->hash = 0;
        }

        if (ngx_http_weir_header_push(r, header->name, header->value)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_table_elt_t *
ngx_http_weir_header_out(ngx_http_request_t *r, struct text name,
    ngx_uint_t nth)
{
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *header;

    part = &r->headers_out.headers.part;
    header = part->elts;

    for (i = 0; /* void */ ; i++) {

        if (i >= part->nelts) {
            if (part->next == NULL) {
                return NULL;
            }

            part = part->next;
            header = part->elts;
            i = 0;
        }

        if (header[i].hash == 0
            || header[i].key.len != name.size
            || ngx_strncasecmp(header[i].key.data, (u_char *) name.data,
                               name.size)
               != 0
            || nth-- != 0)
        {
            continue;
        }

        return &header[i];
    }
}


ngx_int_t
ngx_http_weir_header_push(ngx_http_request_t *r, struct text name,
    struct text value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    h->hash = 1;
#if (nginx_version >= 1023000)
    h->next = NULL;
#endif

    h->key.len = name.size;
    h->key.data = (u_char *) name.data;

    h->value.len = value.size;
    h->value.data = (u_char *) value.data;

    h->lowcase_key = NULL;

    return NGX_OK;
}
