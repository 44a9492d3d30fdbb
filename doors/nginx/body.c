/* SPDX-License-Identifier: BSD-2-Clause */
/* body: the beginning of a request's body, for limits that look into it. */
#include "doors/nginx/gate.h"

#include "identity/body.h"


static void ngx_http_weir_body_handler(ngx_http_request_t *r);


ngx_int_t
ngx_http_weir_body_read(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    ngx_int_t  rc;

    rc = ngx_http_read_client_request_body(r, ngx_http_weir_body_handler);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    ngx_http_finalize_request(r, NGX_DONE);

    return NGX_DONE;
}


static void
ngx_http_weir_body_handler(ngx_http_request_t *r)
{
    size_t                  n;
    u_char                 *p, *last;
    ssize_t                 got;
    ngx_buf_t              *b;
    ngx_chain_t            *cl;
    ngx_http_weir_visit_t  *visit;

    visit = ngx_http_weir_visit_find(r);

    visit->in.has_body = 1;
    visit->in.body_whole = 1;

    p = ngx_pnalloc(r->pool, BODY_MAX);

    if (p && r->request_body) {
        visit->in.body.data = (char *) p;
        last = p + BODY_MAX;

        for (cl = r->request_body->bufs; cl; cl = cl->next) {
            b = cl->buf;
            n = ngx_buf_size(b);

            if (n > (size_t) (last - p)) {
                n = last - p;
                visit->in.body_whole = 0;
            }

            if (b->in_file) {
                got = ngx_read_file(b->file, p, n, b->file_pos);
                n = got > 0 ? got : 0;

            } else {
                ngx_memcpy(p, b->pos, n);
            }

            p += n;
        }

        visit->in.body.size = p - (u_char *) visit->in.body.data;
    }

    r->preserve_body = 1;
    r->write_event_handler = ngx_http_core_run_phases;

    ngx_http_core_run_phases(r);
}
