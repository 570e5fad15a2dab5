// Writes a database with goleveldb: writer FOLDER KEYS VALUE_BYTES [FILTER_BASE_LG BLOCK_BYTES [LEVEL_BYTES]]
//
// There is a filter for each 2 to the power of FILTER_BASE_LG bytes, and nothing is compressed; without
// these two, blocks and filters are as LevelDB has them. With LEVEL_BYTES no level has many more, so that
// there are as many levels as it takes.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	keys, err := strconv.Atoi(os.Args[2])
	check(err)
	length, err := strconv.Atoi(os.Args[3])
	check(err)
	options := &opt.Options{Filter: filter.NewBloomFilter(10)}
	if len(os.Args) > 4 {
		options.FilterBaseLg, err = strconv.Atoi(os.Args[4])
		check(err)
		options.BlockSize, err = strconv.Atoi(os.Args[5])
		check(err)
		options.Compression = opt.NoCompression
	}
	if len(os.Args) > 6 {
		options.CompactionTotalSize, err = strconv.Atoi(os.Args[6])
		check(err)
		options.CompactionTotalSizeMultiplier = 1
		options.CompactionTableSize = options.CompactionTotalSize
		options.WriteBuffer = options.CompactionTotalSize
	}
	db, err := leveldb.OpenFile(os.Args[1], options)
	check(err)
	value := make([]byte, length)
	for i := 0; i < keys; i++ {
		for j := range value {
			value[j] = byte('a' + (i*7+j*j)%26)
		}
		check(db.Put([]byte(fmt.Sprintf("key%08d", i)), value, nil))
	}
	check(db.CompactRange(util.Range{}))
	check(db.Close())

	// What a compaction replaced is deleted in the background, and may outlive Close; opening the
	// database deletes what is left.
	db, err = leveldb.OpenFile(os.Args[1], options)
	check(err)
	check(db.Close())
}
