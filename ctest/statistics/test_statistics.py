"""LEVELDB_BLOOM_STATS: what is written, where, and when not."""

import collections
import json
import os
import shutil
import signal
import socket
import subprocess

import pytest

from build import CTEST

POLICIES = range(1, 13)
FIELDS = ["event", "version", "pid", "kernel", "route", "bits_per_key", "encoding", "filters", "keys",
          "filter_bytes", "queries", "negatives"]


@pytest.fixture(params=["shared", "static"])
def program(request, compiler, settings):
    libraries = {"shared": [settings.shared, f"-Wl,-rpath,{settings.shared.parent}"],
                 "static": [settings.archive]}
    return compiler(f"statistics-{request.param}", "c", CTEST / "statistics/statistics.c",
                    *libraries[request.param])


def start(program, how, destination, **options):
    environment = {name: value for name, value in os.environ.items() if name != "LEVELDB_BLOOM_STATS"}
    if destination is not None:
        environment["LEVELDB_BLOOM_STATS"] = str(destination)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([program, how], stdout=subprocess.PIPE, text=True, env=environment,
                            **options)


def run(program, how, destination, status=0):
    """The process's number, and what it wrote to stderr."""
    process = start(program, how, destination)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status, errors
    return process.pid, errors


def check(text, pid, last, version):
    """What was written: the lines of each policy, in their order."""
    lines = [json.loads(line, object_pairs_hook=collections.OrderedDict) for line in text.splitlines()]
    assert text.endswith("\n")
    events = collections.defaultdict(list)
    for line in lines:
        assert list(line) == FIELDS
        assert (line["version"], line["pid"], line["encoding"]) == (version, pid, "bloom")
        assert line["kernel"] in ("portable", "avx2", "avx512", "neon")
        number, event = line["bits_per_key"], line["event"]
        events[number].append(event)
        counts = [line[name] for name in FIELDS[-5:]]
        filter_bytes = (max(64, number * number) + 7) // 8 + 1
        if event == "created" or number == 0:
            assert (line["route"], counts) == ("none", [0] * 5)
        elif event == "used":
            assert (line["route"], counts) == ("callbacks", [1, number, filter_bytes, 0, 0])
        else:
            assert (line["route"], counts) == ("callbacks", [2, 2 * number, 2 * filter_bytes, 2, 1])
    assert events == {0: ["created", *last], **{i: ["created", "used", *last] for i in POLICIES}}


@pytest.mark.parametrize("how, last, status", [("destroy", ["destroyed"], 0), ("leave", ["exit"], 0),
                                               ("kill", [], -signal.SIGKILL)])
@pytest.mark.parametrize("to", ["file", "stderr"])
def test_lines(how, last, status, to, program, tmp_path, settings):
    file = tmp_path / "statistics"
    if to == "file":
        pid, errors = run(program, how, file, status)
        assert errors == "" and file.stat().st_mode & 0o777 == 0o644
        check(file.read_text(), pid, last, settings.version)
        # Another run appends.
        before = file.read_text()
        pid, _ = run(program, how, file, status)
        assert file.read_text().startswith(before)
        check(file.read_text()[len(before):], pid, last, settings.version)
    else:
        pid, errors = run(program, how, "stderr", status)
        check(errors, pid, last, settings.version)


@pytest.mark.parametrize("destination", [None, "", "/no/such/folder/statistics", "/"])
def test_nothing_is_written(destination, program):
    for how in ("destroy", "leave"):
        assert run(program, how, destination)[1] == ""


def test_each_line_is_one_write(program, settings):
    """A socket keeps writes apart."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = start(program, "destroy", "stderr", stderr=theirs)
    theirs.close()
    text = ""
    while written := ours.recv(4096).decode():
        assert written.endswith("\n") and written.count("\n") == 1
        text += written
    ours.close()
    process.communicate()
    check(text, process.pid, ["destroyed"], settings.version)


def test_lines_of_many_processes_do_not_mix(program, tmp_path, settings):
    file = tmp_path / "statistics"
    processes = [start(program, "destroy", file) for _ in range(8)]
    for process in processes:
        process.communicate()
    lines = file.read_text().splitlines(keepends=True)
    for process in processes:
        own = [line for line in lines if f'"pid":{process.pid},' in line]
        check("".join(own), process.pid, ["destroyed"], settings.version)


def test_ignored_under_secure_execution(program, tmp_path):
    """A program with rights that its caller has not must not write where the caller's environment says."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program for another group")
    copy, file = tmp_path / "program", tmp_path / "statistics"
    shutil.copy(program, copy)
    os.chown(copy, -1, 65534)
    copy.chmod(0o2755)
    process = subprocess.run([copy, "destroy"], capture_output=True, text=True,
                             env={"LEVELDB_BLOOM_STATS": str(file), "LEVELDB_BLOOM_KERNEL": "no-such"})
    assert process.returncode == 0 and process.stderr == ""
    assert not file.exists()


def test_an_unknown_kernel_is_refused_once(program):
    process = subprocess.run([program, "destroy"], capture_output=True, text=True,
                             env={"LEVELDB_BLOOM_KERNEL": "neon128"})
    assert process.returncode == 0
    assert process.stderr.startswith(
        "leveldb_bloom: there is no kernel LEVELDB_BLOOM_KERNEL=neon128 on this machine; using ")
    assert process.stderr.count("\n") == 1
