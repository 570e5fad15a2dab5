// goleveldb's filter behind the C functions that the benchmark calls. The loops are here, so that
// the way from C into Go is paid once a turn and not once a key.
package main

/*
#include <stddef.h>
typedef struct { const char *data; size_t size; } slice;
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func bytes(key C.slice) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(key.data)), int(key.size))
}

func build(generator filter.FilterGenerator, keys []C.slice, buffer *util.Buffer) {
	buffer.Reset()
	for _, key := range keys {
		generator.Add(bytes(key))
	}
	generator.Generate(buffer)
}

//export peer_create
func peer_create(bitsPerKey C.int, keys *C.slice, n, per C.size_t) C.size_t {
	all := unsafe.Slice(keys, int(n))
	generator := filter.NewBloomFilter(int(bitsPerKey)).NewGenerator()
	var buffer util.Buffer
	for i := 0; i+int(per) <= len(all); i += int(per) {
		build(generator, all[i:i+int(per)], &buffer)
	}
	return C.size_t(buffer.Len())
}

type made struct {
	filter filter.Filter
	bytes  []byte
}

//export peer_filter
func peer_filter(bitsPerKey C.int, keys *C.slice, n C.size_t) C.size_t {
	bloom := filter.NewBloomFilter(int(bitsPerKey))
	var buffer util.Buffer
	build(bloom.NewGenerator(), unsafe.Slice(keys, int(n)), &buffer)
	return C.size_t(cgo.NewHandle(made{bloom, buffer.Bytes()}))
}

//export peer_query
func peer_query(handle C.size_t, keys *C.slice, n C.size_t) C.size_t {
	asked := cgo.Handle(handle).Value().(made)
	var ones C.size_t
	for _, key := range unsafe.Slice(keys, int(n)) {
		if asked.filter.Contains(asked.bytes, bytes(key)) {
			ones++
		}
	}
	return ones
}

//export peer_destroy
func peer_destroy(handle C.size_t) { cgo.Handle(handle).Delete() }

func main() {}
