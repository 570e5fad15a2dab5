"""A wallet and chain node: Debian's Litecoin Core keeps the coins, the index of the blocks and that
of the transactions in three LevelDBs, each with a policy of its own."""

import base64
import json
import os
import urllib.error
import urllib.request

from host import PATIENCE, Server, answered, check, free_port, path, verify

DATA = path("data")
ABSENT = [f"{number:064x}" for number in range(1, 201)]
# Whatever proxy there is, it is not for this machine itself.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """The node's answer, where it is an error."""


class Node(Server):
    """A node on a chain of its own, which no other node knows of."""

    def __init__(self, statistics=None):
        self.port = free_port()
        # Behind /usr/bin/litecoind, a shell script that writes to the home directory.
        super().__init__(
            "/usr/lib/litecoin/litecoind", "-regtest", f"-datadir={DATA}", "-txindex", "-listen=0",
            "-listenonion=0", f"-rpcport={self.port}", "-rpcuser=us", "-rpcpassword=us",
            "-fallbackfee=0.001", is_ready=self.has_indexed, statistics=statistics)

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
            with DIRECT.open(request, timeout=PATIENCE) as response:
                return json.load(response)["result"]
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode()) from None

    def mine(self, blocks):
        if "us" not in [wallet["name"] for wallet in self.call("listwalletdir")["wallets"]]:
            self.call("createwallet", "us")
        elif "us" not in self.call("listwallets"):
            self.call("loadwallet", "us")
        self.call("generatetoaddress", blocks, self.call("getnewaddress"))

    def has(self, transaction):
        try:
            self.call("getrawtransaction", transaction)
            return True
        except Refused as refused:
            if "No such mempool or blockchain transaction" not in refused.args[1]:
                raise
            return False

    def look(self):
        """What the databases say: the coins, every transaction, and none that is absent."""
        height = self.call("getblockcount")
        # That of the first block is not in the index.
        for number in range(1, height + 1):
            block = self.call("getblock", self.call("getblockhash", number))
            for transaction in block["tx"]:
                check(f"transaction {transaction}", self.has(transaction))
        for transaction in ABSENT:
            check(f"transaction {transaction}", self.has(transaction), False)
        check("verifychain", self.call("verifychain", 4, 0))
        coins = self.call("gettxoutsetinfo")
        return height, coins["hash_serialized_2"], coins["total_amount"]


os.mkdir(DATA)
with Node(path("mined")) as node:
    node.mine(300)
with Node(path("restarted")) as node:
    seen = node.look()
answered(path("restarted"))

with Node() as node:
    check("with Debian's own filters", node.look(), seen)
    node.mine(50)
    seen = node.look()
check("the blocks", seen[0], 350)
with Node(path("again")) as node:
    check("with our filters again", node.look(), seen)
answered(path("again"))
for database in "chainstate", "blocks/index", "indexes/txindex":
    verify(os.path.join(DATA, "regtest", database))
