/* SPDX-License-Identifier: BSD-2-Clause */
/* lines: limit_req and limit_conn, in nginx's grammar and its words where one is wrong. */
#include "doors/nginx/take/take.h"


static char *ngx_http_weir_line_count(ngx_conf_t *cf, ngx_str_t *value,
    const char *what, uint32_t *count);
static char *ngx_http_weir_line_burst(ngx_conf_t *cf, ngx_str_t *value,
    ngx_http_weir_line_t *line);
static ngx_uint_t ngx_http_weir_line_twice(ngx_http_weir_limits_t *limits,
    ngx_http_weir_zone_t *zone);
static char *ngx_http_weir_line_add(ngx_conf_t *cf,
    ngx_http_weir_limits_t *limits, ngx_http_weir_line_t *line);
static ngx_uint_t ngx_http_weir_line_arguments(ngx_conf_t *cf, ngx_uint_t most,
    ngx_uint_t first);


char *
ngx_http_weir_limit_req(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_weir_take_loc_conf_t  *tlcf = conf;

    char                  *rv;
    uint32_t               delay;
    ngx_str_t             *value, name;
    ngx_uint_t             i;
    ngx_http_weir_line_t   line;

    value = cf->args->elts;

    if (!ngx_http_weir_line_arguments(cf, 4, 1)) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&line, sizeof(ngx_http_weir_line_t));
    delay = 0;

    for (i = 1; i < cf->args->nelts; i++) {
        rv = NGX_CONF_OK;

        if (ngx_strncmp(value[i].data, "zone=", 5) == 0) {
            name.data = value[i].data + 5;
            name.len = value[i].len - 5;

            line.zone = ngx_http_weir_zone(cf, &name, 0, 0);
            if (line.zone == NULL) {
                return NGX_CONF_ERROR;
            }

        } else if (ngx_strncmp(value[i].data, "burst=", 6) == 0) {
            rv = ngx_http_weir_line_burst(cf, &value[i], &line);

        } else if (ngx_strncmp(value[i].data, "delay=", 6) == 0) {
            rv = ngx_http_weir_line_count(cf, &value[i], "delay", &delay);
            line.nodelay = 0;

        } else if (ngx_strcmp(value[i].data, "nodelay") == 0) {
            line.nodelay = 1;

        } else if (ngx_strncmp(value[i].data, "status=", 7) == 0) {
            rv = ngx_http_weir_status(cf, &value[i], &line.status);

        } else {
            rv = ngx_http_weir_parameter(cf, &value[i],
                                         "zone= burst= nodelay delay= status=");
        }

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    if (line.zone == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must have \"zone\" parameter: zone=NAME of "
                           "a limit_req_zone", &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (ngx_http_weir_line_twice(&tlcf->requests, line.zone)) {
        return "is duplicate";
    }

    if (line.burst_value) {
        line.bound.at_once = delay;

    } else {
        line.bound.at_once = line.nodelay ? line.bound.burst
                             : ngx_min(delay, line.bound.burst);
    }

    return ngx_http_weir_line_add(cf, &tlcf->requests, &line);
}


char *
ngx_http_weir_limit_conn(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_weir_take_loc_conf_t  *tlcf = conf;

    ngx_int_t              n;
    ngx_str_t             *value;
    ngx_http_weir_line_t   line;

    ngx_memzero(&line, sizeof(ngx_http_weir_line_t));

    value = cf->args->elts;

    if (!ngx_http_weir_line_arguments(cf, 3, 3)) {
        return NGX_CONF_ERROR;
    }

    line.zone = ngx_http_weir_zone(cf, &value[1], 0, 1);
    if (line.zone == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_http_weir_line_twice(&tlcf->connections, line.zone)) {
        return "is duplicate";
    }

    n = ngx_atoi(value[2].data, value[2].len);

    if (n <= 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid number of connections \"%V\": 1 or more, "
                           "after the zone's name", &value[2]);
        return NGX_CONF_ERROR;
    }

    if (n > 65535) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "connection limit must be less 65536");
        return NGX_CONF_ERROR;
    }

    line.bound.burst = (uint32_t) n - 1;

    if (cf->args->nelts == 4
        && ngx_http_weir_status(cf, &value[3], &line.status) != NGX_CONF_OK)
    {
        return NGX_CONF_ERROR;
    }

    return ngx_http_weir_line_add(cf, &tlcf->connections, &line);
}


static char *
ngx_http_weir_line_burst(ngx_conf_t *cf, ngx_str_t *value,
    ngx_http_weir_line_t *line)
{
    ngx_str_t  text;

    text.data = value->data + 6;
    text.len = value->len - 6;

    line->burst_value = NULL;

    if (ngx_strlchr(text.data, text.data + text.len, '$') == NULL) {
        return ngx_http_weir_line_count(cf, value, "burst", &line->bound.burst);
    }

    line->bound.burst = 0;
    line->burst_value = ngx_palloc(cf->pool, sizeof(ngx_http_complex_value_t));

    if (line->burst_value == NULL
        || ngx_http_weir_complex(cf, &text, line->burst_value) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* `burst=N`, `delay=N` */

static char *
ngx_http_weir_line_count(ngx_conf_t *cf, ngx_str_t *value, const char *what,
    uint32_t *count)
{
    ngx_int_t  n;

    n = ngx_atoi(value->data + 6, value->len - 6);

    if (n <= 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid %s value \"%V\": 1 or more requests; for "
                           "none leave it out", what, value);
        return NGX_CONF_ERROR;
    }

    if (n >= (ngx_int_t) ALGO_BURST_MAX) {
        n = ALGO_BURST_MAX - 1;
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"%V\" is more than weir counts: it is %i", value,
                           n);
    }

    *count = (uint32_t) n;

    return NGX_CONF_OK;
}


static ngx_uint_t
ngx_http_weir_line_twice(ngx_http_weir_limits_t *limits,
    ngx_http_weir_zone_t *zone)
{
    ngx_uint_t             i;
    ngx_http_weir_line_t  *lines;

    lines = limits->lines.elts;

    for (i = 0; i < limits->lines.nelts; i++) {
        if (lines[i].zone == zone) {
            return 1;
        }
    }

    return 0;
}


static char *
ngx_http_weir_line_add(ngx_conf_t *cf, ngx_http_weir_limits_t *limits,
    ngx_http_weir_line_t *line)
{
    ngx_http_weir_line_t  *new;

    if (limits->lines.elts == NULL
        && ngx_array_init(&limits->lines, cf->pool, 1,
                          sizeof(ngx_http_weir_line_t))
           != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    new = ngx_array_push(&limits->lines);
    if (new == NULL) {
        return NGX_CONF_ERROR;
    }

    *new = *line;

    line->zone->used = 1;
    line->zone->burst = ngx_max(line->zone->burst, line->bound.burst);
    line->zone->burst_varies |= line->burst_value != NULL;

    return NGX_CONF_OK;
}


/* nginx takes so many words, the directive's name among them; one more is right if one, from `first` on, is status= */

static ngx_uint_t
ngx_http_weir_line_arguments(ngx_conf_t *cf, ngx_uint_t most, ngx_uint_t first)
{
    ngx_str_t   *value;
    ngx_uint_t   i;

    value = cf->args->elts;

    if (cf->args->nelts <= most) {
        return 1;
    }

    for (i = first; i < cf->args->nelts; i++) {
        if (ngx_strncmp(value[i].data, "status=", 7) == 0) {
            return 1;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "invalid number of arguments in \"%V\" directive",
                       &value[0]);
    return 0;
}
