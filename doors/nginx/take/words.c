/* SPDX-License-Identifier: BSD-2-Clause */
/* words: the values of parameters: rates, and what was probably meant by one that is none. */
#include "doors/nginx/take/take.h"

#include "policy/suggest.h"
#include "policy/zones.h"


ngx_int_t
ngx_http_weir_complex(ngx_conf_t *cf, ngx_str_t *text,
    ngx_http_complex_value_t *value)
{
    ngx_http_compile_complex_value_t  ccv;

    ngx_memzero(&ccv, sizeof(ngx_http_compile_complex_value_t));

    ccv.cf = cf;
    ccv.value = text;
    ccv.complex_value = value;

    return ngx_http_compile_complex_value(&ccv);
}


/* `rate=2r/s`, what zones_rate knows besides, or a variable that says it of each request. */

char *
ngx_http_weir_rate(ngx_conf_t *cf, ngx_str_t *value, ngx_http_weir_zone_t *zone)
{
    bool       nginx, cut;
    ngx_str_t  rate;

    rate.data = value->data + 5;
    rate.len = value->len - 5;

    if (ngx_strlchr(rate.data, rate.data + rate.len, '$')) {

        zone->rate_value = ngx_palloc(cf->pool,
                                      sizeof(ngx_http_complex_value_t));

        if (zone->rate_value == NULL
            || ngx_http_weir_complex(cf, &rate, zone->rate_value) != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }

        zone->count = 0;
        zone->period_ns = 0;
        nginx = false;

    } else {
        zone->rate_value = NULL;

        if (!zones_rate((struct text) { (char *) rate.data, rate.len },
                        &zone->count, &zone->period_ns, &nginx, &cut))
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid rate \"%V\": write rate=Nr/s, Nr/m, "
                               "Nr/h, Nr/d, Nr/w, or Nr/10s and the like, at "
                               "most 1000000 a second", value);
            return NGX_CONF_ERROR;
        }

        if (cut) {
            ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                               "\"%V\" is more than weir counts: it is "
                               "1000000 requests a second", value);
        }
    }

    zone->rate = rate;
    zone->nginx = nginx;

    return NGX_CONF_OK;
}


/* `status=NNN` at the end of a line */

char *
ngx_http_weir_status(ngx_conf_t *cf, ngx_str_t *value, ngx_uint_t *status)
{
    ngx_int_t  n;

    n = ngx_atoi(value->data + 7, value->len - 7);

    if (n < 400 || n > 599) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid status \"%V\": from 400 to 599", value);
        return NGX_CONF_ERROR;
    }

    *status = n;

    return NGX_CONF_OK;
}


char *
ngx_http_weir_parameter(ngx_conf_t *cf, ngx_str_t *value, const char *known)
{
    u_char          *equals;
    size_t           len;
    const char      *word;
    struct suggest   suggest;

    equals = ngx_strlchr(value->data, value->data + value->len, '=');
    len = equals ? (size_t) (equals + 1 - value->data) : value->len;

    suggest = suggest_begin((struct text) { (char *) value->data, len });

    for (word = known; *word; word += len + (word[len] == ' ')) {
        len = strcspn(word, " ");
        suggest_offer(&suggest, (struct text) { word, len });
    }

    if (suggest.best.size) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid parameter \"%V\": did you mean \"%*s\"?",
                           value, suggest.best.size, suggest.best.data);

    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid parameter \"%V\": it takes %s", value,
                           known);
    }

    return NGX_CONF_ERROR;
}
