'use strict';

exports.million = Array.from({ length: 1_000_000 }, (_, i) => Buffer.from(`key-${String(i).padStart(12, '0')}`));
