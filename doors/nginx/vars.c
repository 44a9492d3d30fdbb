/* SPDX-License-Identifier: BSD-2-Clause */
/* vars: what the decision was, as nginx variables: for access logs, for headers to the application, for `map`. Not found ("-")
 * where weir is off or nothing was decided. */
#include "doors/nginx/gate.h"


enum {
    NGX_HTTP_WEIR_VAR_STATUS,
    NGX_HTTP_WEIR_VAR_LIMIT,
    NGX_HTTP_WEIR_VAR_REMAINING,
    NGX_HTTP_WEIR_VAR_KEY_HASH,
    NGX_HTTP_WEIR_VAR_REFUSAL
};


static ngx_int_t ngx_http_weir_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data);


static ngx_http_variable_t  ngx_http_weir_vars[] = {

    { ngx_string("weir_status"), NULL, ngx_http_weir_variable,
      NGX_HTTP_WEIR_VAR_STATUS, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("weir_limit"), NULL, ngx_http_weir_variable,
      NGX_HTTP_WEIR_VAR_LIMIT, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("weir_remaining"), NULL, ngx_http_weir_variable,
      NGX_HTTP_WEIR_VAR_REMAINING, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("weir_key_hash"), NULL, ngx_http_weir_variable,
      NGX_HTTP_WEIR_VAR_KEY_HASH, NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("weir_refusal"), NULL, ngx_http_weir_variable,
      NGX_HTTP_WEIR_VAR_REFUSAL, NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


ngx_int_t
ngx_http_weir_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_weir_vars; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_weir_check_variables(ngx_conf_t *cf, const struct image *image)
{
    uint32_t                      i, k;
    ngx_str_t                     name;
    struct text                   text;
    const struct image_limit     *limit;
    const struct image_key_part  *part;

    limit = image_at(image, image->limits.offset);

    for (i = 0; i < image->limits.count; i++) {
        part = image_at(image, limit[i].key.offset);

        for (k = 0; k < limit[i].key.count; k++) {
            if (part[k].kind != IMAGE_KEY_VAR) {
                continue;
            }

            text = image_text(image, part[k].name);

            name.len = text.size;
            name.data = ngx_pnalloc(cf->pool, text.size);
            if (name.data == NULL) {
                return NGX_ERROR;
            }

            ngx_strlow(name.data, (u_char *) text.data, text.size);

            /* an unknown one is then nginx's own error: unknown "NAME" variable */

            if (ngx_http_get_variable_index(cf, &name) == NGX_ERROR) {
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_weir_variable(ngx_http_request_t *r, ngx_http_variable_value_t *v,
    uintptr_t data)
{
    struct text                  text;
    const struct image          *image;
    ngx_http_weir_visit_t       *visit;
    const struct flow_verdict   *verdict;
    const struct image_limit    *limits;
    const struct image_counter  *counters;

    visit = ngx_http_weir_visit_find(r->main);

    if (visit == NULL || (visit->flow == NULL && !visit->failed)) {
        v->not_found = 1;
        return NGX_OK;
    }

    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    if (data == NGX_HTTP_WEIR_VAR_STATUS) {
        text = text_of(flow_status_word(visit->failed ? FLOW_FAILED
                                        : visit->flow->verdict.status));
        v->len = text.size;
        v->data = (u_char *) text.data;
        return NGX_OK;
    }

    if (data == NGX_HTTP_WEIR_VAR_REFUSAL && !visit->failed
        && visit->flow->verdict.refusal[0])
    {
        text = text_of(visit->flow->verdict.refusal);
        v->len = text.size;
        v->data = (u_char *) text.data;
        return NGX_OK;
    }

    if (visit->failed || visit->flow->verdict.limit_index == FLOW_NONE
        || data == NGX_HTTP_WEIR_VAR_REFUSAL)
    {
        v->valid = 0;
        v->not_found = 1;
        return NGX_OK;
    }

    image = visit->world->env.image;
    verdict = &visit->flow->verdict;

    switch (data) {

    case NGX_HTTP_WEIR_VAR_LIMIT:
        counters = image_at(image, image->counters.offset);
        limits = image_at(image, image->limits.offset);

        text = image_text(image, verdict->counter_index != FLOW_NONE
                                 ? counters[verdict->counter_index].name
                                 : limits[verdict->limit_index].name);
        v->len = text.size;
        v->data = (u_char *) text.data;
        return NGX_OK;

    case NGX_HTTP_WEIR_VAR_REMAINING:
        v->data = ngx_pnalloc(r->pool, NGX_INT32_LEN);
        if (v->data == NULL) {
            return NGX_ERROR;
        }

        v->len = ngx_sprintf(v->data, "%uD", verdict->remaining) - v->data;
        return NGX_OK;

    default: /* NGX_HTTP_WEIR_VAR_KEY_HASH */
        v->data = ngx_pnalloc(r->pool, 16);
        if (v->data == NULL) {
            return NGX_ERROR;
        }

        v->len = ngx_sprintf(v->data, "%016xL", visit->flow->key_digest)
                 - v->data;
        return NGX_OK;
    }
}
