/* SPDX-License-Identifier: BSD-2-Clause */
/* misplaced: a directive where nginx does not allow it: nginx's sentence, and where it belongs. */
#include "doors/nginx/take/take.h"


char *
ngx_http_weir_misplaced_http(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return "is not allowed here: it belongs into http{}, outside of server{}";
}


char *
ngx_http_weir_misplaced(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    switch (cf->cmd_type) {

    case NGX_HTTP_SIF_CONF:
    case NGX_HTTP_LIF_CONF:
        return "is not allowed here: it belongs into http{}, server{} or "
               "location{}, not into if{}; a request whose key is empty is not "
               "limited, and a map makes such keys";

    case NGX_HTTP_LMT_CONF:
        return "is not allowed here: it belongs into http{}, server{} or "
               "location{}, not into limit_except{}; a request whose key is "
               "empty is not limited, and a map of $request_method makes such "
               "keys";

    default:
        return "is not allowed here: it belongs into http{}, server{} or "
               "location{}";
    }
}
