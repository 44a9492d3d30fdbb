/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter: the header filter adds what the decision says, and decides whatever never got to PREACCESS: `return`, redirects,
 * 413. There it is too late to wait, so a delay passes; a refusal takes the place of the answer that was about to be sent.
 *
 * In place, not by ngx_http_filter_finalize_request: that closes the connection, and a refused client in a loop would
 * open a new one each time. Left alone: requests whose line or headers nginx refused to read (no phase has run), and
 * `return 444`, which sends no header.
 */
#include "doors/nginx/take/take.h"


static ngx_int_t ngx_http_weir_filter_init(ngx_conf_t *cf);
static ngx_int_t ngx_http_weir_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_weir_gate_header(ngx_http_request_t *r);
static ngx_int_t ngx_http_weir_catch(ngx_http_request_t *r,
    ngx_http_weir_visit_t **out);
static ngx_int_t ngx_http_weir_late(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit);
static ngx_int_t ngx_http_weir_replace(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit);
static ngx_int_t ngx_http_weir_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);


static ngx_http_module_t  ngx_http_weir_filter_module_ctx = {
    NULL,                                  /* preconfiguration */
    ngx_http_weir_filter_init,             /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    NULL,                                  /* create location configuration */
    NULL                                   /* merge location configuration */
};


ngx_module_t  ngx_http_weir_filter_module = {
    NGX_MODULE_V1,
    &ngx_http_weir_filter_module_ctx,      /* module context */
    NULL,                                  /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


static ngx_int_t
ngx_http_weir_filter_init(ngx_conf_t *cf)
{
    ngx_http_weir_main_conf_t       *mcf;
    ngx_http_weir_take_main_conf_t  *tmcf;

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_gate_module);
    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_take_module);

    if (!ngx_http_weir_enabled(mcf) && !tmcf->headers) {
        return NGX_OK;
    }

    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_weir_header_filter;

    if (!ngx_http_weir_enabled(mcf)) {
        return NGX_OK;
    }

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_weir_body_filter;

    return NGX_OK;
}


/* What the gate says describes the answer, unless nginx's own limits refused it after that. */

static ngx_int_t
ngx_http_weir_header_filter(ngx_http_request_t *r)
{
    ngx_int_t                   rc, taken;
    ngx_http_weir_main_conf_t  *mcf;

    if (r != r->main) {
        return ngx_http_next_header_filter(r);
    }

    taken = ngx_http_weir_take_headers(r);

    if (taken == NGX_ERROR) {
        return NGX_ERROR;
    }

    mcf = ngx_http_get_module_main_conf(r, ngx_http_weir_gate_module);

    if (ngx_http_weir_enabled(mcf)) {
        rc = ngx_http_weir_gate_header(r);

        if (rc != NGX_OK) {
            return rc;
        }

        if (taken == NGX_OK && ngx_http_weir_take_headers(r) == NGX_ERROR) {
            return NGX_ERROR;
        }
    }

    return ngx_http_next_header_filter(r);
}


static ngx_int_t
ngx_http_weir_gate_header(ngx_http_request_t *r)
{
    ngx_int_t               rc;
    ngx_http_weir_visit_t  *visit;

    visit = ngx_http_weir_visit_find(r);

    if (visit == NULL) {
        rc = ngx_http_weir_catch(r, &visit);

        if (rc != NGX_OK) {
            return rc;
        }

    } else if (visit->reading) {
        /* its body could not be read (413, 408): it is decided without */
        visit->reading = 0;
        visit->in.has_body = 1;
        visit->flow->can_wait = false;

        rc = ngx_http_weir_late(r, visit);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (visit == NULL || visit->flow == NULL || visit->waiting) {
        return NGX_OK;
    }

    if (visit->stale && !visit->replace && !ngx_http_weir_cached_answer(r)
        && ngx_http_weir_replace(r, visit) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (visit->paged) {
        visit->paged = 0;
        r->header_only = 0;

        /*
         * The way to the page ended where it began: the place whose answer was refused has no page, it would give that answer as
         * the page. (With uri_changes as it was, this is error_page's redirect to another server.)
         */

        if (r->loc_conf == visit->loc_conf
            && r->uri_changes != visit->uri_changes
            && ngx_http_weir_replace(r, visit) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ngx_http_weir_responded(r, visit);
    ngx_http_weir_usage_begin(r, visit);

    if (ngx_http_weir_headers(r, visit) != NGX_OK
        || ngx_http_weir_pace_begin(r, visit) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* NGX_OK: go on with the response, which may have become a refusal. */

static ngx_int_t
ngx_http_weir_catch(ngx_http_request_t *r, ngx_http_weir_visit_t **out)
{
    ngx_http_weir_visit_t     *visit;
    ngx_http_weir_loc_conf_t  *lcf;

    lcf = ngx_http_get_module_loc_conf(r, ngx_http_weir_gate_module);

    if (!lcf->enable || !ngx_http_weir_readable(r)) {
        return NGX_OK;
    }

    visit = ngx_http_weir_visit_add(r);
    if (visit == NULL) {
        return NGX_ERROR;
    }

    *out = visit;

    if (ngx_http_weir_visit_begin(visit, 0) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_weir_late(r, visit);
}


static ngx_int_t
ngx_http_weir_late(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    ngx_uint_t  status;

    switch (ngx_http_weir_decide(visit)) {

    case NGX_BUSY:
        break;

    case NGX_ABORT:
        /* the caller terminates the request; this is what its log line says */
        r->err_status = NGX_HTTP_CLOSE;
        r->keepalive = 0;
        return NGX_ERROR;

    default:
        return NGX_OK;
    }

    status = visit->flow->verdict.http_status;

    if (visit->flow->grpc || !ngx_http_weir_page(r, status)) {
        return ngx_http_weir_replace(r, visit);
    }

    ngx_http_clean_header(r);

    /*
     * A status returned from here is finalized as the range filter's 416 is, so error_page does its work. header_only keeps
     * ngx_http_send_special_response, which looks at nothing else, from sending its own body before.
     */

    r->err_status = 0;
    r->error_page = 0;
    r->header_only = 1;
    visit->paged = 1;
    visit->loc_conf = r->loc_conf;
    visit->uri_changes = r->uri_changes;

    return status;
}


static ngx_int_t
ngx_http_weir_replace(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    ngx_uint_t  bodiless;

    visit->replace = 1;
    ngx_http_set_ctx(r, visit, ngx_http_weir_filter_module);

    ngx_http_clean_header(r);

    bodiless = r->header_only && r->method != NGX_HTTP_HEAD;

    if (ngx_http_weir_answer_begin(r, visit) != NGX_OK) {
        return NGX_ERROR;
    }

    /* Who sends this response sends no body after it: one that the header announces would be sought in the next response. */

    if (bodiless && !visit->answer->grpc) {
        r->headers_out.content_length_n = 0;
        r->keepalive = 0;
    }

    return NGX_OK;
}


/* Of the response that was refused nothing is sent; ours goes out at its first buffer. */

static ngx_int_t
ngx_http_weir_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_chain_t            *cl;
    ngx_http_weir_visit_t  *visit;

    visit = ngx_http_get_module_ctx(r, ngx_http_weir_filter_module);

    if (visit == NULL || !visit->replace) {
        /* also parts of the response that subrequests make */
        visit = ngx_http_get_module_ctx(r->main, ngx_http_weir_filter_module);

        if (visit && visit->usage && r == r->main) {
            ngx_http_weir_usage_feed(visit, in);
        }

        if (visit && visit->pace) {
            ngx_http_weir_pace_steer(r, visit);
        }

        return ngx_http_next_body_filter(r, in);
    }

    for (cl = in; cl; cl = cl->next) {
        cl->buf->pos = cl->buf->last;
        cl->buf->file_pos = cl->buf->file_last;
    }

    if (visit->replaced) {
        return ngx_http_next_body_filter(r, NULL);
    }

    visit->replaced = 1;

    return ngx_http_weir_answer_body(r, visit, ngx_http_next_body_filter);
}
