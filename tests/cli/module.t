#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# weir module path, check and build: what nginx refuses, in its words and ours; building from an installed tree; what is missing is named.
import json, random, re, struct, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

dir = folder()
VERSION = run("nginx", "-v").stderr.split("nginx/")[1].split()[0]
number = lambda v: sum(int(a) * b for a, b in zip(v.split("."), (1000000, 1000, 1)))
module = open(MODULE, "rb").read()


def put(name, data):
    with open(f"{dir}/{name}", "wb") as f:
        f.write(data)
    return f"{dir}/{name}"


def check(code, *argv, **kw):
    r = weir("module", "check", *argv, "--json", **kw)
    is_(r.returncode, code, f"check {' '.join(argv).replace(dir, '…')}: exit {code}")
    return json.loads(r.stdout)


def nginx_says(file):
    write(f"{dir}/nginx.conf", f"load_module {file};\npid {dir}/pid;\nevents {{}}\n")
    return run("nginx", "-t", "-c", f"{dir}/nginx.conf", "-p", dir, "-e", f"{dir}/error.log", env=san_env()).stderr


is_(weir("module", "path").stdout, MODULE + "\n", "path: beside the command")
d = check(0)
signature = d["nginx"]["signature"]
is_(d, {"ok": True, "module": {"path": MODULE, "nginx_version": VERSION, "signature": signature},
        "nginx": {"path": d["nginx"]["path"], "nginx_version": VERSION, "signature": signature}}, "they fit")
ok(re.fullmatch(r"\d,\d,\d,[01]{30,}", signature), "the signature that nginx itself compares")
text = weir("module", "check").stdout
like(text, f"module   {MODULE}: nginx {VERSION}, signature {signature}\nnginx    ", "as text")
like(text, f": nginx {VERSION}, signature {signature}\nthey fit\n", "both of them")
like(nginx_says(MODULE), "test is successful", "and nginx takes it")

# another version, other features: nginx refuses, and weir says why, with nginx's words and a cure
other = put("other.so", module.replace(struct.pack("<Q", number(VERSION)), struct.pack("<Q", 1099003)))
said = f"version 1099003 instead of {number(VERSION)}"
like(nginx_says(other), f'module "{other}" {said}', "nginx refuses a module of another version")
d = check(1, other)
is_((d["ok"], d["module"]["nginx_version"], d["nginx"]["nginx_version"]), (False, "1.99.3", VERSION), "both versions")
like(d["trouble"], f"is nginx {VERSION}, but the module {other} was built for nginx 1.99.3 (nginx refuses it: \"{said}\")", "in a sentence")
is_(d["cure"], f"build the module again for this nginx: weir module build --nginx {d['nginx']['path']} --out {other}", "with the cure")
r = weir("module", "check", other)
like(r.stderr, f"weir: {d['trouble']}\n      cure: {d['cure']}\n", "as text, on standard error")
ok("they fit" not in r.stdout, "which does not say that they fit")

features = signature[:-1] + ("0" if signature[-1] == "1" else "1")
other = put("other.so", module.replace(signature.encode(), features.encode()))
like(nginx_says(other), f'module "{other}" is not binary compatible', "nginx refuses a module with other features")
d = check(1, other)
is_((d["module"]["signature"], d["nginx"]["signature"]), (features, signature), "both signatures")
like(d["trouble"], f"is nginx {VERSION} with the features {signature}, but the module {other} was built for an nginx {VERSION} with {features} "
     '(nginx refuses it: "is not binary compatible")', "in a sentence")

# the doctor finds the same beside its own command
beside = folder()
shutil.copy(WEIR, beside)
shutil.copy(other, f"{beside}/ngx_http_weir_module.so")
r = run(f"{beside}/weir", "doctor", "--json", env=san_env())
found = [f for f in json.loads(r.stdout)["findings"] if f["what"] == "module"]
is_([(f["level"], '"is not binary compatible"' in f["sentence"], f"--out {beside}/ngx_http_weir_module.so" in f["cure"]) for f in found],
    [("wrong", True, True)], "the doctor says so too")

# what is no module, no nginx; any bytes
is_(weir("module", "check", WEIR).returncode, 1, "a file that is no module: exit 1")
is_(weir("module", "check", f"{dir}/none").returncode, 3, "a file that is not there: exit 3")
with open(f"{dir}/wrapper", "w") as f:
    f.write('#!/bin/sh\nexec nginx "$@"\n')
os.chmod(f"{dir}/wrapper", 0o755)
is_(check(0, "--nginx", f"{dir}/wrapper")["nginx"]["signature"], None, "a script that starts nginx has no signature, and is no misfit")
rng = random.Random(4)
codes = set()
sections = struct.unpack_from("<Q", module, 40)[0]
for i in range(120):
    data = bytearray(module)
    at = rng.choice([0, 64, sections, sections, module.find(struct.pack("<Q", number(VERSION))) - 48])
    for _ in range(rng.choice([1, 3, 30])):
        data[min(at + rng.randrange(700 if at else 64), len(data) - 1)] = rng.choice([0, 1, 8, 0x7f, 0x80, 0xff, rng.randrange(256)])
    codes.add(weir("module", "check", put("damaged.so", data)).returncode)
ok(codes <= {0, 1} and 1 in codes, f"120 damaged modules: an answer each time: {codes}")

# any layout of relocations that a linker makes: a record as nginx's headers lay it out
write(f"{dir}/m.c", f'''static struct {{ unsigned long a, b; char *name; unsigned long c, d, version; const char *signature; unsigned long rest[20]; }}
    one = {{ -1UL, -1UL, 0, 0, 0, 1024000, "{features}", {{0}} }};
__attribute__((visibility("default"))) void *ngx_modules[] = {{ &one, 0 }};
''')
for flags in ([], ["-Wl,-z,pack-relative-relocs"]):
    if run("gcc", "-shared", "-fPIC", *flags, "-o", f"{dir}/m.so", f"{dir}/m.c").returncode == 0:
        d = check(1, f"{dir}/m.so")
        is_((d["module"]["nginx_version"], d["module"]["signature"]), ("1.24.0", features), f"a shared object by gcc {' '.join(flags)}")

# building: what is missing
os.makedirs(f"{dir}/src/src/core")
write(f"{dir}/src/src/core/nginx.h", "#define nginx_version      1024000\n")
for argv, part, cure in (
        (("--source", f"{dir}/src"), f"{dir}/src has the sources of nginx 1.24.0; those of nginx {VERSION} are needed",
         f"cure: for an nginx of Debian: apt-get install nginx-dev, and no --source; for another: get nginx-{VERSION}.tar.gz"),
        (("--source", dir), f"{dir} has no sources of nginx (no src/core/nginx.h)", f"weir module build --source nginx-{VERSION}")):
    r = weir("module", "build", *argv)
    is_(r.returncode, 3, f"build {' '.join(argv).replace(dir, '…')}: exit 3")
    like(r.stderr, f"weir: {part}\n", "why")
    like(r.stderr, cure, "what to get")
with open(f"{dir}/newer", "w") as f:
    f.write('#!/bin/sh\necho "nginx version: nginx/1.98.7" >&2\n')
os.chmod(f"{dir}/newer", 0o755)
r = weir("module", "build", "--nginx", f"{dir}/newer")
is_(r.returncode, 3, "an nginx whose sources are not here: exit 3")
like(r.stderr, "cure: for an nginx of Debian: apt-get install nginx-dev; for another: get nginx-1.98.7.tar.gz", "it names the archive")
r = run(f"{beside}/weir", "module", "build", env=san_env())
is_((r.returncode, "weir's own sources are not beside this command" in r.stderr, "make install" in r.stderr), (3, True, True), "a command alone cannot build")

# building: from what `make install` puts there, by a user who owns nothing of it
root = folder()
r = run("scripts/install", BUILD, root, "/usr", env={"NGINX_ENABLE": "1"})
is_(r.returncode, 0, "install")
link = f"{root}/etc/nginx/modules-enabled/50-mod-http-weir.conf"
is_(os.readlink(link), "/usr/share/nginx/modules-available/mod-http-weir.conf", "NGINX_ENABLE: the file that Debian's nginx reads")
like(open(f"{root}/usr/share/nginx/modules-available/mod-http-weir.conf").read(), "\nload_module /usr/lib/weir/ngx_http_weir_module.so;\n", "loads the module")
installed = f"{root}/usr/bin/weir"
if ASAN:
    note("not built with sanitizers")
    done()
home = folder()
os.chmod(root, 0o755)
as_user = []
if os.geteuid() == 0:
    os.chown(home, 33, 33)
    as_user = ["setpriv", "--reuid=33", "--regid=33", "--clear-groups"]
tmp = {"TMPDIR": home}
# built on one file system, and put on another
place = shm_folder()
if as_user:
    os.chown(place, 33, 33)
if os.stat(place).st_dev == os.stat(home).st_dev:
    note("temporary folders and /dev/shm are one file system here")
r = run(*as_user, installed, "module", "build", cwd=place, env=tmp, timeout=300)
is_((r.returncode, r.stderr), (0, ""), "build")
made = f"{place}/ngx_http_weir_module.so"
like(r.stdout, f"\n  load_module {made};\n", "it says what to write")
like(r.stdout, "A running nginx keeps the module that it has through reloads: restart it, or\nupgrade it by USR2", "and what to do then")
is_((os.listdir(place), os.listdir(home)), (["ngx_http_weir_module.so"], []), "nothing else is left")
check(0, made)
like(nginx_says(shutil.copy(made, dir)), "test is successful", "nginx takes it")
before = os.stat(made).st_ino
for out in f"{home}/none/x.so", f"{root}/x.so":
    r = run(*as_user, installed, "module", "build", "--json", "--out", out, cwd=home, env=tmp)
    is_((r.returncode, f"cannot write {out}: " in r.stderr, json.loads(r.stdout)["error"]["cure"]), (3, True, "name another place with --out"),
        f"{os.path.basename(os.path.dirname(out))}: no place for it: exit 3")
    if not as_user:
        break
os.makedirs(f"{home}/src/src/core")
write(f"{home}/src/src/core/nginx.h", f"#define nginx_version      {number(VERSION)}\n")
write(f"{home}/src/configure", "#!/bin/sh\necho './configure: error: C compiler cc is not found'\nexit 1\n")
os.chmod(f"{home}/src/configure", 0o755)
r = run(*as_user, installed, "module", "build", "--source", "src", cwd=home, env=tmp)
is_((r.returncode, r.stderr), (3, "./configure: error: C compiler cc is not found\nweir: the module could not be built\n      cure: what it takes: bash, make, "
    "a C compiler, and the headers of pcre2, zlib, openssl, libfyaml, jansson and utf8proc (Debian: apt-get install gcc make libpcre2-dev zlib1g-dev libssl-dev "
    "libfyaml-dev libjansson-dev libutf8proc-dev)\n"), "a build that fails: exit 3, with what was said and what it takes")
# what of nginx's own arguments it is configured with: what changes its structures, not its folders, compilers and other modules
with open(f"{home}/odd", "w") as f:
    f.write("""#!/bin/sh
echo 'nginx version: openresty/%s.1 (x)
configure arguments: --prefix=/opt/x --with-cc-opt='"'-O2 -g'"' --with-compat --with-http_v2_module --with-openssl=../ssl --with-pcre=../pcre --with-pcre-jit \\
--with-stream=dynamic --with-http_geoip_module --with-http_xslt_module=dynamic --add-module=../a --with-threads --without-http_gzip_module \\
--with-ld-opt="-Wl,-rpath,/a b" --with-debug --user=www' >&2
""".replace("\\\n", "") % VERSION)
os.chmod(f"{home}/odd", 0o755)
write(f"{home}/src/configure", "#!/bin/sh\nfor a; do case $a in --with-??-opt=*|--builddir=*|--add-dynamic-module=*) ;; *) echo \"$a\"; esac; done\nexit 1\n")
os.chmod(f"{home}/src/configure", 0o755)
r = run(*as_user, installed, "module", "build", "--nginx", "./odd", "--source", "src", cwd=home, env=tmp)
is_(r.stderr.splitlines()[:-2], "--with-compat --with-http_v2_module --with-pcre-jit --with-threads --without-http_gzip_module --with-debug".split(),
    "it is configured as that nginx was")
os.remove(f"{home}/odd")
is_(os.listdir(home), ["src"], "nothing is left of it")
is_(os.stat(made).st_ino, before, "and what was there is untouched")
done()
