/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request: nginx's request as flow understands it.
 *
 * The target and method are those of the request line: rewrites, error pages and internal redirects change r->uri and
 * r->method, not what the client asked. The peer is r->connection's address: the real one, or what the operator's own
 * realip directives put in its place (trusting them is the operator's word).
 */
#include "doors/nginx/gate.h"


static bool ngx_http_weir_header(void *door, struct text name, unsigned nth,
    struct text *value);
static bool ngx_http_weir_get_variable(void *door, struct text name,
    struct text *value);
static bool ngx_http_weir_response_header(void *door, struct text name,
    struct text *value);
static bool ngx_http_weir_address(struct sockaddr *sa, struct address *out);


void
ngx_http_weir_request(ngx_http_request_t *r, ngx_http_weir_visit_t *visit)
{
    u_char                    *p, *last;
    ngx_str_t                 *addr, *host;
    ngx_connection_t          *c;
    struct flow_request       *in;
    ngx_http_core_srv_conf_t  *cscf;

    c = r->connection;
    in = &visit->in;

    p = r->request_line.data;
    last = p + r->request_line.len;

    while (p < last && *p != ' ') {
        p++;
    }

    in->method.data = (char *) r->request_line.data;
    in->method.size = p - r->request_line.data;

    in->target.data = (char *) r->unparsed_uri.data;
    in->target.size = r->unparsed_uri.len;

    /*
     * The authority of an absolute target or :authority, else Host; checked and lower-cased by nginx. Without any (HTTP/1.0) what
     * nginx itself takes for $host and tells the backend: the server's name.
     */

    host = &r->headers_in.server;

    if (host->len == 0) {
        cscf = ngx_http_get_module_srv_conf(r, ngx_http_core_module);
        host = &cscf->server_name;
    }

    in->host.data = (char *) host->data;
    in->host.size = host->len;

    in->has_peer = ngx_http_weir_address(c->sockaddr, &in->peer);

    if (c->proxy_protocol) {
        addr = &c->proxy_protocol->src_addr;

        in->has_proxied = address_parse((struct text) { (char *) addr->data,
                                                        addr->len },
                                        &in->proxied);
    }

    in->header = ngx_http_weir_header;
    in->variable = ngx_http_weir_get_variable;
    in->response_header = ngx_http_weir_response_header;
    in->door = visit;
}


static bool
ngx_http_weir_address(struct sockaddr *sa, struct address *out)
{
    struct sockaddr_in   *sin;
#if (NGX_HAVE_INET6)
    struct sockaddr_in6  *sin6;
#endif

    switch (sa->sa_family) {

    case AF_INET:
        sin = (struct sockaddr_in *) sa;

        ngx_memzero(out->bytes, 10);
        out->bytes[10] = 0xff;
        out->bytes[11] = 0xff;
        ngx_memcpy(&out->bytes[12], &sin->sin_addr, 4);

        return true;

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) sa;

        ngx_memcpy(out->bytes, &sin6->sin6_addr, 16);

        return true;
#endif

    default:
        return false;
    }
}


/*
 * A thousand lines of one name, asked for one after the other, are one walk through the list: it goes on where the line before was
 * found.
 */

static bool
ngx_http_weir_header(void *door, struct text name, unsigned nth,
    struct text *value)
{
    ngx_uint_t               i;
    ngx_list_part_t         *part;
    ngx_table_elt_t         *header;
    ngx_http_weir_visit_t   *visit = door;
    ngx_http_weir_cursor_t  *cursor = &visit->cursor;

    if (nth != 0 && cursor->name == name.data && cursor->nth == nth) {
        part = cursor->part;
        i = cursor->i;
        nth = 0;

    } else {
        part = &visit->request->headers_in.headers.part;
        i = 0;
        cursor->nth = nth;
    }

    for (header = part->elts; /* void */ ; i++) {

        if (i >= part->nelts) {
            if (part->next == NULL) {
                cursor->name = NULL;
                return false;
            }

            part = part->next;
            header = part->elts;
            i = 0;
        }

        if (header[i].hash == 0    /* taken out by another module */
            || header[i].key.len != name.size
            || ngx_memcmp(header[i].lowcase_key, name.data, name.size) != 0
            || nth-- != 0)
        {
            continue;
        }

        cursor->name = name.data;
        cursor->nth++;
        cursor->part = part;
        cursor->i = i + 1;

        value->data = (char *) header[i].value.data;
        value->size = header[i].value.len;

        return true;
    }
}


static bool
ngx_http_weir_get_variable(void *door, struct text name, struct text *value)
{
    ngx_str_t                   key;
    u_char                      lower[256];
    ngx_http_weir_visit_t      *visit = door;
    ngx_http_variable_value_t  *v;

    if (name.size > sizeof(lower)) {
        return false;
    }

    key.data = lower;
    key.len = name.size;

    v = ngx_http_get_variable(visit->request, &key,
                              ngx_hash_strlow(lower, (u_char *) name.data,
                                              name.size));

    if (v == NULL || v->not_found) {
        return false;
    }

    value->data = (char *) v->data;
    value->size = v->len;

    return true;
}


/* What the backend said: also a header that nginx keeps from the client (proxy_hide_header). */

static bool
ngx_http_weir_response_header(void *door, struct text name, struct text *value)
{
    ngx_uint_t              i;
    ngx_list_t             *list;
    ngx_list_part_t        *part;
    ngx_table_elt_t        *header;
    ngx_http_request_t     *r;
    ngx_http_weir_visit_t  *visit = door;

    r = visit->request;
    list = r->upstream && r->upstream->headers_in.headers.size
           ? &r->upstream->headers_in.headers : &r->headers_out.headers;

    part = &list->part;
    header = part->elts;

    for (i = 0; /* void */ ; i++) {

        if (i >= part->nelts) {
            if (part->next == NULL) {
                return false;
            }

            part = part->next;
            header = part->elts;
            i = 0;
        }

        if (header[i].key.len != name.size
            || ngx_strncasecmp(header[i].key.data, (u_char *) name.data,
                               name.size) != 0)
        {
            continue;
        }

        value->data = (char *) header[i].value.data;
        value->size = header[i].value.len;

        return true;
    }
}
