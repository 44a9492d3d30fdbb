/* SPDX-License-Identifier: BSD-2-Clause */
/* extras: what nginx's limits do not have: rate headers, a table that is named. */
#include "doors/nginx/take/take.h"


/* Two forms that write the same fields do not go together. */

static const struct {
    const char  *word;
    ngx_uint_t   headers;
    ngx_uint_t   fields;
} ngx_http_weir_forms[] = {
    { "x-ratelimit", IMAGE_HEADERS_X_RATELIMIT, IMAGE_HEADERS_X },
    { "x-ratelimit-delta", IMAGE_HEADERS_DELTA, IMAGE_HEADERS_X },
    { "github", IMAGE_HEADERS_GITHUB, IMAGE_HEADERS_X },
    { "ratelimit", IMAGE_HEADERS_RATELIMIT, IMAGE_HEADERS_DRAFTS },
    { "draft-7", IMAGE_HEADERS_DRAFT_7, IMAGE_HEADERS_DRAFTS },
    { "draft-6", IMAGE_HEADERS_DRAFT_6, IMAGE_HEADERS_DRAFTS },
    { "retry-after", NGX_HTTP_WEIR_RETRY_AFTER, NGX_HTTP_WEIR_RETRY_AFTER },
};

#define NGX_HTTP_WEIR_FORMS  (sizeof(ngx_http_weir_forms) / sizeof(ngx_http_weir_forms[0]))


char *
ngx_http_weir_take_headers_words(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_weir_take_loc_conf_t  *tlcf = conf;

    ngx_str_t                       *value;
    ngx_uint_t                       i, k, headers;
    ngx_http_weir_take_main_conf_t  *tmcf;

    if (tlcf->headers != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    headers = 0;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        tlcf->headers = 0;
        return NGX_CONF_OK;
    }

    for (i = 1; i < cf->args->nelts; i++) {

        for (k = 0; k < NGX_HTTP_WEIR_FORMS; k++) {
            if (ngx_strcmp(value[i].data, ngx_http_weir_forms[k].word) == 0) {
                break;
            }
        }

        if (ngx_strcmp(value[i].data, "off") == 0) {
            return "takes \"off\" alone";
        }

        if (k == NGX_HTTP_WEIR_FORMS) {
            return ngx_http_weir_parameter(cf, &value[i],
                                           "x-ratelimit x-ratelimit-delta "
                                           "github ratelimit draft-7 draft-6 "
                                           "retry-after off");
        }

        if (headers & ngx_http_weir_forms[k].fields) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "weir: \"%V\" writes the same fields as a word "
                               "before it: leave one out", &value[i]);
            return NGX_CONF_ERROR;
        }

        headers |= ngx_http_weir_forms[k].headers;
    }

    tlcf->headers = headers;

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_take_module);
    tmcf->headers = 1;

    return NGX_CONF_OK;
}


char *
ngx_http_weir_limit_table(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_weir_take_main_conf_t  *tmcf = conf;

    return ngx_http_weir_realm_table(cf, &tmcf->realm);
}


char *
ngx_http_weir_limit_snapshot(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_weir_take_main_conf_t  *tmcf = conf;

    return ngx_http_weir_realm_snapshot(cf, &tmcf->realm);
}
