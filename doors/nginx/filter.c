/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter: the header filter adds what the decision says, and decides whatever never got to PREACCESS: `return`, redirects,
 * 413. There it is too late to wait, so a delay passes; a refusal takes the place of the answer that was about to be sent.
 *
 * In place, not by ngx_http_filter_finalize_request: that closes the connection, and a refused client in a loop would
 * open a new one each time. Left alone: requests whose line or headers nginx refused to read (no phase has run), and
 * `return 444`, which sends no header.
 */
#include "doors/nginx/gate.h"


static ngx_int_t ngx_http_weir_filter_init(ngx_conf_t *cf);
static ngx_int_t ngx_http_weir_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_weir_catch(ngx_http_request_t *r,
    ngx_http_weir_record_t **out);
static ngx_int_t ngx_http_weir_replace(ngx_http_request_t *r,
    ngx_http_weir_record_t *record);
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
    ngx_http_weir_main_conf_t  *mcf;

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_gate_module);

    if (mcf->path.len == 0) {
        return NGX_OK;
    }

    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_weir_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_weir_body_filter;

    return NGX_OK;
}


static ngx_int_t
ngx_http_weir_header_filter(ngx_http_request_t *r)
{
    ngx_int_t                rc;
    ngx_http_weir_record_t  *record;

    if (r != r->main) {
        return ngx_http_next_header_filter(r);
    }

    record = ngx_http_weir_record_find(r);

    if (record == NULL) {
        rc = ngx_http_weir_catch(r, &record);

        if (rc != NGX_OK) {
            return rc;
        }
    }

    if (record == NULL || record->flow == NULL || record->waiting) {
        return ngx_http_next_header_filter(r);
    }

    if (record->paged) {
        record->paged = 0;
        r->header_only = 0;

        /*
         * The way to the page ended where it began: the place whose answer was refused has no page, it would give that answer as
         * the page. (With uri_changes as it was, this is error_page's redirect to another server.)
         */

        if (r->loc_conf == record->loc_conf
            && r->uri_changes != record->uri_changes
            && ngx_http_weir_replace(r, record) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (ngx_http_weir_headers(r, record) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_next_header_filter(r);
}


/* NGX_OK: go on with the response, which may have become a refusal. */

static ngx_int_t
ngx_http_weir_catch(ngx_http_request_t *r, ngx_http_weir_record_t **out)
{
    ngx_uint_t                 status;
    ngx_http_weir_record_t    *record;
    ngx_http_weir_loc_conf_t  *lcf;

    lcf = ngx_http_get_module_loc_conf(r, ngx_http_weir_gate_module);

    if (!lcf->enable
        || r->write_event_handler == NULL    /* no phase has run */
        || r->request_line.len == 0
        || r->unparsed_uri.len == 0)
    {
        return NGX_OK;
    }

    record = ngx_http_weir_record_add(r);
    if (record == NULL) {
        return NGX_ERROR;
    }

    *out = record;

    if (ngx_http_weir_record_begin(record, 0) != NGX_OK) {
        return NGX_ERROR;
    }

    switch (ngx_http_weir_decide(record)) {

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

    status = record->flow->verdict.http_status;

    if (record->flow->grpc || !ngx_http_weir_page(r, status)) {
        return ngx_http_weir_replace(r, record);
    }

    ngx_http_clean_header(r);

    /*
     * A status returned from here is finalized as the range filter's 416 is, so error_page does its work. header_only keeps
     * ngx_http_send_special_response, which looks at nothing else, from sending its own body before.
     */

    r->err_status = 0;
    r->error_page = 0;
    r->header_only = 1;
    record->paged = 1;
    record->loc_conf = r->loc_conf;
    record->uri_changes = r->uri_changes;

    return status;
}


static ngx_int_t
ngx_http_weir_replace(ngx_http_request_t *r, ngx_http_weir_record_t *record)
{
    record->replace = 1;
    ngx_http_set_ctx(r, record, ngx_http_weir_filter_module);

    ngx_http_clean_header(r);

    return ngx_http_weir_answer_begin(r, record);
}


/* Of the response that was refused nothing is sent; ours goes out at its first buffer. */

static ngx_int_t
ngx_http_weir_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_chain_t             *cl;
    ngx_http_weir_record_t  *record;

    record = ngx_http_get_module_ctx(r, ngx_http_weir_filter_module);

    if (record == NULL || !record->replace) {
        return ngx_http_next_body_filter(r, in);
    }

    for (cl = in; cl; cl = cl->next) {
        cl->buf->pos = cl->buf->last;
        cl->buf->file_pos = cl->buf->file_last;
    }

    if (record->replaced) {
        return ngx_http_next_body_filter(r, NULL);
    }

    record->replaced = 1;

    return ngx_http_weir_answer_body(r, record, ngx_http_next_body_filter);
}
