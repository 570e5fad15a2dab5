//! The C and C++ programs as a test of the crate, which is what cargo-mutants can run;
//! scripts/mutants.sh puts it beside the others in its copy.

use std::env;
use std::process::{Command, Stdio};

/// Only what uses the shared library: the archive's programs would have to be linked anew.
/// What is fast and finds the most comes first.
const TESTS: [&str; 6] = [
    "^harness\\.(c_test|c_api_test|statistics_test|exception_delegate_test|corpus_test)_alone$|\
     ^harness\\.(bloom_test|exception_test|allocation_test)_(alone|host)$|^harness\\.unload_test$|\
     ^harness\\.(c_database_test|policies_test)_host$|\
     ^harness\\.c_api_test_alone_(destroy|query|use|unknown)|^harness\\.c_test_alone_kernel|\
     ^harness\\.statistics_test_alone_secure",
    "^harness\\.(imports|plugins)_",
    "^routes\\.(preload|loaded|ctypes|plugin|constructors|addresses)\\.|\
     ^routes\\.(below_its_address|made_at_run_time|headers_at_end)$",
    "^routes\\.link\\.shared.*bfd",
    "^harness\\.(bad_input_test_(alone|host)|golden_test_host)$|^harness\\.c_api_test_alone\\.portable$",
    "^harness\\.(c_.*_alone|policies_test_host|c_database_test_host)_valgrind$|\
     ^harness\\.faults_test_host$",
];

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{command:?}");
}

#[test]
fn c_programs() {
    let build = env::var("MUTANTS_BUILD").expect("the script says where");
    run(Command::new("cmake").args(["--build", &build, "--target", "leveldb_bloom_libraries"]));
    for tests in TESTS {
        let ctest = ["--test-dir", &build, "--no-tests=error", "--stop-on-failure", "-j2", "-R"];
        run(Command::new("ctest").args(ctest).arg(tests));
    }
}
