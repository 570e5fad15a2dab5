"""Other people's programs work with our filters, are started again and asked for what is there and
what is not, then without us, and with us again."""

import base64
import errno
import filecmp
import json
import os
import re
import struct
import subprocess
import urllib.error
import urllib.request

# Whatever proxy there is, it is not for this machine itself.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """The node's answer, where it is an error."""


class Litecoin:
    """Litecoin Core, a wallet and node on a chain of its own: three databases."""

    def __init__(self, host, port):
        self.host, self.port = host, port
        (host.folder / "data").mkdir()

    def start(self, statistics=None, by=()):
        # Not /usr/bin/litecoind, a shell script that writes to the home directory.
        return self.host.server(
            *by, "/usr/lib/litecoin/litecoind", "-regtest", f"-datadir={self.host.folder / 'data'}",
            "-txindex", "-listen=0", "-listenonion=0", f"-rpcport={self.port}", "-rpcuser=us",
            "-rpcpassword=us", "-fallbackfee=0.001", is_ready=self.has_indexed,
            statistics=statistics)

    def has_indexed(self):
        try:
            return self.call("getindexinfo")["txindex"]["synced"]
        except (OSError, KeyError, Refused):
            return False

    def call(self, method, *parameters):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/",
            json.dumps({"method": method, "params": parameters}).encode(),
            {"Authorization": "Basic " + base64.b64encode(b"us:us").decode()})
        try:
            with DIRECT.open(request, timeout=120) as response:
                return json.load(response)["result"]
        except urllib.error.HTTPError as error:
            raise Refused(error.read().decode()) from None

    def mine(self, blocks):
        if not self.call("listwalletdir")["wallets"]:
            self.call("createwallet", "us")
        elif "us" not in self.call("listwallets"):
            self.call("loadwallet", "us")
        self.call("generatetoaddress", blocks, self.call("getnewaddress"))

    def has(self, transaction):
        try:
            self.call("getrawtransaction", transaction)
            return True
        except Refused as refused:
            assert "No such mempool or blockchain transaction" in str(refused)
            return False

    def look(self):
        """Every transaction, some that are absent, and the coins."""
        height = self.call("getblockcount")
        # That of the first block is not in the index.
        for number in range(1, height + 1):
            block = self.call("getblock", self.call("getblockhash", number))
            assert all(self.has(transaction) for transaction in block["tx"])
        assert not any(self.has(f"{number:064x}") for number in range(1, 201))
        assert self.call("verifychain", 4, 0)
        coins = self.call("gettxoutsetinfo")
        return height, coins["hash_serialized_2"], coins["total_amount"]


def test_litecoin(host, free_port):
    node = Litecoin(host, free_port)
    with node.start("mined"):
        node.mine(300)
    with node.start("restarted"):
        seen = node.look()
    with node.start():
        assert node.look() == seen
        node.mine(50)
        seen = node.look()
    assert seen[0] == 350
    with node.start("again"):
        assert node.look() == seen
    host.check_statistics("restarted")
    host.check_statistics("again")
    for database in "chainstate", "blocks/index", "indexes/txindex":
        host.check_database(host.folder / "data/regtest" / database)


def test_litecoin_run_by_the_command(host, free_port):
    """Whoever stops `leveldb-bloom run` stops the program, which ends in order, and then hears who answered."""
    node = Litecoin(host, free_port)
    run = os.environ["INSPECTOR"], "run", "--library", os.environ["LIBRARY"], "--"
    with node.start(by=run):
        node.mine(300)
    with node.start(by=run) as server:
        assert node.look()[0] == 300
    *_, last = server.output.read_text().splitlines()
    assert re.match(r"leveldb-bloom: our library answered: \d+ policies \(bloom, 10 bits per key\) made "
                    r"[1-9][\d,]* filters of [1-9][\d,]* keys, and answered [1-9][\d,]* queries, "
                    r"[1-9][\d,]* of them with no\. Route: append-cxx11; kernel: \w+; in 1 process\.$", last)


def test_ceph(host, free_port):
    """A monitor that keeps its cluster's maps in LevelDB, with filters, as it can be told to."""
    configuration = host.folder / "ceph.conf"
    configuration.write_text(f"""[global]
fsid = 6e6c3a0c-2f6e-4b6b-9d2b-1d7c3c1c4f10
mon_host = 127.0.0.1:{free_port}
mon_data = {host.folder / "data"}
# However full the disk is.
mon_data_avail_crit = 0
run_dir = {host.folder / "run"}
log_file = {host.folder / "log"}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
mon_keyvaluedb = leveldb
leveldb_bloom_size = 10
leveldb_log =
""")
    (host.folder / "run").mkdir()
    client = "ceph", "--conf", str(configuration), "--connect-timeout"
    keys = [f"key{number}" for number in range(30)]

    def is_ready():
        done = subprocess.run([*client, "5", "status"], env=host.environment(), capture_output=True)
        return b"mon: 1 daemons, quorum a" in done.stdout

    def monitor(statistics=None):
        return host.server("ceph-mon", "--conf", str(configuration), "--id", "a", "-f",
                           is_ready=is_ready, statistics=statistics)

    def has(key):
        done = subprocess.run([*client, "60", "config-key", "exists", key], env=host.environment(),
                              capture_output=True)
        assert done.returncode in (0, errno.ENOENT), done.stderr
        return done.returncode == 0

    def look():
        for key in keys[::5]:
            assert host.run(*client, "60", "config-key", "get", key) == f"value of {key}"
            assert not has(f"absent {key}")
        host.run(*client, "60", "tell", "mon.a", "compact")

    host.run("ceph-mon", "--conf", str(configuration), "--mkfs", "--id", "a", statistics="made")
    with monitor("filled"):
        for key in keys:
            host.run(*client, "60", "config-key", "set", key, f"value of {key}")
        host.run(*client, "60", "tell", "mon.a", "compact")
    with monitor():
        look()
    with monitor("again"):
        look()
    host.check_statistics("filled")
    host.check_statistics("again")
    host.check_database(host.folder / "data/store.db")


def test_bitcoinkernel(host):
    """Bitcoin Core's engine with its own LevelDB and C++ library, loaded by ctypes."""
    data = host.folder / "data"
    data.mkdir()

    def blocks(until, statistics=None):
        """Reads all blocks there are, and adds more. Returns what the chain ends with."""
        return host.python("bitcoinkernel_worker.py", data, until, statistics=statistics)

    blocks(300, "mined")
    seen = blocks(350, "restarted")
    assert blocks(350) == seen
    blocks(400)
    seen = blocks(450, "again")
    assert blocks(450) == seen
    host.check_statistics("restarted")
    host.check_statistics("again")
    for database in "chainstate", "blocks/index":
        host.check_database(data / database)


def test_bedrock(host):
    """A game's worlds: Minecraft's LevelDB with its own compressions writes the same files with our
    filters and with its own."""
    ours, others = host.folder / "ours", host.folder / "others"
    host.python("bedrock_worker.py", "fill", ours, statistics="filled")
    host.python("bedrock_worker.py", "fill", others)
    tables = sorted(path.name for path in ours.glob("*.ldb"))
    assert tables == sorted(path.name for path in others.glob("*.ldb"))
    assert filecmp.cmpfiles(ours, others, tables, shallow=False)[0] == tables
    host.check_statistics("filled")
    host.python("bedrock_worker.py", "look", ours)
    host.python("bedrock_worker.py", "look", others, statistics="looked")
    host.check_statistics("looked", makes_filters=False)
    for database in ours, others:
        host.check_database(database)
    inspector = os.environ["INSPECTOR"]
    found = json.loads(host.run(inspector, "inspect", "--json", str(ours)))
    # zlib without a header, which no other LevelDB has.
    assert set(found["total"]["compressions"]) == {"deflate"}, found["total"]
    assert found["total"]["entries"] == found["total"]["bloom"]["keys_checked"] == 30_000
    lines = host.run(inspector, "dump", "--format", "ndjson", "--encoding", "hex", str(ours)).splitlines()
    entries = {entry["key"]: entry["value"] for entry in map(json.loads, lines)}
    assert len(entries) == 30_000
    assert bytes.fromhex(entries[struct.pack("<ii", -7, 42).hex() + "76"]) == b"-7,42" * 10
