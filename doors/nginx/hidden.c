/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hidden: the statuses that an error_page of the operator's has taken a request away from: a wrong password that is shown as 200, or
 * that leads to a page of its own.
 *
 * nginx forgets them. But for each use of an error_page it evaluates that one's address, so an instruction that notes the status is
 * put before the address (nginx's complex values are small programs). Whoever made the error, it comes by here: a backend whose
 * answer is intercepted, a cache, auth_basic, auth_request, a file that is missing.
 */
#include "doors/nginx/gate.h"


#define NGX_HTTP_WEIR_HIDDEN  4    /* of one request; more need recursive_error_pages */


/* The program that a length is computed by. */
typedef struct {
    ngx_http_script_len_code_pt   code;
    unsigned                      status;
    void                         *lengths;     /* goes on here; NULL: the address has no variables, and is */
    ngx_str_t                     text;
    uintptr_t                     end;         /* 0 */
} ngx_http_weir_page_t;


/* And that which writes it, where there was none. */
typedef struct {
    ngx_http_script_code_pt       code;
    ngx_http_weir_page_t         *page;
    uintptr_t                     end;         /* 0 */
} ngx_http_weir_page_text_t;


typedef struct {
    ngx_uint_t                    n;
    unsigned                      statuses[NGX_HTTP_WEIR_HIDDEN];
} ngx_http_weir_hidden_t;


static ngx_int_t ngx_http_weir_hidden_wrap(ngx_conf_t *cf,
    ngx_http_err_page_t *err);
static size_t ngx_http_weir_hidden_code(ngx_http_script_engine_t *e);
static void ngx_http_weir_hidden_text(ngx_http_script_engine_t *e);
static void ngx_http_weir_hidden_note(ngx_http_request_t *r, unsigned status);
static ngx_http_weir_hidden_t *ngx_http_weir_hidden_find(
    ngx_http_request_t *r);
static void ngx_http_weir_hidden_cleanup(void *data);


/* For each place of the configuration, when nginx's own module has merged its error pages. Places may share them. */

char *
ngx_http_weir_hidden_init(ngx_conf_t *cf)
{
    ngx_uint_t                    i;
    ngx_http_err_page_t          *err;
    ngx_http_core_loc_conf_t     *clcf;
    ngx_http_script_len_code_pt  *code;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (clcf->error_pages == NULL) {
        return NGX_CONF_OK;
    }

    err = clcf->error_pages->elts;

    for (i = 0; i < clcf->error_pages->nelts; i++) {
        code = err[i].value.lengths;

        if (code && *code == ngx_http_weir_hidden_code) {
            continue;
        }

        if (ngx_http_weir_hidden_wrap(cf, &err[i]) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_weir_hidden_wrap(ngx_conf_t *cf, ngx_http_err_page_t *err)
{
    u_char                     *p;
    ngx_http_weir_page_t       *page;
    ngx_http_weir_page_text_t  *text;

    page = ngx_pcalloc(cf->pool, sizeof(ngx_http_weir_page_t));
    if (page == NULL) {
        return NGX_ERROR;
    }

    page->code = ngx_http_weir_hidden_code;
    page->status = (unsigned) err->status;
    page->lengths = err->value.lengths;

    if (page->lengths == NULL) {
        text = ngx_pcalloc(cf->pool, sizeof(ngx_http_weir_page_text_t));
        if (text == NULL) {
            return NGX_ERROR;
        }

        /* nginx has taken the arguments off, and will do so again */

        p = ngx_pnalloc(cf->pool, err->value.value.len + 1 + err->args.len);
        if (p == NULL) {
            return NGX_ERROR;
        }

        page->text.data = p;
        p = ngx_cpymem(p, err->value.value.data, err->value.value.len);

        if (err->args.len) {
            *p++ = '?';
            p = ngx_cpymem(p, err->args.data, err->args.len);
        }

        page->text.len = (size_t) (p - page->text.data);

        text->code = ngx_http_weir_hidden_text;
        text->page = page;

        err->value.values = text;
    }

    err->value.lengths = page;

    return NGX_OK;
}


static size_t
ngx_http_weir_hidden_code(ngx_http_script_engine_t *e)
{
    ngx_http_weir_page_t  *page;

    page = (ngx_http_weir_page_t *) e->ip;

    if (e->request == e->request->main) {
        ngx_http_weir_hidden_note(e->request, page->status);
    }

    e->ip = page->lengths ? page->lengths : (u_char *) &page->end;

    return page->text.len;
}


static void
ngx_http_weir_hidden_text(ngx_http_script_engine_t *e)
{
    ngx_http_weir_page_text_t  *text;

    text = (ngx_http_weir_page_text_t *) e->ip;

    e->pos = ngx_cpymem(e->pos, text->page->text.data, text->page->text.len);
    e->ip = (u_char *) &text->end;
}


/* Beside the visit, not in it: an error may come before there is one (`return 401`). */

static void
ngx_http_weir_hidden_note(ngx_http_request_t *r, unsigned status)
{
    ngx_pool_cleanup_t      *cln;
    ngx_http_weir_hidden_t  *hidden;

    hidden = ngx_http_weir_hidden_find(r);

    if (hidden == NULL) {
        cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_weir_hidden_t));
        if (cln == NULL) {
            return;
        }

        cln->handler = ngx_http_weir_hidden_cleanup;
        hidden = cln->data;
        hidden->n = 0;
    }

    if (hidden->n < NGX_HTTP_WEIR_HIDDEN) {
        hidden->statuses[hidden->n++] = status;
    }
}


ngx_uint_t
ngx_http_weir_hidden(ngx_http_request_t *r, unsigned *statuses, ngx_uint_t most)
{
    ngx_uint_t               n;
    ngx_http_weir_hidden_t  *hidden;

    hidden = ngx_http_weir_hidden_find(r);
    n = hidden ? ngx_min(hidden->n, most) : 0;

    if (n) {
        ngx_memcpy(statuses, hidden->statuses, n * sizeof(unsigned));
    }

    return n;
}


static ngx_http_weir_hidden_t *
ngx_http_weir_hidden_find(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t  *cln;

    for (cln = r->pool->cleanup; cln; cln = cln->next) {
        if (cln->handler == ngx_http_weir_hidden_cleanup) {
            return cln->data;
        }
    }

    return NULL;
}


/* It is only a name to be found by. */

static void
ngx_http_weir_hidden_cleanup(void *data)
{
}
