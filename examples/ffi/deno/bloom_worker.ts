// One worker of bloom_test.ts: a part of the filter, and all answers.

/// <reference lib="deno.worker" />
import * as bloom from "./leveldb_bloom.ts";

self.onmessage = ({ data: { data, filter, part, keyLength, total } }) => {
  using builder = new bloom.Builder(10);
  builder.addFixed(part, keyLength);
  self.postMessage({
    part: builder.finish(total).data,
    answers: new bloom.Filter(filter).mayMatchFixed(data, keyLength),
  });
};
