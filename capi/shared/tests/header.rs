//! include/leveldb_bloom.h is generated from the exported functions, and include/leveldb_bloom.cdef.h
//! from that. This test fails when they were not.
//!
//! `WRITE=1 cargo test -p leveldb-bloom-shared --test header` writes them.

use std::fmt::Write;
use std::path::Path;

const PREFACE: &str = "\
/**
 * \\file
 * LevelDB's built-in bloom filter, byte for byte, as a library of its own. Filters made here are read
 * by LevelDB and the other way round. Ways to use them:
 *
 *   - leveldb_filterpolicy_create_bloom, LevelDB's own name, on Linux: link or preload this library
 *     in front of libleveldb, and existing programs use it unchanged;
 *   - leveldb_bloom_vtable: callbacks for any LevelDB's leveldb_filterpolicy_create;
 *   - the *_create_ribbon functions: a second encoding, for keys to which LevelDB's filter is blind;
 *   - leveldb_bloom_create_filter and its siblings: filters without a database, from arrays of
 *     pointers, from flat memory (offsets or keys of one length), or key by key with a builder;
 *   - leveldb_bloom_inspect, leveldb_bloom_positions: what a filter's bytes say.
 *
 * Ownership: what a function named *_create returns belongs to the caller, and is given back with
 * its *_destroy (or leveldb_bloom_free for filters). A policy must live until the last database
 * that uses it is closed; a shared one always does. errno changes only through malloc, or where an
 * environment variable makes the library write; looking for LevelDB clears dlerror's message.
 *
 * Threads: everything here may be called from any thread. A policy is immutable; any number of
 * threads may use one while none destroys it. Making a policy or a builder reads the environment, and
 * so does the first query without a policy; no other thread may change it at the same time.
 *
 * Odd input gets an answer, never a crash: NULL policies, negative numbers of bits or keys, sizes
 * that overflow and filters of any bytes are described at each function. A pointer that is not NULL
 * must point to as many readable (or writable) elements as the call says, aligned as C aligns them.
 * What a call writes must not overlap what it reads, nor anything else that it writes.
 *
 * NULL with a length of 0 is an empty key, an empty filter, or no data at all. NULL with another
 * length, and a length that no object can have, is an invalid argument wherever there is a way to
 * say so: LEVELDB_BLOOM_INVALID_ARGUMENT, or NULL from leveldb_bloom_create_filter, and nothing is
 * written. The functions that only answer (leveldb_bloom_key_may_match and _keys_may_match,
 * leveldb_bloom_filters_may_match, leveldb_bloom_hash and _hash_may_match, leveldb_bloom_positions,
 * and key_may_match of the callbacks) treat it as empty. Each function says what else may be NULL.
 *
 * When not to use a filter policy: with a comparator that treats keys of different bytes as
 * equal, such as one that ignores case or trailing spaces. The filter knows the exact bytes, and a
 * database would no longer find such keys.
 *
 * With the environment variable LEVELDB_BLOOM_STATS set to \"stderr\" or a file's path when a policy
 * is created, the policy appends lines of JSON there: when it is created, when it is first used, and
 * when it is destroyed or the process exits. They say what it made and answered, and how its filters
 * reached the database. Otherwise the library only writes that it refuses a value of
 * LEVELDB_BLOOM_KERNEL or LEVELDB_BLOOM_ENCODING, that ribbon filters are not made where they were
 * asked for, or why it stops a program that it cannot serve.
 *
 * Generated from the Rust sources in capi/; change those.
 */";

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn the_header_is_the_generated_one() {
    let mut config = cbindgen::Config {
        header: Some(PREFACE.into()),
        include_guard: Some("LEVELDB_BLOOM_H".into()),
        language: cbindgen::Language::C,
        style: cbindgen::Style::Tag,
        cpp_compat: true,
        no_includes: true,
        sys_includes: vec!["stddef.h".into(), "stdint.h".into()],
        documentation_style: cbindgen::DocumentationStyle::Doxy,
        usize_is_size_t: true,
        line_length: 100,
        ..cbindgen::Config::default()
    };
    let number = |part: &str| part.parse::<u32>().expect("a number");
    config.after_includes = Some(format!(
        "\n/* The version of this header; leveldb_bloom_version says that of the library in use. */\n\
         #define LEVELDB_BLOOM_VERSION \"{}\"\n\
         #define LEVELDB_BLOOM_VERSION_NUMBER {}",
        env!("CARGO_PKG_VERSION"),
        number(env!("CARGO_PKG_VERSION_MAJOR")) * 10000
            + number(env!("CARGO_PKG_VERSION_MINOR")) * 100
            + number(env!("CARGO_PKG_VERSION_PATCH")),
    ));
    for (rust, c) in [
        ("Policy", "leveldb_bloom_policy"),
        ("Builder", "leveldb_bloom_builder"),
        ("Slice", "leveldb_bloom_slice"),
        ("Callbacks", "leveldb_bloom_vtable"),
        ("Info", "leveldb_bloom_info"),
        ("CxxPolicy", "leveldb_filterpolicy_t"),
    ] {
        config.export.rename.insert(rust.into(), c.into());
    }
    // C++ programs have <leveldb/filter_policy.h> and <leveldb_bloom_policy.h> for these.
    config.export.exclude.push("_ZN7leveldb20NewBloomFilterPolicyEi".into());
    config.export.exclude.push("_ZN13leveldb_bloom21NewRibbonFilterPolicyEi".into());
    let mut generated = Vec::new();
    // In the order of the header.
    let sources = [
        "src/status.rs",
        "src/door.rs",
        "src/host/abi.rs",
        "src/policy/mod.rs",
        "shared/names.rs",
        "src/api/policy.rs",
        "src/api/callbacks.rs",
        "src/api/create.rs",
        "src/api/query.rs",
        "src/api/builder.rs",
        "src/api/inspect.rs",
        "src/api/sizing.rs",
    ];
    let capi = Path::new(ROOT).join("capi");
    let builder = sources
        .iter()
        .fold(cbindgen::Builder::new(), |builder, source| builder.with_src(capi.join(source)));
    builder
        .with_config(config)
        .generate()
        .expect("the exports can be parsed")
        .write(&mut generated);
    // A comment of C++ behind an #endif is an error to a C90 compiler, even where it skips the
    // rest.
    let generated = String::from_utf8(generated)
        .expect("UTF-8")
        .replace(
            "#ifdef __cplusplus\nextern",
            "/* leveldb/c.h declares some of this, too. */\n\
             #pragma GCC diagnostic push\n\
             #pragma GCC diagnostic ignored \"-Wredundant-decls\"\n\
             \n\
             #ifdef __cplusplus\n\
             /* A function may have a struct's name; g++ says that this hides a constructor. */\n\
             #pragma GCC diagnostic ignored \"-Wshadow\"\n\
             extern",
        )
        .replace(
            "}  // extern \"C\"\n#endif  // __cplusplus\n",
            "}  // extern \"C\"\n#endif  // __cplusplus\n\n#pragma GCC diagnostic pop\n",
        )
        .replace("// __cplusplus", "/* __cplusplus */")
        .replace("// extern \"C\"", "/* extern \"C\" */");
    assert!(!generated.contains("//"), "{generated}");
    let generated = linux_alone(&generated);

    let cdef = cdef(&generated);
    committed_is_generated("include/leveldb_bloom.h", &generated);
    committed_is_generated("include/leveldb_bloom.cdef.h", &cdef);
}

/// What shared/names.rs has is in the libraries for Linux alone.
fn linux_alone(header: &str) -> String {
    let at = |text: &str| header.find(text).expect("the header has it");
    let first = at("leveldb_filterpolicy_create_bloom(int");
    let begin = header[..first].rfind("/**").expect("it has a comment");
    let last = "leveldb_bloom_active(void);\n";
    let end = at(last) + last.len();
    format!(
        "{}/* LevelDB's own names, and what depends on them: on Linux, with glibc or musl. */\n\
         #if defined(__linux__) && !defined(__ANDROID__)\n\n{}\n#endif\n{}",
        &header[..begin],
        &header[begin..end],
        &header[end..]
    )
}

fn committed_is_generated(name: &str, generated: &str) {
    let path = Path::new(ROOT).join(name);
    if std::env::var_os("WRITE").is_some_and(|write| write == "1") {
        std::fs::write(&path, generated).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "{name} differs from the exported functions; `WRITE=1 cargo test -p leveldb-bloom-shared --test header` writes it"
    );
}

const CDEF_PREFACE: &str = "\
/* The declarations of leveldb_bloom.h without a preprocessor, for LuaJIT's ffi.cdef, Python's cffi
 * and whatever else parses C by itself, and knows size_t and stdint.h's types. Beside the
 * declarations of LevelDB's own C API cffi takes them with override=True. Generated from
 * leveldb_bloom.h, which explains them. */
";

/// The header's declarations, and its numbers as an enum: what parsers of C without a preprocessor
/// take.
fn cdef(header: &str) -> String {
    let mut numbers = String::new();
    let mut declarations = String::new();
    let mut comment = false;
    let mut cplusplus = false;
    for line in header.lines() {
        let text = line.trim();
        comment |= text.starts_with("/*");
        if comment {
            comment = !text.ends_with("*/");
        } else if text.starts_with('#') {
            cplusplus = text == "#ifdef __cplusplus" || cplusplus && !text.starts_with("#endif");
            let mut words = text.split_whitespace();
            if let (Some("#define"), Some(name), Some(value)) =
                (words.next(), words.next(), words.next())
            {
                // A string cannot be declared without a preprocessor.
                if value.parse::<i32>().is_ok() {
                    writeln!(numbers, "  {name} = {value},").expect("memory");
                }
            }
        } else if !(cplusplus || text.is_empty() && declarations.ends_with("\n\n")) {
            declarations.push_str(line);
            declarations.push('\n');
        }
    }
    let numbers = numbers.trim_end_matches(",\n");
    let declarations = declarations.trim();
    let cdef = format!("{CDEF_PREFACE}\nenum {{\n{numbers}\n}};\n\n{declarations}\n");
    assert!(!cdef.contains('#') && !cdef.contains("extern"), "{cdef}");
    cdef
}
