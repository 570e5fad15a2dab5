"""Ceph: a monitor of Debian's that keeps the cluster's maps and settings in LevelDB, with filters, as
it can be told to."""

import errno
import os
import subprocess
import sys

from host import PATIENCE, Server, answered, check, environment, free_port, path, run, verify

CONFIGURATION = path("ceph.conf")
DATA = path("data")
KEYS = [f"key{number}" for number in range(30)]
CLIENT = "ceph", "--conf", CONFIGURATION, "--connect-timeout"


def ceph(*command):
    return run(*CLIENT, "60", *command)


def has(key):
    done = subprocess.run([*CLIENT, "60", "config-key", "exists", key], env=environment(),
                          capture_output=True, timeout=PATIENCE)
    if done.returncode not in (0, errno.ENOENT):
        sys.exit(f"{key}: {done.stderr.decode()}")
    return done.returncode == 0


def is_there():
    done = subprocess.run([*CLIENT, "5", "status"], env=environment(), capture_output=True,
                          timeout=PATIENCE)
    return b"mon: 1 daemons, quorum a" in done.stdout


def monitor(statistics=None):
    return Server("ceph-mon", "--conf", CONFIGURATION, "--id", "a", "-f", is_ready=is_there,
                  statistics=statistics)


def fill():
    for key in KEYS:
        ceph("config-key", "set", key, f"value of {key}")
    ceph("tell", "mon.a", "compact")


def look():
    for key in KEYS[::5]:
        check(key, ceph("config-key", "get", key), f"value of {key}")
        check(f"absent {key}", has(f"absent {key}"), False)
    ceph("tell", "mon.a", "compact")


with open(CONFIGURATION, "w") as file:
    file.write(f"""[global]
fsid = 6e6c3a0c-2f6e-4b6b-9d2b-1d7c3c1c4f10
mon_host = 127.0.0.1:{free_port()}
mon_data = {DATA}
# However full the disk is: a few megabytes are written.
mon_data_avail_crit = 0
run_dir = {path("run")}
log_file = {path("log")}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
mon_keyvaluedb = leveldb
leveldb_bloom_size = 10
leveldb_log =
""")
os.mkdir(path("run"))
run("ceph-mon", "--conf", CONFIGURATION, "--mkfs", "--id", "a", statistics=path("made"))
with monitor(path("filled")):
    fill()
answered(path("filled"))
with monitor():
    look()
with monitor(path("again")):
    look()
answered(path("again"))
verify(os.path.join(DATA, "store.db"))
