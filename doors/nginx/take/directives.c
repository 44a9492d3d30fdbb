/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * directives: nginx's ten, with its contexts and numbers of arguments (and status=), and weir's own. Each stands here once
 * more for the places where nginx does not allow it, because there it can be said where it belongs.
 */
#include "doors/nginx/take/take.h"


#define NGX_HTTP_WEIR_ANYWHERE  (NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF)

/* but not NGX_HTTP_UPS_CONF, nor outside of http{}: there nginx speaks */
#define NGX_HTTP_WEIR_INSIDE    (NGX_HTTP_SIF_CONF|NGX_HTTP_LIF_CONF|NGX_HTTP_LMT_CONF|NGX_CONF_ANY)

#define ngx_http_weir_limits(field, of)                                       \
    offsetof(ngx_http_weir_take_loc_conf_t, of)                               \
    + offsetof(ngx_http_weir_limits_t, field)

#define ngx_http_weir_directive(name, type, set, conf, offset, post)          \
    { ngx_string(name), type, set, conf, offset, post }

#define ngx_http_weir_of_http(name, arguments, set)                           \
    ngx_http_weir_directive(name, NGX_HTTP_MAIN_CONF|arguments, set,          \
                            NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL),              \
    ngx_http_weir_directive(name, NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF         \
                            |NGX_HTTP_WEIR_INSIDE,                            \
                            ngx_http_weir_misplaced_http,                     \
                            NGX_HTTP_MAIN_CONF_OFFSET, 0, NULL)

#define ngx_http_weir_of_places(name, arguments, set, offset, post)           \
    ngx_http_weir_directive(name, NGX_HTTP_WEIR_ANYWHERE|arguments, set,      \
                            NGX_HTTP_LOC_CONF_OFFSET, offset, post),          \
    ngx_http_weir_directive(name, NGX_HTTP_WEIR_INSIDE,                       \
                            ngx_http_weir_misplaced,                          \
                            NGX_HTTP_LOC_CONF_OFFSET, 0, NULL)


static ngx_conf_enum_t  ngx_http_weir_take_levels[] = {
    { ngx_string("info"), NGX_LOG_INFO },
    { ngx_string("notice"), NGX_LOG_NOTICE },
    { ngx_string("warn"), NGX_LOG_WARN },
    { ngx_string("error"), NGX_LOG_ERR },
    { ngx_null_string, 0 }
};


static ngx_conf_num_bounds_t  ngx_http_weir_take_statuses = {
    ngx_conf_check_num_bounds, 400, 599
};


ngx_command_t  ngx_http_weir_take_commands[] = {

    ngx_http_weir_of_http("limit_req_zone", NGX_CONF_TAKE3,
                          ngx_http_weir_limit_req_zone),

    ngx_http_weir_of_places("limit_req", NGX_CONF_TAKE1234,
                            ngx_http_weir_limit_req, 0, NULL),

    ngx_http_weir_of_places("limit_req_log_level", NGX_CONF_TAKE1,
                            ngx_conf_set_enum_slot,
                            ngx_http_weir_limits(log_level, requests),
                            &ngx_http_weir_take_levels),

    ngx_http_weir_of_places("limit_req_status", NGX_CONF_TAKE1,
                            ngx_conf_set_num_slot,
                            ngx_http_weir_limits(status, requests),
                            &ngx_http_weir_take_statuses),

    ngx_http_weir_of_places("limit_req_dry_run", NGX_CONF_FLAG,
                            ngx_conf_set_flag_slot,
                            ngx_http_weir_limits(dry_run, requests), NULL),

    ngx_http_weir_of_http("limit_conn_zone", NGX_CONF_TAKE2,
                          ngx_http_weir_limit_conn_zone),

    ngx_http_weir_of_places("limit_conn", NGX_CONF_TAKE23,
                            ngx_http_weir_limit_conn, 0, NULL),

    ngx_http_weir_of_places("limit_conn_log_level", NGX_CONF_TAKE1,
                            ngx_conf_set_enum_slot,
                            ngx_http_weir_limits(log_level, connections),
                            &ngx_http_weir_take_levels),

    ngx_http_weir_of_places("limit_conn_status", NGX_CONF_TAKE1,
                            ngx_conf_set_num_slot,
                            ngx_http_weir_limits(status, connections),
                            &ngx_http_weir_take_statuses),

    ngx_http_weir_of_places("limit_conn_dry_run", NGX_CONF_FLAG,
                            ngx_conf_set_flag_slot,
                            ngx_http_weir_limits(dry_run, connections), NULL),

    ngx_http_weir_of_places("weir_headers", NGX_CONF_1MORE,
                            ngx_http_weir_take_headers_words, 0, NULL),

    ngx_http_weir_of_places("weir_limit_status", NGX_CONF_TAKE1,
                            ngx_conf_set_num_slot,
                            offsetof(ngx_http_weir_take_loc_conf_t, status),
                            &ngx_http_weir_take_statuses),

    ngx_http_weir_of_places("weir_limit_log_sample", NGX_CONF_FLAG,
                            ngx_conf_set_flag_slot,
                            offsetof(ngx_http_weir_take_loc_conf_t, sample),
                            NULL),

    ngx_http_weir_of_http("weir_limit_table", NGX_CONF_TAKE12,
                          ngx_http_weir_limit_table),

    ngx_http_weir_of_http("weir_limit_snapshot", NGX_CONF_TAKE1,
                          ngx_http_weir_limit_snapshot),

      ngx_null_command
};
