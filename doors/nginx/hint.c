/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hint: what the operator has to be told, beside refusals: a proxy that is not trusted, a failure that lasts.
 *
 * A proxy that is not trusted makes all its clients one. That is said at most once a minute by all workers together; not
 * where realip has put another address in the peer's place, because then the operator has already said whom to trust.
 */
#include "doors/nginx/gate.h"


void
ngx_http_weir_hint(ngx_http_weir_main_conf_t *mcf,
    ngx_http_weir_visit_t *visit)
{
    char                        peer[ADDRESS_TEXT_MAX];
    ngx_str_t                   name, *addr;
    struct text                 value;
    const char                 *header, *from;
    ngx_atomic_uint_t           now, hinted;
    ngx_http_variable_value_t  *v;

    now = (ngx_atomic_uint_t) ngx_time();
    hinted = mcf->realm.shared->hinted;

    if (!visit->in.has_peer || (hinted != 0 && now - hinted < 60)) {
        return;
    }

    ngx_str_set(&name, "realip_remote_addr");
    addr = &visit->request->connection->addr_text;

    v = ngx_http_get_variable(visit->request, &name,
                              ngx_hash_key(name.data, name.len));

    if (v && !v->not_found
        && (v->len != addr->len
            || ngx_memcmp(v->data, addr->data, addr->len) != 0))
    {
        return;
    }

    if (!ngx_atomic_cmp_set(&mcf->realm.shared->hinted, hinted, now)) {
        return;
    }

    header = "X-Forwarded-For";
    from = "x-forwarded-for";

    if (!visit->in.header(visit->in.door, TEXT("x-forwarded-for"), 0,
                           &value))
    {
        header = "Forwarded";
        from = "forwarded";
    }

    (void) address_format(&visit->in.peer, peer);

    ngx_log_error(NGX_LOG_WARN, mcf->realm.log, 0,
                  "weir: %s from untrusted %s: all its clients share one "
                  "bucket; if it is your proxy: "
                  "clients: {address: {from: %s, trusted: [%s]}}",
                  header, peer, from, peer);
}


void
ngx_http_weir_complain(ngx_log_t *log, const char *sentence,
    enum weir_error error, const char *then)
{
    ngx_log_error(NGX_LOG_CRIT, log, 0, "weir: %s: %s; %s",
                  sentence, weir_error_cure(error), then);
}
