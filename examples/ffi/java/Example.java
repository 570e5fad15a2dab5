// Which of many files may hold a key? One filter for each, as in LevelDB's tables.

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public final class Example {
    public static void main(String[] arguments) {
        System.out.printf("leveldb-bloom %s, %s%n", LevelDbBloom.version(), LevelDbBloom.active());
        int files = 50;
        int keysEach = 2000;
        List<LevelDbBloom.Filter> filters = new ArrayList<>();
        try (LevelDbBloom.Policy policy = new LevelDbBloom.Policy(10)) {
            for (int file = 0; file < files; file++) {
                List<byte[]> keys = new ArrayList<>();
                for (int i = 0; i < keysEach; i++) keys.add(key(file * keysEach + i));
                filters.add(policy.createFilter(keys));
            }
        }
        System.out.printf("%d files of %d keys, %d bytes of filter each%n", files, keysEach,
                filters.get(0).bytes().length);

        long opened = 0;
        int lookups = 10_000;
        for (int i = 0; i < lookups; i++) {
            byte[] wanted = key(i * 7);
            for (LevelDbBloom.Filter filter : filters) {
                if (filter.mayMatch(wanted)) opened++;
            }
        }
        System.out.printf("%d lookups: %.2f files opened each, instead of %d%n", lookups,
                (double) opened / lookups, files);
        System.out.printf("bits of the first key in the first filter: %s%n",
                Arrays.toString(filters.get(0).positions(key(0))));
    }

    private static byte[] key(int number) {
        return ("row" + number).getBytes(StandardCharsets.UTF_8);
    }
}
