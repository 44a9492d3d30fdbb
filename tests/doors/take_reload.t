#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Reloads and killed workers under load, with limits that must not refuse and some that must: in short. scripts/soak does it for long.
import sys; sys.path[:0] = ["tests/lib", "tests/doors"]
from soaklib import *

note(soak(STOCK, 5, 0))  # what is expected is what nginx does too, where no worker is killed
note(soak(OURS, 20, 5))
done()
