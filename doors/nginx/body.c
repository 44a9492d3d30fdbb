/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * body: the beginning of a request's body, where a limit looks into it.
 *
 * Read by nginx's own means as its mirror module does: into client_body_buffer_size or a temporary file, with its timeouts and
 * client_max_body_size, and kept (preserve_body), so that whoever comes next finds it read and passes it on as it is. A backend with
 * proxy_request_buffering off then gets a buffered body, here only; where the configuration sets no bound to bodies, such as those of
 * `weir run`, that would fill whatever the temporary files lie on, so there is one for what is read here.
 */
#include "doors/nginx/gate.h"

#include "identity/body.h"


#define NGX_HTTP_WEIR_BODY_BOUND  (1024 * 1024)    /* nginx's own, where nothing is said */


static ngx_int_t ngx_http_weir_body_bound(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit);
static void ngx_http_weir_body_handler(ngx_http_request_t *r);
static void ngx_http_weir_body_take(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit);
static ssize_t ngx_http_weir_body_part(ngx_buf_t *b, u_char *to, size_t size);


void
ngx_http_weir_body_begin(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    if (r->headers_in.content_length_n > 0 || r->headers_in.chunked) {
        visit->in.can_read_body = 1;
        return;
    }

    visit->in.has_body = 1;
    visit->in.body_whole = 1;
}


/*
 * What is compressed cannot be looked into, nor what has two types: its fields are as if they were not there. Backends that decompress,
 * or take the other type, would see others than we.
 */

ngx_uint_t
ngx_http_weir_body_readable(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    unsigned                   n;
    struct text                value;
    struct flow_request       *in;
    ngx_http_core_loc_conf_t  *clcf;

    in = &visit->in;
    in->has_body = 1;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (clcf->client_max_body_size == 0
        && r->headers_in.content_length_n > NGX_HTTP_WEIR_BODY_BOUND)
    {
        return 0;
    }

    if (in->header(in->door, TEXT("content-type"), 1, &value)) {
        return 0;
    }

    for (n = 0; in->header(in->door, TEXT("content-encoding"), n, &value); n++) {
        if (value.size != 0 && !text_equal_folded(value, TEXT("identity"))) {
            return 0;
        }
    }

    in->has_body = 0;

    return 1;
}


ngx_int_t
ngx_http_weir_body_read(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    ngx_int_t  rc;

    if (ngx_http_weir_body_bound(r, visit) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    visit->reading = 1;

    rc = ngx_http_read_client_request_body(r, ngx_http_weir_body_handler);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    ngx_http_finalize_request(r, NGX_DONE);    /* the reading holds its own reference */

    return NGX_DONE;
}


/* nginx looks into the place's configuration at each piece: until the body is read, that is a copy with a bound. */

static ngx_int_t
ngx_http_weir_body_bound(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    void                      **conf;
    ngx_http_core_loc_conf_t   *clcf, *bounded;

    visit->place = r->loc_conf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    if (clcf->client_max_body_size != 0) {
        return NGX_OK;
    }

    conf = ngx_palloc(r->pool, ngx_http_max_module * sizeof(void *));
    bounded = ngx_palloc(r->pool, sizeof(ngx_http_core_loc_conf_t));

    if (conf == NULL || bounded == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(conf, r->loc_conf, ngx_http_max_module * sizeof(void *));
    *bounded = *clcf;
    bounded->client_max_body_size = NGX_HTTP_WEIR_BODY_BOUND;

    conf[ngx_http_core_module.ctx_index] = bounded;
    r->loc_conf = conf;

    return NGX_OK;
}


static void
ngx_http_weir_body_handler(ngx_http_request_t *r)
{
    ngx_http_weir_visit_t  *visit;

    visit = ngx_http_weir_visit_find(r);

    visit->reading = 0;
    r->loc_conf = visit->place;

    ngx_http_weir_body_take(r, visit);

    r->preserve_body = 1;

    r->write_event_handler = ngx_http_core_run_phases;
    ngx_http_core_run_phases(r);
}


/* The first BODY_MAX bytes, in one piece. What cannot be read is not there: it is not the gate that fails the request. */

static void
ngx_http_weir_body_take(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    off_t         total;
    u_char       *data;
    size_t        size;
    ssize_t       n;
    ngx_chain_t  *cl;

    visit->in.has_body = 1;

    if (r->request_body == NULL) {
        return;
    }

    total = 0;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {
        total += ngx_buf_size(cl->buf);
    }

    if (total == 0) {
        visit->in.body_whole = 1;
        return;
    }

    data = ngx_pnalloc(r->pool, ngx_min(total, BODY_MAX));
    if (data == NULL) {
        return;
    }

    size = 0;

    for (cl = r->request_body->bufs; cl && size < BODY_MAX; cl = cl->next) {
        n = ngx_http_weir_body_part(cl->buf, &data[size], BODY_MAX - size);

        if (n == NGX_ERROR) {
            return;
        }

        size += n;
    }

    visit->in.body.data = (char *) data;
    visit->in.body.size = size;
    visit->in.body_whole = (off_t) size == total;
}


static ssize_t
ngx_http_weir_body_part(ngx_buf_t *b, u_char *to, size_t size)
{
    ssize_t  n;

    size = ngx_min((off_t) size, ngx_buf_size(b));

    if (ngx_buf_in_memory(b)) {
        ngx_memcpy(to, b->pos, size);
        return size;
    }

    if (!b->in_file || size == 0) {
        return 0;
    }

    n = ngx_read_file(b->file, to, size, b->file_pos);

    return n == (ssize_t) size ? n : NGX_ERROR;
}
