#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Every fuzz target runs over its corpus, and a little beyond (a long run is `make fuzz`).
import glob, shutil, sys; sys.path.insert(0, "tests/lib")
from weirtest import *

targets = sorted(t for t in glob.glob("build/fuzz/fuzz/*") if os.access(t, os.X_OK) and "." not in os.path.basename(t))
sources = sorted(os.path.basename(s)[:-2] for s in glob.glob("fuzz/*.c"))
is_([os.path.basename(t) for t in targets], sources, "every target was built")
for target in targets:
    name = os.path.basename(target)
    corpus = folder()
    seeds = f"fuzz/corpus/{name}"
    ok(os.path.isdir(seeds) and os.listdir(seeds), f"{name} has a corpus")
    shutil.copytree(seeds, corpus, dirs_exist_ok=True)
    r = run(target, "-max_total_time=3", "-timeout=20", "-rss_limit_mb=2048", f"-artifact_prefix={corpus}/", corpus, timeout=120)
    if not ok(r.returncode == 0, f"{name} survives its corpus"):
        for line in r.stderr.splitlines()[-25:]:
            note(line)
done()
