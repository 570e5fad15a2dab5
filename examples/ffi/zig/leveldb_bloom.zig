//! leveldb-bloom for Zig: the functions declared as the C header has them, with slices around them.
//! Shows: defer for what the collector does elsewhere; statuses as errors; memory by the caller's allocator.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// By hand, because Zig has no @cImport any more from 0.17 on. bloom_test.zig compares them with the header.
pub const c = struct {
    pub const LEVELDB_BLOOM_OK = 0;
    pub const LEVELDB_BLOOM_INVALID_ARGUMENT = 1;
    pub const LEVELDB_BLOOM_TOO_LARGE = 2;
    pub const LEVELDB_BLOOM_NO_MEMORY = 3;
    pub const LEVELDB_BLOOM_MISMATCH = 4;
    pub const LEVELDB_BLOOM_ENCODING_BLOOM = 0;
    pub const LEVELDB_BLOOM_ENCODING_RIBBON = 1;

    pub const struct_leveldb_bloom_policy = opaque {};
    pub const struct_leveldb_bloom_builder = opaque {};
    pub const struct_leveldb_bloom_slice = extern struct { data: [*]const u8, size: usize };
    pub const struct_leveldb_bloom_info = extern struct {
        bits: u64,
        bits_set: u64,
        probes: u32,
        encoding: u32,
        fill: f64,
        estimated_keys: f64,
        false_positive_rate: f64,
    };

    pub extern fn leveldb_bloom_version() [*:0]const u8;
    pub extern fn leveldb_bloom_active() [*:0]const u8;
    pub extern fn leveldb_bloom_status_message(status: c_int) [*:0]const u8;
    pub extern fn leveldb_bloom_hash(key: [*]const u8, key_length: usize) u32;
    pub extern fn leveldb_bloom_false_positive_rate(bits_per_key: c_int, num_keys: usize) f64;
    pub extern fn leveldb_bloom_bits_per_key_for(rate: f64, num_keys: usize) c_int;
    pub extern fn leveldb_bloom_policy_create(bits_per_key: c_int) ?*struct_leveldb_bloom_policy;
    pub extern fn leveldb_bloom_policy_create_ribbon(bits_per_key: c_int) ?*struct_leveldb_bloom_policy;
    pub extern fn leveldb_bloom_policy_destroy(policy: ?*struct_leveldb_bloom_policy) void;
    pub extern fn leveldb_bloom_kernel(policy: *const struct_leveldb_bloom_policy) [*:0]const u8;
    pub extern fn leveldb_bloom_filter_size(policy: *const struct_leveldb_bloom_policy, num_keys: usize) usize;
    pub extern fn leveldb_bloom_fill_filter(policy: *const struct_leveldb_bloom_policy, keys: [*]const struct_leveldb_bloom_slice, num_keys: usize, filter: [*]u8, filter_length: usize) c_int;
    pub extern fn leveldb_bloom_fill_filter_offsets64(policy: *const struct_leveldb_bloom_policy, data: [*]const u8, data_length: usize, offsets: [*]const i64, num_keys: usize, filter: [*]u8, filter_length: usize) c_int;
    pub extern fn leveldb_bloom_fill_filter_fixed(policy: *const struct_leveldb_bloom_policy, data: [*]const u8, key_length: usize, num_keys: usize, filter: [*]u8, filter_length: usize) c_int;
    pub extern fn leveldb_bloom_builder_create(bits_per_key: c_int) ?*struct_leveldb_bloom_builder;
    pub extern fn leveldb_bloom_builder_create_ribbon(bits_per_key: c_int) ?*struct_leveldb_bloom_builder;
    pub extern fn leveldb_bloom_builder_destroy(builder: ?*struct_leveldb_bloom_builder) void;
    pub extern fn leveldb_bloom_builder_add(builder: *struct_leveldb_bloom_builder, key: [*]const u8, key_length: usize) c_int;
    pub extern fn leveldb_bloom_builder_add_fixed(builder: *struct_leveldb_bloom_builder, data: [*]const u8, key_length: usize, num_keys: usize) c_int;
    pub extern fn leveldb_bloom_builder_num_keys(builder: *const struct_leveldb_bloom_builder) usize;
    pub extern fn leveldb_bloom_builder_filter_size(builder: *const struct_leveldb_bloom_builder, total_keys: usize) usize;
    pub extern fn leveldb_bloom_builder_finish(builder: *struct_leveldb_bloom_builder, total_keys: usize, filter: [*]u8, filter_length: usize) c_int;
    pub extern fn leveldb_bloom_key_may_match(key: [*]const u8, key_length: usize, filter: [*]const u8, filter_length: usize) u8;
    pub extern fn leveldb_bloom_keys_may_match_offsets64(data: [*]const u8, data_length: usize, offsets: [*]const i64, num_keys: usize, filter: [*]const u8, filter_length: usize, results: ?[*]u8, bitmap: ?[*]u8, matches: ?*usize) c_int;
    pub extern fn leveldb_bloom_keys_may_match_fixed(data: [*]const u8, key_length: usize, num_keys: usize, filter: [*]const u8, filter_length: usize, results: ?[*]u8, bitmap: ?[*]u8, matches: ?*usize) c_int;
    pub extern fn leveldb_bloom_union(into: [*]u8, into_length: usize, from: [*]const u8, from_length: usize) c_int;
    pub extern fn leveldb_bloom_inspect(filter: [*]const u8, filter_length: usize, info: *struct_leveldb_bloom_info) c_int;
    pub extern fn leveldb_bloom_positions(key: [*]const u8, key_length: usize, filter: [*]const u8, filter_length: usize, positions: [*]u64, capacity: usize) usize;
};

pub const Error = error{ InvalidArgument, TooLarge, NoMemory, Mismatch, Unknown };
pub const Info = c.struct_leveldb_bloom_info;

fn check(code: c_int) Error!void {
    return switch (code) {
        c.LEVELDB_BLOOM_OK => {},
        c.LEVELDB_BLOOM_INVALID_ARGUMENT => error.InvalidArgument,
        c.LEVELDB_BLOOM_TOO_LARGE => error.TooLarge,
        c.LEVELDB_BLOOM_NO_MEMORY => error.NoMemory,
        c.LEVELDB_BLOOM_MISMATCH => error.Mismatch,
        else => error.Unknown,
    };
}

/// The library's text for an error of its own.
pub fn message(problem: Error) [:0]const u8 {
    return std.mem.span(c.leveldb_bloom_status_message(switch (problem) {
        error.InvalidArgument => c.LEVELDB_BLOOM_INVALID_ARGUMENT,
        error.TooLarge => c.LEVELDB_BLOOM_TOO_LARGE,
        error.NoMemory => c.LEVELDB_BLOOM_NO_MEMORY,
        error.Mismatch => c.LEVELDB_BLOOM_MISMATCH,
        error.Unknown => -1,
    }));
}

pub fn version() [:0]const u8 {
    return std.mem.span(c.leveldb_bloom_version());
}

pub fn active() [:0]const u8 {
    return std.mem.span(c.leveldb_bloom_active());
}

pub fn hash(key: []const u8) u32 {
    return c.leveldb_bloom_hash(key.ptr, key.len);
}

pub fn falsePositiveRate(bits_per_key: c_int, keys: usize) f64 {
    return c.leveldb_bloom_false_positive_rate(bits_per_key, keys);
}

/// Null where no number of bits per key up to 44 reaches that rate.
pub fn bitsPerKeyFor(rate: f64, keys: usize) ?c_int {
    const bits = c.leveldb_bloom_bits_per_key_for(rate, keys);
    return if (bits == 0) null else bits;
}

fn countFixed(data: []const u8, key_length: usize) Error!usize {
    if (key_length == 0 or data.len % key_length != 0) return error.InvalidArgument;
    return data.len / key_length;
}

/// One more than keys.
fn countOffsets(offsets: []const i64) Error!usize {
    return if (offsets.len == 0) error.InvalidArgument else offsets.len - 1;
}

/// Room for a filter. A size of 0 says that no usize can hold it.
fn newFilter(allocator: Allocator, size: usize) ![]u8 {
    return if (size == 0) error.TooLarge else allocator.alloc(u8, size);
}

/// Makes filters of so many bits per key; any number of threads may use one while none deinits it.
pub const Policy = struct {
    handle: *c.struct_leveldb_bloom_policy,

    pub fn init(bits_per_key: c_int) Error!Policy {
        return .{ .handle = c.leveldb_bloom_policy_create(bits_per_key) orelse return error.NoMemory };
    }

    /// init with ribbon filters.
    pub fn initRibbon(bits_per_key: c_int) Error!Policy {
        return .{ .handle = c.leveldb_bloom_policy_create_ribbon(bits_per_key) orelse return error.NoMemory };
    }

    pub fn deinit(self: Policy) void {
        c.leveldb_bloom_policy_destroy(self.handle);
    }

    pub fn kernel(self: Policy) [:0]const u8 {
        return std.mem.span(c.leveldb_bloom_kernel(self.handle));
    }

    /// The caller frees the filter.
    pub fn createFilter(self: Policy, allocator: Allocator, keys: []const []const u8) ![]u8 {
        const slices = try allocator.alloc(c.struct_leveldb_bloom_slice, keys.len);
        defer allocator.free(slices);
        for (slices, keys) |*slice, key| slice.* = .{ .data = key.ptr, .size = key.len };
        const filter = try newFilter(allocator, c.leveldb_bloom_filter_size(self.handle, keys.len));
        errdefer allocator.free(filter);
        try check(c.leveldb_bloom_fill_filter(self.handle, slices.ptr, slices.len, filter.ptr, filter.len));
        return filter;
    }

    /// Key i is data[offsets[i]..offsets[i + 1]].
    pub fn createFilterOffsets(self: Policy, allocator: Allocator, data: []const u8, offsets: []const i64) ![]u8 {
        const keys = try countOffsets(offsets);
        const filter = try newFilter(allocator, c.leveldb_bloom_filter_size(self.handle, keys));
        errdefer allocator.free(filter);
        try check(c.leveldb_bloom_fill_filter_offsets64(self.handle, data.ptr, data.len, offsets.ptr, keys, filter.ptr, filter.len));
        return filter;
    }

    /// Keys of one length, one behind the other.
    pub fn createFilterFixed(self: Policy, allocator: Allocator, data: []const u8, key_length: usize) ![]u8 {
        const keys = try countFixed(data, key_length);
        const filter = try newFilter(allocator, c.leveldb_bloom_filter_size(self.handle, keys));
        errdefer allocator.free(filter);
        try check(c.leveldb_bloom_fill_filter_fixed(self.handle, data.ptr, key_length, keys, filter.ptr, filter.len));
        return filter;
    }
};

/// Collects keys as they come; for one thread at a time.
pub const Builder = struct {
    handle: *c.struct_leveldb_bloom_builder,

    pub fn init(bits_per_key: c_int) Error!Builder {
        return .{ .handle = c.leveldb_bloom_builder_create(bits_per_key) orelse return error.NoMemory };
    }

    /// init for ribbon filters, which cannot be united.
    pub fn initRibbon(bits_per_key: c_int) Error!Builder {
        return .{ .handle = c.leveldb_bloom_builder_create_ribbon(bits_per_key) orelse return error.NoMemory };
    }

    pub fn deinit(self: Builder) void {
        c.leveldb_bloom_builder_destroy(self.handle);
    }

    pub fn add(self: Builder, key: []const u8) Error!void {
        try check(c.leveldb_bloom_builder_add(self.handle, key.ptr, key.len));
    }

    pub fn addFixed(self: Builder, data: []const u8, key_length: usize) Error!void {
        const keys = try countFixed(data, key_length);
        try check(c.leveldb_bloom_builder_add_fixed(self.handle, data.ptr, key_length, keys));
    }

    pub fn numKeys(self: Builder) usize {
        return c.leveldb_bloom_builder_num_keys(self.handle);
    }

    /// The filter of the keys added, as large as one for total_keys, or with 0 for those added; the
    /// builder is empty again. Parts of one filter, made with the same total, are united with unite.
    pub fn finish(self: Builder, allocator: Allocator, total_keys: usize) ![]u8 {
        const filter = try newFilter(allocator, c.leveldb_bloom_builder_filter_size(self.handle, total_keys));
        errdefer allocator.free(filter);
        try check(c.leveldb_bloom_builder_finish(self.handle, total_keys, filter.ptr, filter.len));
        return filter;
    }
};

// A filter is its bytes.

pub fn mayMatch(filter: []const u8, key: []const u8) bool {
    return c.leveldb_bloom_key_may_match(key.ptr, key.len, filter.ptr, filter.len) != 0;
}

/// Writes 0 or 1 for each key to results, and returns the number of ones.
pub fn mayMatchOffsets(filter: []const u8, data: []const u8, offsets: []const i64, results: []u8) Error!usize {
    if (try countOffsets(offsets) != results.len) return error.InvalidArgument;
    var matches: usize = 0;
    try check(c.leveldb_bloom_keys_may_match_offsets64(data.ptr, data.len, offsets.ptr, results.len, filter.ptr, filter.len, results.ptr, null, &matches));
    return matches;
}

pub fn mayMatchFixed(filter: []const u8, data: []const u8, key_length: usize, results: []u8) Error!usize {
    if (try countFixed(data, key_length) != results.len) return error.InvalidArgument;
    var matches: usize = 0;
    try check(c.leveldb_bloom_keys_may_match_fixed(data.ptr, key_length, results.len, filter.ptr, filter.len, results.ptr, null, &matches));
    return matches;
}

/// Adds the keys of one filter to another, which may be the same; they must not overlap otherwise.
pub fn unite(into: []u8, from: []const u8) Error!void {
    const to = @intFromPtr(into.ptr);
    const at = @intFromPtr(from.ptr);
    if (to != at and to < at + from.len and at < to + into.len) return error.InvalidArgument;
    try check(c.leveldb_bloom_union(into.ptr, into.len, from.ptr, from.len));
}

pub fn inspect(filter: []const u8) Error!Info {
    var info: Info = undefined;
    try check(c.leveldb_bloom_inspect(filter.ptr, filter.len, &info));
    return info;
}

/// The bits that a query for the key reads.
pub fn positions(filter: []const u8, key: []const u8, buffer: *[30]u64) []u64 {
    return buffer[0..c.leveldb_bloom_positions(key.ptr, key.len, filter.ptr, filter.len, buffer, buffer.len)];
}
