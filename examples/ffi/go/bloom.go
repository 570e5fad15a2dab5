// Package bloom is leveldb-bloom through cgo: LevelDB's bloom filter, from and to []byte.
// Shows: Close and finalisers; slices handed over without a copy; statuses as errors.
package bloom

/*
#cgo LDFLAGS: -lleveldb_bloom
#include <leveldb_bloom.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"syscall"
	"unsafe"
)

// Status is what the library says of a call that did not succeed; its text is the library's.
type Status int

const (
	InvalidArgument Status = C.LEVELDB_BLOOM_INVALID_ARGUMENT
	TooLarge        Status = C.LEVELDB_BLOOM_TOO_LARGE
	NoMemory        Status = C.LEVELDB_BLOOM_NO_MEMORY
	Mismatch        Status = C.LEVELDB_BLOOM_MISMATCH
)

func (status Status) Error() string {
	return C.GoString(C.leveldb_bloom_status_message(C.int(status)))
}

// ErrClosed is what a policy or builder says after Close.
var ErrClosed = errors.New("leveldb_bloom: it is closed")

func check(status C.int) error {
	if status == C.LEVELDB_BLOOM_OK {
		return nil
	}
	return Status(status)
}

func pointer(data []byte) *C.char {
	if len(data) == 0 {
		return nil
	}
	return (*C.char)(unsafe.Pointer(&data[0]))
}

func cInt(bitsPerKey int) (C.int, error) {
	if int(C.int(bitsPerKey)) != bitsPerKey {
		return 0, fmt.Errorf("leveldb_bloom: %d bits per key do not fit a C int", bitsPerKey)
	}
	return C.int(bitsPerKey), nil
}

func countFixed(data []byte, keyLength int) (C.size_t, error) {
	if keyLength < 1 || len(data)%keyLength != 0 {
		return 0, fmt.Errorf("leveldb_bloom: %d bytes are no whole number of keys of %d", len(data), keyLength)
	}
	return C.size_t(len(data) / keyLength), nil
}

func countOffsets(offsets []int64) (*C.int64_t, C.size_t, error) {
	if len(offsets) == 0 {
		return nil, 0, errors.New("leveldb_bloom: there is at least one offset")
	}
	return (*C.int64_t)(&offsets[0]), C.size_t(len(offsets) - 1), nil
}

// No process has more memory than this, and make panics where it is asked for.
const largest = math.MaxInt & (1<<47 - 1)

// newFilter makes room for a filter. A size of 0 says that no size_t can hold it.
func newFilter(size C.size_t) ([]byte, error) {
	if size == 0 || size > largest {
		return nil, TooLarge
	}
	// Where there is no memory for it, make ends the process: the system is asked first, for more than
	// that, because Go rounds up and keeps tables of what it has.
	if size > 1<<26 {
		room, err := syscall.Mmap(-1, 0, int(size+size/8+1<<27), syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return nil, NoMemory
		}
		if err := syscall.Munmap(room); err != nil {
			return nil, err
		}
	}
	return make([]byte, size), nil
}

// overlap says whether two slices have a byte in common.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	first, second := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return first < second+uintptr(len(b)) && second < first+uintptr(len(a))
}

func Version() string        { return C.GoString(C.leveldb_bloom_version()) }
func Active() string         { return C.GoString(C.leveldb_bloom_active()) }
func Hash(key []byte) uint32 { return uint32(C.leveldb_bloom_hash(pointer(key), C.size_t(len(key)))) }

// FalsePositiveRate gives 1 where there can be no such filter: for fewer than no keys, and for bits per
// key that NewPolicy refuses.
func FalsePositiveRate(bitsPerKey, keys int) float64 {
	bits, err := cInt(bitsPerKey)
	if err != nil || keys < 0 {
		return 1
	}
	return float64(C.leveldb_bloom_false_positive_rate(bits, C.size_t(keys)))
}

// BitsPerKeyFor gives 0 where no number of bits per key up to 44 reaches that rate, as for fewer than no
// keys.
func BitsPerKeyFor(rate float64, keys int) int {
	if keys < 0 {
		return 0
	}
	return int(C.leveldb_bloom_bits_per_key_for(C.double(rate), C.size_t(keys)))
}

// Go lays values of less than 16 bytes together, and finalises none of them while another is used.
type aloneInMemory [16]byte

// A Policy makes filters; any number of goroutines may use one while none closes it.
type Policy struct {
	handle *C.struct_leveldb_bloom_policy
	_      aloneInMemory
}

// NewPolicy refuses bits per key that do not fit a C int. Its filters are LevelDB's own.
func NewPolicy(bitsPerKey int) (*Policy, error) {
	return newPolicy(bitsPerKey, func(bits C.int) *C.struct_leveldb_bloom_policy {
		return C.leveldb_bloom_policy_create(bits)
	})
}

// NewRibbonPolicy is NewPolicy with ribbon filters.
func NewRibbonPolicy(bitsPerKey int) (*Policy, error) {
	return newPolicy(bitsPerKey, func(bits C.int) *C.struct_leveldb_bloom_policy {
		return C.leveldb_bloom_policy_create_ribbon(bits)
	})
}

func newPolicy(bitsPerKey int, create func(C.int) *C.struct_leveldb_bloom_policy) (*Policy, error) {
	bits, err := cInt(bitsPerKey)
	if err != nil {
		return nil, err
	}
	handle := create(bits)
	if handle == nil {
		return nil, NoMemory
	}
	policy := &Policy{handle: handle}
	runtime.SetFinalizer(policy, (*Policy).Close)
	return policy, nil
}

// Close may be called more than once. What is never closed is left to the collector.
func (policy *Policy) Close() error {
	C.leveldb_bloom_policy_destroy(policy.handle)
	policy.handle = nil
	runtime.SetFinalizer(policy, nil)
	return nil
}

func (policy *Policy) Kernel() string {
	defer runtime.KeepAlive(policy)
	return C.GoString(C.leveldb_bloom_kernel(policy.handle))
}

func (policy *Policy) CreateFilter(keys [][]byte) (Filter, error) {
	offsets := make([]int64, 1, len(keys)+1)
	var data []byte
	for _, key := range keys {
		data = append(data, key...)
		offsets = append(offsets, int64(len(data)))
	}
	return policy.CreateFilterOffsets(data, offsets)
}

// CreateFilterOffsets takes data[offsets[i]:offsets[i+1]] for key i.
func (policy *Policy) CreateFilterOffsets(data []byte, offsets []int64) (Filter, error) {
	first, keys, err := countOffsets(offsets)
	if err != nil {
		return nil, err
	}
	return policy.create(keys, func(filter []byte) C.int {
		return C.leveldb_bloom_fill_filter_offsets64(policy.handle, pointer(data), C.size_t(len(data)),
			first, keys, pointer(filter), C.size_t(len(filter)))
	})
}

// CreateFilterFixed takes keys of one length, one behind the other.
func (policy *Policy) CreateFilterFixed(data []byte, keyLength int) (Filter, error) {
	keys, err := countFixed(data, keyLength)
	if err != nil {
		return nil, err
	}
	return policy.create(keys, func(filter []byte) C.int {
		return C.leveldb_bloom_fill_filter_fixed(policy.handle, pointer(data), C.size_t(keyLength),
			keys, pointer(filter), C.size_t(len(filter)))
	})
}

func (policy *Policy) create(keys C.size_t, fill func(filter []byte) C.int) (Filter, error) {
	defer runtime.KeepAlive(policy)
	if policy.handle == nil {
		return nil, ErrClosed
	}
	filter, err := newFilter(C.leveldb_bloom_filter_size(policy.handle, keys))
	if err == nil {
		err = check(fill(filter))
	}
	if err != nil {
		return nil, err
	}
	return filter, nil
}

// A Builder collects keys as they come; for one goroutine at a time.
type Builder struct {
	handle *C.struct_leveldb_bloom_builder
	_      aloneInMemory
}

// NewBuilder refuses what NewPolicy does.
func NewBuilder(bitsPerKey int) (*Builder, error) {
	return newBuilder(bitsPerKey, func(bits C.int) *C.struct_leveldb_bloom_builder {
		return C.leveldb_bloom_builder_create(bits)
	})
}

// NewRibbonBuilder is NewBuilder for ribbon filters, which cannot be united.
func NewRibbonBuilder(bitsPerKey int) (*Builder, error) {
	return newBuilder(bitsPerKey, func(bits C.int) *C.struct_leveldb_bloom_builder {
		return C.leveldb_bloom_builder_create_ribbon(bits)
	})
}

func newBuilder(bitsPerKey int, create func(C.int) *C.struct_leveldb_bloom_builder) (*Builder, error) {
	bits, err := cInt(bitsPerKey)
	if err != nil {
		return nil, err
	}
	handle := create(bits)
	if handle == nil {
		return nil, NoMemory
	}
	builder := &Builder{handle: handle}
	runtime.SetFinalizer(builder, (*Builder).Close)
	return builder, nil
}

// Close may be called more than once. What is never closed is left to the collector.
func (builder *Builder) Close() error {
	C.leveldb_bloom_builder_destroy(builder.handle)
	builder.handle = nil
	runtime.SetFinalizer(builder, nil)
	return nil
}

func (builder *Builder) Add(key []byte) error {
	defer runtime.KeepAlive(builder)
	if builder.handle == nil {
		return ErrClosed
	}
	return check(C.leveldb_bloom_builder_add(builder.handle, pointer(key), C.size_t(len(key))))
}

func (builder *Builder) AddFixed(data []byte, keyLength int) error {
	defer runtime.KeepAlive(builder)
	if builder.handle == nil {
		return ErrClosed
	}
	keys, err := countFixed(data, keyLength)
	if err != nil {
		return err
	}
	return check(C.leveldb_bloom_builder_add_fixed(builder.handle, pointer(data), C.size_t(keyLength), keys))
}

func (builder *Builder) NumKeys() int {
	defer runtime.KeepAlive(builder)
	return int(C.leveldb_bloom_builder_num_keys(builder.handle))
}

// Finish gives the filter of the keys added, as large as one for totalKeys, or for those added if
// that is 0; the builder is empty again. Parts of one filter, made with the same total, are united
// with Filter.Union.
func (builder *Builder) Finish(totalKeys uint) (Filter, error) {
	defer runtime.KeepAlive(builder)
	if builder.handle == nil {
		return nil, ErrClosed
	}
	filter, err := newFilter(C.leveldb_bloom_builder_filter_size(builder.handle, C.size_t(totalKeys)))
	if err == nil {
		err = check(C.leveldb_bloom_builder_finish(builder.handle, C.size_t(totalKeys), pointer(filter),
			C.size_t(len(filter))))
	}
	if err != nil {
		return nil, err
	}
	return filter, nil
}

// A Filter is its bytes; any bytes may be one.
type Filter []byte

func (filter Filter) MayMatch(key []byte) bool {
	return C.leveldb_bloom_key_may_match(pointer(key), C.size_t(len(key)), pointer(filter),
		C.size_t(len(filter))) != 0
}

// MayMatchOffsets gives a byte of 0 or 1 for each key.
func (filter Filter) MayMatchOffsets(data []byte, offsets []int64) ([]byte, error) {
	first, keys, err := countOffsets(offsets)
	if err != nil {
		return nil, err
	}
	results := make([]byte, keys)
	err = check(C.leveldb_bloom_keys_may_match_offsets64(pointer(data), C.size_t(len(data)),
		first, keys, pointer(filter), C.size_t(len(filter)),
		(*C.uint8_t)(unsafe.Pointer(pointer(results))), nil, nil))
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (filter Filter) MayMatchFixed(data []byte, keyLength int) ([]byte, error) {
	keys, err := countFixed(data, keyLength)
	if err != nil {
		return nil, err
	}
	results := make([]byte, keys)
	return results, check(C.leveldb_bloom_keys_may_match_fixed(pointer(data), C.size_t(keyLength), keys,
		pointer(filter), C.size_t(len(filter)), (*C.uint8_t)(unsafe.Pointer(pointer(results))), nil, nil))
}

// Union adds the keys of the other filter to this one.
func (filter Filter) Union(other Filter) error {
	// What it reads the library must not write at the same time.
	if overlap(filter, other) {
		other = append(Filter(nil), other...)
	}
	return check(C.leveldb_bloom_union(pointer(filter), C.size_t(len(filter)), pointer(other),
		C.size_t(len(other))))
}

// Info is what the bytes of a filter say.
type Info struct {
	Bits, BitsSet                          uint64
	Probes                                 uint32
	Ribbon                                 bool
	Fill, EstimatedKeys, FalsePositiveRate float64
}

func (filter Filter) Inspect() (Info, error) {
	var info C.struct_leveldb_bloom_info
	err := check(C.leveldb_bloom_inspect(pointer(filter), C.size_t(len(filter)), &info))
	return Info{uint64(info.bits), uint64(info.bits_set), uint32(info.probes),
		info.encoding == C.LEVELDB_BLOOM_ENCODING_RIBBON, float64(info.fill),
		float64(info.estimated_keys), float64(info.false_positive_rate)}, err
}

// Positions gives the bits that a query for the key reads.
func (filter Filter) Positions(key []byte) []uint64 {
	var found [30]uint64
	number := C.leveldb_bloom_positions(pointer(key), C.size_t(len(key)), pointer(filter),
		C.size_t(len(filter)), (*C.uint64_t)(&found[0]), C.size_t(len(found)))
	return found[:number]
}
