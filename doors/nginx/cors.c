/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cors: lets a browser's script read a refusal, and the rate headers of any answer.
 *
 * A module of its own, since it must stand downstream of add_header, by which most sites say Access-Control-Allow-Origin: what is
 * there is kept, never doubled (a browser takes two for none).
 *
 * A refusal without one gets the request's Origin. Access-Control-Allow-Credentials is never added: to mirror any origin
 * and allow credentials would let every site read the answers its visitors get here; who serves such clients says so with
 * `add_header … always`. An allowed answer is opened to nobody: only where the backend or add_header allowed the
 * origin are the names of the rate headers exposed.
 */
#include "doors/nginx/gate.h"


static ngx_int_t ngx_http_weir_cors_init(ngx_conf_t *cf);
static ngx_int_t ngx_http_weir_cors_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_weir_cors(ngx_http_request_t *r,
    ngx_http_weir_visit_t  *visit);
static ngx_int_t        ngx_http_weir_vary_origin(ngx_http_request_t *r);
static ngx_int_t ngx_http_weir_expose(ngx_http_request_t *r,
    struct text expose);


static ngx_http_module_t  ngx_http_weir_cors_module_ctx = {
    NULL,                                  /* preconfiguration */
    ngx_http_weir_cors_init,               /* postconfiguration */

    NULL,                                  /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    NULL,                                  /* create location configuration */
    NULL                                   /* merge location configuration */
};


ngx_module_t  ngx_http_weir_cors_module = {
    NGX_MODULE_V1,
    &ngx_http_weir_cors_module_ctx,        /* module context */
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


static ngx_int_t
ngx_http_weir_cors_init(ngx_conf_t *cf)
{
    ngx_http_weir_main_conf_t  *mcf;

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_gate_module);

    if (ngx_http_weir_enabled(mcf)) {
        ngx_http_next_header_filter = ngx_http_top_header_filter;
        ngx_http_top_header_filter = ngx_http_weir_cors_filter;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_weir_cors_filter(ngx_http_request_t *r)
{
    ngx_http_weir_visit_t  *visit;

    if (r == r->main) {
        visit = ngx_http_weir_visit_find(r);

        /* there are names to expose if the policy mirrors and the request has an Origin */

        if (visit && visit->answered && visit->answer->expose.size
            && ngx_http_weir_cors(r, visit) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_http_next_header_filter(r);
}


static ngx_int_t
ngx_http_weir_cors(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    struct text  origin, name;

    name = TEXT("Access-Control-Allow-Origin");

    if (ngx_http_weir_header_out(r, name, 0) == NULL) {

        if (visit->flow->verdict.action == FLOW_PASS
            || !visit->in.header(visit->in.door, TEXT("origin"), 0, &origin)
            || origin.size == 0)
        {
            return NGX_OK;
        }

        if (ngx_http_weir_header_push(r, name, origin) != NGX_OK
            || ngx_http_weir_vary_origin(r) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_http_weir_expose(r, visit->answer->expose);
}


static ngx_int_t
ngx_http_weir_vary_origin(ngx_http_request_t *r)
{
    ngx_uint_t        n;
    ngx_table_elt_t  *h;

    for (n = 0; (h = ngx_http_weir_header_out(r, TEXT("Vary"), n)); n++) {
        if (ngx_strlcasestrn(h->value.data, h->value.data + h->value.len,
                             (u_char *) "origin", 6 - 1)
            || ngx_strlchr(h->value.data, h->value.data + h->value.len, '*'))
        {
            return NGX_OK;
        }
    }

    return ngx_http_weir_header_push(r, TEXT("Vary"), TEXT("Origin"));
}


static ngx_int_t
ngx_http_weir_expose(ngx_http_request_t *r, struct text expose)
{
    u_char           *p;
    ngx_uint_t        n;
    struct text       name;
    ngx_table_elt_t  *h, *last;

    name = TEXT("Access-Control-Expose-Headers");
    last = NULL;

    for (n = 0; (h = ngx_http_weir_header_out(r, name, n)) != NULL; n++) {

        /* ours are there if this is the second pass */

        if (h->value.len >= expose.size
            && ngx_memcmp(h->value.data + h->value.len - expose.size,
                          expose.data, expose.size)
               == 0)
        {
            return NGX_OK;
        }

        last = h;
    }

    if (last == NULL) {
        return ngx_http_weir_header_push(r, name, expose);
    }

    p = ngx_pnalloc(r->pool, last->value.len + 2 + expose.size);
    if (p == NULL) {
        return NGX_ERROR;
    }

    last->value.len = ngx_sprintf(p, "%V, %*s", &last->value,
                                  expose.size, expose.data)
                      - p;
    last->value.data = p;

    return NGX_OK;
}
