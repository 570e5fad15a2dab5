//! What a filter's bits look like while it fills.

const std = @import("std");
const bloom = @import("leveldb_bloom.zig");

pub fn main() !void {
    const print = std.debug.print;
    const allocator = std.heap.c_allocator;
    print("leveldb-bloom {s}, {s}\n", .{ bloom.version(), bloom.active() });

    // Every part is as large as the filter of all sixteen, so each can be united with the last.
    const total = 16;
    const builder = try bloom.Builder.init(10);
    defer builder.deinit();
    const filter = try builder.finish(allocator, total);
    defer allocator.free(filter);

    var buffer: [30]u64 = undefined;
    var text: [16]u8 = undefined;
    for (0..total) |number| {
        const key = try std.fmt.bufPrint(&text, "key {d}", .{number});
        try builder.add(key);
        const part = try builder.finish(allocator, total);
        defer allocator.free(part);
        try bloom.unite(filter, part);
        if (number % 5 != 0) continue;
        for (filter[0 .. filter.len - 1]) |byte| {
            for (0..8) |bit| print("{s}", .{if (byte >> @intCast(bit) & 1 == 1) "#" else "."});
        }
        print("\n  {s}: {any}; {d:.0} keys by the look of it\n", .{
            key, bloom.positions(filter, key, &buffer), (try bloom.inspect(filter)).estimated_keys,
        });
    }
    print("key 3 may be there: {}, key 33: {}\n", .{
        bloom.mayMatch(filter, "key 3"), bloom.mayMatch(filter, "key 33"),
    });
}
