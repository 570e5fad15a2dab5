"""Many threads, and what happens to objects while others run."""

import concurrent.futures
import gc
import os
import subprocess
import sys
import threading
import time

import pytest

from leveldb_bloom import Builder, Filter, Policy


def test_parts_made_by_threads(million):
    parts = [million[start:start + 250_000] for start in range(0, 1_000_000, 250_000)]

    def part(keys):
        builder = Builder()
        builder.update(keys)
        return builder.finish(1_000_000)

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(part, parts)
        for other in others:
            first |= other
        assert first == Policy().create_filter(million)
        for answers in threads.map(first.may_match_many, parts):
            assert answers == b"\1" * 250_000


def test_one_builder_of_many_threads(million):
    builder = Builder()
    parts = [million[start::8] for start in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(builder.update, parts))
    assert len(builder) == len(million)
    assert builder.finish() == Policy().create_filter(million)


def test_others_run_meanwhile(million):
    """A thread that only counts gets on while another is in one call."""
    numpy = pytest.importorskip("numpy")
    keys = numpy.frombuffer(b"".join(million) * 10, "V16")
    for work in (lambda: Policy().create_filter(keys), lambda: Policy().create_filter(million * 2)):
        done, counted = threading.Event(), 0
        thread = threading.Thread(target=lambda: (work(), done.set()))
        thread.start()
        # The call takes the interpreter for itself at first.
        time.sleep(0.001)
        while not done.is_set():
            counted += 1
        thread.join()
        assert counted > 1000


def test_a_list_that_is_emptied_meanwhile():
    """Keys are kept while they are read without the interpreter."""
    expected = Policy().create_filter([b"%d" % number for number in range(100_000)])
    for _ in range(5):
        keys = [b"%d" % number for number in range(100_000)]
        emptier = threading.Thread(target=lambda: (time.sleep(0.001), keys.clear(), gc.collect()))
        emptier.start()
        made = Policy().create_filter(keys)
        emptier.join()
        assert len(made) <= len(expected)
    assert Policy().create_filter([b"%d" % number for number in range(100_000)]) == expected


def test_a_filter_in_use_is_kept(million):
    made = Policy().create_filter(million)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(Filter(bytes(made)).may_match_many, million) for _ in range(8)]
        assert all(answer.result() == b"\1" * len(million) for answer in answers)


def test_the_end_of_the_process_in_the_middle_of_a_call():
    program = """
import threading, leveldb_bloom
begun, keys = threading.Event(), [b"%d" % number for number in range(200_000)]
def work():
    while True:
        begun.set()
        leveldb_bloom.Policy().create_filter(keys)
threading.Thread(target=work, daemon=True).start()
begun.wait()
"""
    for _ in range(5):
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_nothing_is_leaked(million):
    def work():
        made = Policy().create_filter(million)
        made.may_match_many(iter(million))
        made.may_match_many([bytearray(key) for key in million[:100_000]])
        assert made | made == Filter(bytes(made))
        for wrong in ("text", 1):
            with pytest.raises(TypeError):
                made.may_match_many([*million[:1000], wrong])
        with pytest.raises(ValueError):
            made | Filter(b"12")

    for _ in range(3):
        work()
    gc.collect()
    before = resident_bytes()
    for _ in range(15):
        work()
    gc.collect()
    assert resident_bytes() < before + 12_000_000
