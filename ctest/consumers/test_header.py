"""leveldb_bloom.h and leveldb_bloom_policy.h under every standard that they promise, and the examples."""

import re

import pytest

from build import run

STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-Wundef", "-Wredundant-decls",
          "-fsyntax-only"]
BODIES = ["#include <leveldb_bloom.h>\n", "#include <leveldb_bloom.h>\n#include <leveldb/c.h>\n",
          "#include <leveldb/c.h>\n#include <leveldb_bloom.h>\n"]
# A declaration that differs from LevelDB's is an error.
USE = """leveldb_filterpolicy_t *(*create)(int) = leveldb_filterpolicy_create_bloom;
void (*destroy)(leveldb_filterpolicy_t *) = leveldb_filterpolicy_destroy;
"""


@pytest.mark.parametrize("compiler, extension, standard", [
    (compiler, extension, standard)
    for compilers, extension, standards in [
        (["gcc", "clang"], "c", ["c99", "c11", "c17", "c2x"]),
        (["g++", "clang++"], "cc", ["c++11", "c++14", "c++17", "c++20", "c++2b"])]
    for compiler in compilers for standard in standards])
def test_standard(compiler, extension, standard, settings, tmp_path):
    of_cpp = ["#include <leveldb_bloom_policy.h>\n"] if extension == "cc" else []
    for body in BODIES + of_cpp:
        file = tmp_path / f"header.{extension}"
        file.write_text(body + (USE if "leveldb/c.h" in body else ""))
        run(compiler, f"-std={standard}", *STRICT, f"-I{settings.include}", file)


def test_declarations_without_a_preprocessor(settings, tmp_path):
    text = (settings.include / "leveldb_bloom.cdef.h").read_text()
    assert "#" not in text and "leveldb_bloom_create_filter" in text
    file = tmp_path / "cdef.c"
    file.write_text(f"#include <stddef.h>\n#include <stdint.h>\n{text}\nint ok = LEVELDB_BLOOM_OK;\n")
    run("gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-fsyntax-only", file)


def test_examples(settings, tmp_path):
    """Paragraphs of a comment that are indented by four."""
    comments = (settings.include / "leveldb_bloom.h").read_text()
    examples = re.findall(r"^ \*\n((?: \*     .*\n| \*\n(?= \*     ))+)", comments, re.MULTILINE)
    examples = [re.sub(r"^ \*(    )? ?", "", example, flags=re.MULTILINE) for example in examples]
    assert len(examples) >= 2
    functions, bodies = "", ""
    for example in examples:
        function = re.match(r"static .*?^}\n", example, re.DOTALL | re.MULTILINE)
        if function:
            functions += function[0]
            example = example[function.end():]
        bodies += example
    file = tmp_path / "examples.c"
    file.write_text(f"""#include <leveldb/c.h>
#include <leveldb_bloom.h>
{functions}
int main(void) {{
  struct leveldb_bloom_policy *state;
  const char *const stored = "Key";
  const size_t length = 3;
  size_t filter_length;
  char *filter;
  int found;
{bodies}
  filter = bloom->create_filter(state, &stored, &length, 1, &filter_length);
  found = bloom->key_may_match(state, "kEY", 3, filter, filter_length) == 1 &&
          bloom->key_may_match(state, "other", 5, filter, filter_length) == 0;
  leveldb_bloom_free(filter);
  leveldb_bloom_policy_destroy(state);
  leveldb_filterpolicy_destroy(policy);
  return found ? 0 : 1;
}}
""")
    run("gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", f"-I{settings.include}",
        file, settings.shared, f"-Wl,-rpath,{settings.shared.parent}", "-lleveldb", "-o", tmp_path / "examples")
    run(tmp_path / "examples")
