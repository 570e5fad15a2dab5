//! The wrapper of leveldb_bloom.zig: golden values, a million keys, errors, threads, leaks.

const std = @import("std");
const builtin = @import("builtin");
const bloom = @import("leveldb_bloom.zig");
const testing = std.testing;

const key_length = 16;
const num_keys = 1_000_000;
const half = num_keys / 2;
const batch = 100_000;

test "the declarations are the header's" {
    const header = @cImport(@cInclude("leveldb_bloom.h"));
    inline for (@typeInfo(bloom.c).@"struct".decls) |declaration| {
        const ours = @field(bloom.c, declaration.name);
        const theirs = @field(header, declaration.name);
        if (@TypeOf(ours) != type) {
            switch (@typeInfo(@TypeOf(ours))) {
                .@"fn" => |function| {
                    const of_header = @typeInfo(@TypeOf(theirs)).@"fn";
                    try testing.expectEqual(of_header.params.len, function.params.len);
                    try expectAlike(of_header.return_type.?, function.return_type.?);
                    inline for (of_header.params, function.params) |their, our| {
                        try expectAlike(their.type.?, our.type.?);
                    }
                },
                else => try testing.expectEqual(@as(c_int, theirs), ours),
            }
        } else if (@typeInfo(ours) == .@"struct") {
            try testing.expectEqual(@sizeOf(theirs), @sizeOf(ours));
            inline for (@typeInfo(theirs).@"struct".fields) |field| {
                try testing.expectEqual(@offsetOf(theirs, field.name), @offsetOf(ours, field.name));
                try expectAlike(field.type, @FieldType(ours, field.name));
            }
        }
    }
}

/// Types that C passes in the same way: pointers to what is alike, and numbers of one kind and size.
fn expectAlike(comptime theirs: type, comptime ours: type) !void {
    const kind = @typeInfo(theirs);
    const plain = if (@typeInfo(ours) == .optional) @typeInfo(ours).optional.child else ours;
    if (kind == .pointer) {
        const child = @typeInfo(plain).pointer.child;
        try testing.expect(kind.pointer.is_const == @typeInfo(plain).pointer.is_const);
        if (@typeInfo(child) == .int) try testing.expectEqual(@sizeOf(kind.pointer.child), @sizeOf(child));
    } else if (kind == .optional) {
        try expectAlike(kind.optional.child, plain);
    } else {
        try testing.expectEqual(std.meta.activeTag(kind), std.meta.activeTag(@typeInfo(plain)));
        try testing.expectEqual(@sizeOf(theirs), @sizeOf(plain));
        if (kind == .int) try testing.expectEqual(kind.int.signedness, @typeInfo(plain).int.signedness);
    }
}

/// The bytes in `text`, in `buffer`.
fn unhex(buffer: []u8, text: []const u8) ![]u8 {
    return if (std.mem.eql(u8, text, "-")) buffer[0..0] else std.fmt.hexToBytes(buffer, text);
}

fn checkGolden(line: []const u8, allocator: std.mem.Allocator) !void {
    var fields = std.mem.splitScalar(u8, line, ' ');
    const kind = fields.next().?;
    var first: [1000]u8 = undefined;
    var second: [1000]u8 = undefined;
    if (std.mem.eql(u8, kind, "filter")) {
        const bits = try std.fmt.parseInt(c_int, fields.next().?, 10);
        const expected = try unhex(&first, fields.next().?);
        const policy = try bloom.Policy.init(bits);
        defer policy.deinit();
        const builder = try bloom.Builder.init(bits);
        defer builder.deinit();
        var keys: [200][]const u8 = undefined;
        var number: usize = 0;
        var used: usize = 0;
        while (fields.next()) |field| : (number += 1) {
            const key = try unhex(second[used..], field);
            used += key.len;
            keys[number] = key;
            try builder.add(key);
        }
        try testing.expectEqual(number, builder.numKeys());
        for ([_][]u8{
            try policy.createFilter(allocator, keys[0..number]),
            try builder.finish(allocator, 0),
        }) |made| {
            defer allocator.free(made);
            try testing.expectEqualSlices(u8, expected, made);
        }
        try testing.expectEqual(0, builder.numKeys());
    } else if (std.mem.eql(u8, kind, "hash")) {
        const key = try unhex(&first, fields.next().?);
        try testing.expectEqual(try std.fmt.parseInt(u32, fields.next().?, 16), bloom.hash(key));
    } else {
        try testing.expectEqualStrings("answer", kind);
        const key = try unhex(&first, fields.next().?);
        const filter = try unhex(&second, fields.next().?);
        const expected = std.mem.eql(u8, fields.next().?, "1");
        try testing.expectEqual(expected, bloom.mayMatch(filter, key));
        var result: [1]u8 = undefined;
        const matches = try bloom.mayMatchOffsets(filter, key, &.{ 0, @intCast(key.len) }, &result);
        try testing.expectEqual(@intFromBool(expected), result[0]);
        try testing.expectEqual(@intFromBool(expected), matches);
    }
}

test "ribbon filters" {
    const policy = try bloom.Policy.initRibbon(10);
    defer policy.deinit();
    const builder = try bloom.Builder.initRibbon(10);
    defer builder.deinit();
    const keys = [_][]const u8{ "hello", "world" };
    const filter = try policy.createFilter(testing.allocator, &keys);
    defer testing.allocator.free(filter);
    for (keys) |key| {
        try builder.add(key);
        try testing.expect(bloom.mayMatch(filter, key));
    }
    const built = try builder.finish(testing.allocator, 0);
    defer testing.allocator.free(built);
    try testing.expectEqualSlices(u8, filter, built);
    try testing.expect(!bloom.mayMatch(filter, "absent"));
    const info = try bloom.inspect(filter);
    try testing.expectEqual(bloom.c.LEVELDB_BLOOM_ENCODING_RIBBON, info.encoding);
    try testing.expectEqual(1.0 / 1024.0, info.false_positive_rate);
    try testing.expectError(error.Mismatch, bloom.unite(filter, built));
}

test "the library" {
    try testing.expectEqualStrings("1.0.0", bloom.version());
    try testing.expectEqual(11, bloom.bitsPerKeyFor(0.01, num_keys));
    try testing.expectEqual(null, bloom.bitsPerKeyFor(1e-12, num_keys));
    const rate = bloom.falsePositiveRate(11, num_keys);
    try testing.expect(rate > 0.005 and rate < 0.01);
    const policy = try bloom.Policy.init(10);
    defer policy.deinit();
    const filter = try policy.createFilter(testing.allocator, &.{ "hello", "world" });
    defer testing.allocator.free(filter);
    const info = try bloom.inspect(filter);
    try testing.expectEqual(64, info.bits);
    try testing.expectEqual(10, info.bits_set);
    try testing.expectEqual(6, info.probes);
    try testing.expectEqual(10.0 / 64.0, info.fill);
    try testing.expectApproxEqAbs(1.815, info.estimated_keys, 0.005);
    try testing.expectApproxEqAbs(0.0045, info.false_positive_rate, 0.0005);
    var buffer: [30]u64 = undefined;
    const positions = bloom.positions(filter, "hello", &buffer);
    try testing.expectEqual(6, positions.len);
    for (positions) |p| try testing.expectEqual(1, filter[p / 8] >> @intCast(p % 8) & 1);
    const most = try bloom.Policy.init(44);
    defer most.deinit();
    const fullest = try most.createFilter(testing.allocator, &.{"key"});
    defer testing.allocator.free(fullest);
    var distinct = std.StaticBitSet(1000).initEmpty();
    for (bloom.positions(fullest, "key", &buffer)) |p| distinct.set(p);
    try testing.expectEqual(30, bloom.positions(fullest, "key", &buffer).len);
    try testing.expectEqual((try bloom.inspect(fullest)).bits_set, distinct.count());
}

test "errors" {
    const allocator = testing.allocator;
    const policy = try bloom.Policy.init(10);
    defer policy.deinit();
    const builder = try bloom.Builder.init(10);
    defer builder.deinit();
    const small = try policy.createFilter(allocator, &.{"a"});
    defer allocator.free(small);
    var many: [100][]const u8 = undefined;
    @memset(&many, "a");
    const large = try policy.createFilter(allocator, &many);
    defer allocator.free(large);
    try testing.expectError(error.Mismatch, bloom.unite(small, large));
    // With itself a filter remains what it is; of two that overlap one would be written while it is read.
    try bloom.unite(large, large);
    const again = try policy.createFilter(allocator, &many);
    defer allocator.free(again);
    try testing.expectEqualSlices(u8, again, large);
    for ([_]usize{ 1, 8, 62 }) |distance| {
        const length = large.len - distance;
        try testing.expectError(error.InvalidArgument, bloom.unite(large[0..length], large[distance..]));
        try testing.expectError(error.InvalidArgument, bloom.unite(large[distance..], large[0..length]));
    }
    // Side by side, with the same number of probes.
    large[8] = 6;
    large[17] = 6;
    try bloom.unite(large[0..9], large[9..18]);
    try bloom.unite(large[9..18], large[0..9]);
    try testing.expectEqualSlices(u8, large[0..9], large[9..18]);
    try testing.expectError(error.TooLarge, builder.finish(allocator, 1 << 63));
    var results: [2]u8 = undefined;
    for ([_][3]i64{ .{ 0, 7, 5 }, .{ -1, 7, 9 }, .{ 0, 5, 11 } }) |wrong| {
        try testing.expectError(error.InvalidArgument, policy.createFilterOffsets(allocator, "0123456789", &wrong));
        try testing.expectError(error.InvalidArgument, bloom.mayMatchOffsets(small, "0123456789", &wrong, &results));
    }
    for ([_]usize{ 2, 0 }) |length| {
        try testing.expectError(error.InvalidArgument, policy.createFilterFixed(allocator, "12345", length));
        try testing.expectError(error.InvalidArgument, bloom.mayMatchFixed(small, "12345", length, &results));
        try testing.expectError(error.InvalidArgument, builder.addFixed("12345", length));
    }
    try testing.expectError(error.InvalidArgument, policy.createFilterOffsets(allocator, "12345", &.{}));
    try testing.expectError(error.InvalidArgument, bloom.mayMatchOffsets(small, "12345", &.{}, &results));
    // Of two answers' room, for three keys and for one.
    try testing.expectError(error.InvalidArgument, bloom.mayMatchFixed(small, "abc", 1, &results));
    try testing.expectError(error.InvalidArgument, bloom.mayMatchFixed(small, "a", 1, &results));
    try testing.expectError(error.InvalidArgument, bloom.mayMatchOffsets(small, "abc", &.{ 0, 1, 2, 3 }, &results));
    try testing.expectError(error.InvalidArgument, bloom.mayMatchOffsets(small, "abc", &.{ 0, 1 }, &results));
    const problems = [_]bloom.Error{ error.InvalidArgument, error.TooLarge, error.NoMemory, error.Mismatch };
    for (problems, 1..) |problem, status| {
        const text = bloom.c.leveldb_bloom_status_message(@intCast(status));
        try testing.expectEqualStrings(std.mem.span(text), bloom.message(problem));
        try testing.expect(!std.mem.eql(u8, bloom.message(problem), bloom.message(error.Unknown)));
    }
}

test "a builder gives its memory back" {
    const keys = try testing.allocator.alloc(u8, 10 * num_keys);
    defer testing.allocator.free(keys);
    const before = std.posix.getrusage(std.posix.rusage.SELF).maxrss;
    for (0..10) |_| {
        const builder = try bloom.Builder.init(10);
        defer builder.deinit();
        // 40 MB, which malloc does not keep.
        try builder.addFixed(keys, 1);
    }
    const kibibytes = std.posix.getrusage(std.posix.rusage.SELF).maxrss - before;
    if (kibibytes > 100_000) {
        std.debug.print("{d} KiB more\n", .{kibibytes});
        return error.TestUnexpectedResult;
    }
}

const Part = struct {
    keys: []const u8,
    data: []const u8,
    filter: []const u8,
    answers: []const u8,
    made: []u8 = &.{},
    failure: ?anyerror = null,

    fn run(self: *Part) void {
        self.work() catch |problem| {
            self.failure = problem;
        };
    }

    fn work(self: *Part) !void {
        const allocator = std.heap.c_allocator;
        const answers = try allocator.alloc(u8, self.answers.len);
        defer allocator.free(answers);
        _ = try bloom.mayMatchFixed(self.filter, self.data, key_length, answers);
        try testing.expectEqualSlices(u8, self.answers, answers);
        const builder = try bloom.Builder.init(10);
        defer builder.deinit();
        try builder.addFixed(self.keys, key_length);
        self.made = try builder.finish(allocator, half);
    }
};

var found: usize = 0;

test "a million keys" {
    const allocator = std.heap.c_allocator;
    const data = try allocator.alloc(u8, num_keys * key_length);
    defer allocator.free(data);
    const offsets = try allocator.alloc(i64, num_keys + 1);
    defer allocator.free(offsets);
    offsets[0] = 0;
    for (0..num_keys) |i| {
        _ = try std.fmt.bufPrint(data[i * key_length ..][0..key_length], "key-{d:0>12}", .{i});
        offsets[i + 1] = @intCast((i + 1) * key_length);
    }
    const first = data[0 .. half * key_length];
    const policy = try bloom.Policy.init(10);
    defer policy.deinit();
    const filter = try policy.createFilterFixed(allocator, first, key_length);
    defer allocator.free(filter);
    const answers = try allocator.alloc(u8, num_keys);
    defer allocator.free(answers);
    const matches = try bloom.mayMatchFixed(filter, data, key_length, answers);
    var ones: usize = 0;
    for (answers, 0..) |answer, i| {
        const single = bloom.mayMatch(filter, data[i * key_length ..][0..key_length]);
        try testing.expectEqual(@intFromBool(single), answer);
        ones += answer;
    }
    try testing.expectEqual(ones, matches);
    const others = try allocator.alloc(u8, num_keys);
    defer allocator.free(others);
    _ = try bloom.mayMatchOffsets(filter, data, offsets, others);
    try testing.expectEqualSlices(u8, answers, others);

    var parts: [4]Part = undefined;
    var threads: [4]std.Thread = undefined;
    const size = first.len / 4;
    for (&parts, &threads, 0..) |*part, *thread, i| {
        part.* = .{ .keys = first[i * size ..][0..size], .data = data, .filter = filter, .answers = answers };
        thread.* = try std.Thread.spawn(.{}, Part.run, .{part});
    }
    for (threads) |thread| thread.join();
    for (&parts) |part| if (part.failure) |problem| return problem;
    for (parts[1..]) |part| try bloom.unite(parts[0].made, part.made);
    try testing.expectEqualSlices(u8, filter, parts[0].made);
    for (parts) |part| allocator.free(part.made);

    var timer = try std.time.Timer.start();
    var one: u64 = std.math.maxInt(u64);
    var query = one;
    var build = one;
    const some = data[(half - batch / 2) * key_length ..][0 .. batch * key_length];
    for (0..200) |_| {
        timer.reset();
        for (half - 500..half + 500) |i| {
            if (bloom.mayMatch(filter, data[i * key_length ..][0..key_length])) found += 1;
        }
        one = @min(one, timer.lap());
        _ = try bloom.mayMatchFixed(filter, some, key_length, others[0..batch]);
        query = @min(query, timer.lap());
        allocator.free(try policy.createFilterFixed(allocator, some, key_length));
        build = @min(build, timer.lap());
    }

    const golden = try std.fs.cwd().readFileAlloc(allocator, std.posix.getenv("LEVELDB_BLOOM_GOLDEN").?, 1 << 20);
    defer allocator.free(golden);
    var lines = std.mem.tokenizeScalar(u8, golden, '\n');
    var count: usize = 0;
    while (lines.next()) |line| : (count += 1) {
        checkGolden(line, testing.allocator) catch |problem| {
            std.debug.print("{s}\n", .{line});
            return problem;
        };
    }
    const other = try policy.createFilterFixed(allocator, some, key_length);
    defer allocator.free(other);
    const loaded = try allocator.dupe(u8, filter);
    defer allocator.free(loaded);
    var distinct: usize = 1;
    for ([_][]const u8{ other, loaded }) |made| distinct += @intFromBool(!std.mem.eql(u8, filter, made));
    const seconds = batch * 1e9;
    std.debug.print("\n{{\"language\":\"Zig\",\"through\":\"extern\",\"runtime\":\"{s}\",\"library\":\"{s}\"," ++
        "\"active\":\"{s}\",\"kernel\":\"{s}\",\"golden\":{d},\"matches\":{d},\"distinct\":{d},\"filter_hash\":\"{x:0>8}\"," ++
        "\"call_ns\":{d:.1},\"query_keys_per_s\":{d:.0},\"build_keys_per_s\":{d:.0}}}\n", .{
        builtin.zig_version_string,
        bloom.version(),
        bloom.active(),
        policy.kernel(),
        count,
        matches,
        distinct,
        bloom.hash(filter),
        @as(f64, @floatFromInt(one)) / 1000,
        seconds / @as(f64, @floatFromInt(query)),
        seconds / @as(f64, @floatFromInt(build)),
    });
}
