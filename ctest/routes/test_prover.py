"""The prover fails when it should, and says why."""

import re

import pytest

from prover import Run, other_tables, prove

COUNTED = '"route":"append-cxx11","encoding":"bloom","filters":1,"queries":1,"negatives":1'


@pytest.mark.parametrize("message, preload, options", [
    ("no policy counted with the route append-cxx11", False, {"routes": "append-cxx11"}),
    ("no policy counted with the route delegate", True, {"routes": "delegate"}),
    ("a policy counted with the route append-cxx11", True, {}),
    ("a policy counted with the encoding bloom", True, {"routes": "append-cxx11", "encoding": "ribbon"}),
    ("1 policies counted, expected: 2", True, {"routes": "append-cxx11", "policies": 2}),
    ("the program did not say: active: original", True, {"says": ["active: original"]}),
    ("has no filter called custom", True, {"routes": "append-cxx11", "filter_name": "custom"}),
])
def test_of_a_database(message, preload, options, stock, settings):
    with pytest.raises(AssertionError, match=re.escape(message)):
        prove([stock("c")], preload=settings.shared if preload else None, **options)


def test_another_control(stock, settings, tmp_path):
    with pytest.raises(AssertionError, match="the control has statistics too"):
        prove([stock("c")], "append-cxx11", preload=settings.shared,
              control=["env", f"LD_PRELOAD={settings.shared}", stock("c")])
    with pytest.raises(AssertionError, match="differs from the control's"):
        prove([stock("c")], control=[stock("c++")])
    # Ribbon filters that are LevelDB's: the control has them, too.
    with pytest.raises(AssertionError, match="is the control's"):
        folder = Run([stock("c")], tmp_path)
        other_tables(folder, folder)


@pytest.mark.parametrize("message, command", [
    ("the program left no tables", "true"),
    ("the program died of SIGSEGV", "kill -SEGV $$"),
    ("the program ended with status 3", "exit 3"),
    ("a policy did not count what is in its filters",
     f"""echo '{{"event":"destroyed","keys":1,"filter_bytes":8,{COUNTED}}}' >"$LEVELDB_BLOOM_STATS" """),
])
def test_of_a_command(message, command):
    with pytest.raises(AssertionError, match=message):
        prove(["sh", "-c", command], "append-cxx11" if "echo" in command else [])
