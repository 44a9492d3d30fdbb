/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer: what a refused client reads.
 *
 * An error_page of the operator for the status wins (but not over gRPC, whose clients understand nothing but a status of
 * theirs). Else the policy's own body: JSON, problem, text or a page.
 */
#include "doors/nginx/gate.h"

#include "flow/own_limits.h"


static ngx_int_t ngx_http_weir_grpc(ngx_http_request_t *r,
    struct flow_answer *answer);


ngx_http_err_page_t *
ngx_http_weir_page(ngx_http_request_t *r, ngx_uint_t status)
{
    ngx_uint_t                 i;
    ngx_http_err_page_t       *page;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    /* as ngx_http_special_response_handler asks; error_page may still be set by a page for another status */

    if (clcf->error_pages == NULL || r->uri_changes == 0) {
        return NULL;
    }

    page = clcf->error_pages->elts;

    for (i = 0; i < clcf->error_pages->nelts; i++) {
        if (page[i].status == (ngx_int_t) status) {
            return &page[i];
        }
    }

    return NULL;
}


struct flow_answer *
ngx_http_weir_answer_of(ngx_http_weir_visit_t *visit)
{
    int64_t       wall;
    struct text   accept;
    struct flow  *flow;

    if (!visit->answered) {
        visit->answered = 1;

        flow = visit->flow;

        if (!visit->in.header(visit->in.door, TEXT("accept"), 0, &accept)) {
            accept.data = NULL;
            accept.size = 0;
        }

        wall = ((int64_t) flow->time.now + flow->time.wall) / 1000000000;

        flow_answer(flow, accept, wall, visit->answer);
    }

    return visit->answer;
}


ngx_int_t
ngx_http_weir_answer_begin(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit)
{
    u_char              *p;
    ngx_str_t           *type;
    ngx_uint_t           status;
    struct flow_answer  *answer;

    /* the client need not send what will not be read */

    r->expect_tested = 1;

    if (ngx_http_discard_request_body(r) != NGX_OK) {
        r->keepalive = 0;
    }

    answer = ngx_http_weir_answer_of(visit);

    ngx_http_clear_content_length(r);
    ngx_http_clear_accept_ranges(r);
    ngx_http_clear_last_modified(r);
    ngx_http_clear_location(r);
    ngx_http_clear_etag(r);

    /* what stands before a parameter is the type that gzip_types, charset_types and others compare */

    type = &r->headers_out.content_type;
    type->data = (u_char *) answer->content_type.data;
    type->len = answer->content_type.size;

    p = ngx_strlchr(type->data, type->data + type->len, ';');

    r->headers_out.content_type_len = p ? (size_t) (p - type->data)
                                        : type->len;
    r->headers_out.content_type_lowcase = NULL;

    status = answer->grpc ? NGX_HTTP_OK : visit->flow->verdict.http_status;

    r->err_status = answer->grpc ? 0 : status;
    r->headers_out.status = status;
    r->headers_out.status_line.len = 0;

    if (answer->grpc) {
        return ngx_http_weir_grpc(r, answer);
    }

    r->headers_out.content_length_n = answer->body.size;

    return NGX_OK;
}


/*
 * As gRPC says it: HTTP 200, the status in the header block, which ends the stream ("Trailers-Only" of the gRPC over HTTP/2
 * protocol). With HTTP/1 (gRPC-Web) a body of no bytes keeps the connection.
 */

static ngx_int_t
ngx_http_weir_grpc(ngx_http_request_t *r, struct flow_answer *answer)
{
    u_char       *p;
    struct text   status;

    r->headers_out.content_length_n = r->http_version < NGX_HTTP_VERSION_20
                                      ? 0 : -1;
    r->header_only = 1;
    r->disable_not_modified = 1;    /* the status says 200, and means none of what a condition could ask */

    p = ngx_pnalloc(r->pool, NGX_INT32_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    status.data = (char *) p;
    status.size = ngx_sprintf(p, "%uD", (uint32_t) answer->grpc_status) - p;

    if (ngx_http_weir_header_push(r, TEXT("grpc-status"), status) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_weir_header_push(r, TEXT("grpc-message"), answer->body);
}


ngx_int_t
ngx_http_weir_answer_body(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit, ngx_http_output_body_filter_pt next)
{
    ngx_buf_t    *b;
    ngx_chain_t   out;
    struct text   body;

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    body = ngx_http_weir_answer_of(visit)->body;

    b->pos = (u_char *) body.data;
    b->last = b->pos + body.size;
    b->memory = body.size ? 1 : 0;
    b->last_buf = 1;
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return next(r, &out);
}


#define NGX_HTTP_WEIR_TELL_MAX  65536


void
ngx_http_weir_answer_tell(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit)
{
    ngx_int_t    rc;
    ngx_buf_t   *b;
    ngx_chain_t  out;

    if (ngx_http_discard_request_body(r) != NGX_OK) {
        r->keepalive = 0;
    }

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_WEIR_TELL_MAX);
    if (b == NULL) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    b->last += flow_own_limits(visit->flow, (char *) b->pos,
                               NGX_HTTP_WEIR_TELL_MAX);
    b->last_buf = 1;
    b->last_in_chain = 1;

    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = b->last - b->pos;

    if (ngx_http_weir_header_push(r, TEXT("Cache-Control"), TEXT("no-store"))
        != NGX_OK)
    {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_OK && !r->header_only) {
        out.buf = b;
        out.next = NULL;
        rc = ngx_http_output_filter(r, &out);
    }

    ngx_http_finalize_request(r, rc);
}


void
ngx_http_weir_answer_send(ngx_http_request_t *r,
    ngx_http_weir_visit_t *visit)
{
    ngx_int_t  rc;

    if (ngx_http_weir_answer_begin(r, visit) != NGX_OK) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_OK && !r->header_only) {
        rc = ngx_http_weir_answer_body(r, visit, ngx_http_output_filter);
    }

    ngx_http_finalize_request(r, rc);
}
