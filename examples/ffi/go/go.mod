module example.org/leveldb_bloom

go 1.19
