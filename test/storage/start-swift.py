"""OpenStack Swift with its S3 API, in one process: python3 start-swift.py FOLDER PORT. Needs Debian's package python3-swift.

Each server has one device and one replica in the folder, so objects survive a restart. The key is test:tester, its secret
testing. A line on standard output says when requests are accepted.
"""

import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import wsgi  # noqa: E402
from swift.common import utils  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402

PROXY = """
[DEFAULT]
swift_dir = {folder}
[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
"""

STORAGE = """
[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


def write(path: str, text: str) -> str:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def build_ring(folder: str, kind: str, port: int) -> None:
    builder = RingBuilder(part_power=1, replicas=1, min_part_hours=1)
    place = {"region": 1, "zone": 1, "weight": 1, "device": "device", "meta": ""}
    address = {"ip": "127.0.0.1", "port": port, "replication_ip": "127.0.0.1", "replication_port": port}
    builder.add_dev({**place, **address})
    builder.rebalance()
    builder.get_ring().save(os.path.join(folder, f"{kind}.ring.gz"))


def serve(config: str, socket: object) -> None:
    from swift.common.wsgi import loadapp

    with open(os.devnull, "w", encoding="utf-8") as log:
        wsgi.server(socket, loadapp(config), log=log, log_output=False)


def main() -> None:
    folder, port = sys.argv[1], int(sys.argv[2])
    os.makedirs(os.path.join(folder, "device"), exist_ok=True)
    utils.SWIFT_CONF_FILE = write(os.path.join(folder, "swift.conf"), "[swift-hash]\nswift_hash_path_suffix = tests\n")
    servers = []
    for kind in ("account", "container", "object"):
        socket = eventlet.listen(("127.0.0.1", 0))
        build_ring(folder, kind, socket.getsockname()[1])
        config = write(os.path.join(folder, f"{kind}.conf"), STORAGE.format(folder=folder, kind=kind))
        servers.append(eventlet.spawn(serve, config, socket))
    eventlet.sleep(0)
    socket = eventlet.listen(("127.0.0.1", port))
    config = write(os.path.join(folder, "proxy.conf"), PROXY.format(folder=folder))
    servers.append(eventlet.spawn(serve, config, socket))
    print("ready", flush=True)
    servers[-1].wait()


main()
