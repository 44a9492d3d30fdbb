# SPDX-License-Identifier: BSD-2-Clause
"""takelib: an nginx whose configuration is an nginx user's own: limit_req and limit_conn, no policy.

Native(http=…, server=…) writes the configuration and starts nginx: with weir's module, or as it comes from Debian (stock=True). Nothing
else differs between the two, but that the zones' table stands in a temporary folder.
"""
import re
from gatelib import *


class Native(Site):
    def __init__(self, http, server="", locations=None, stock=False, main="", workers=1, backend=None, table=True, log_level="info",
                 listen="", start_now=True, log="$status $limit_req_status $limit_conn_status $request"):
        self.stock = stock
        locations = self.places("zones", locations, backend)
        place = f"weir_limit_table {self.table};" if table and not stock else ""
        self.frame("" if stock else f"load_module {MODULE};", main, f"""log_format t '{log}';
    access_log {self.access_log} t;
    {place}
    {http}""", server, locations, listen, workers, log_level)
        if start_now:
            self.start()

    def deciding(self):
        return self.stock or "limit_" not in self.conf_text or os.path.exists(self.table + ".policy")

    def lines(self, pattern):
        """Lines of the error log that the pattern is found in."""
        return [l for l in self.errors().splitlines() if re.search(pattern, l)]

    def excesses(self, what="limiting requests"):
        return [float(m) for m in re.findall(what + r"(?:, dry run)?, excess: (\d+\.\d{3})", self.errors())]
