package bloom

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	keyLength = 16
	numKeys   = 1000000
	half      = numKeys / 2
	batch     = 100000
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func unhex(text string) []byte {
	if text == "-" {
		return nil
	}
	return must(hex.DecodeString(text))
}

func bestOf(rounds int, work func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for i := 0; i < rounds; i++ {
		start := time.Now()
		work()
		if passed := time.Since(start); passed < best {
			best = passed
		}
	}
	return best
}

// checkGolden returns how many golden values there were.
func checkGolden(t *testing.T) int {
	lines := strings.Split(strings.TrimSpace(string(must(os.ReadFile(os.Getenv("LEVELDB_BLOOM_GOLDEN"))))), "\n")
	for _, line := range lines {
		kind, fields := strings.Fields(line)[0], strings.Fields(line)[1:]
		switch kind {
		case "filter":
			bits, expected := must(strconv.Atoi(fields[0])), unhex(fields[1])
			policy, builder := must(NewPolicy(bits)), must(NewBuilder(bits))
			var keys [][]byte
			for _, key := range fields[2:] {
				keys = append(keys, unhex(key))
				if err := builder.Add(unhex(key)); err != nil {
					t.Fatal(err)
				}
			}
			if builder.NumKeys() != len(keys) || !bytes.Equal(must(builder.Finish(0)), expected) ||
				builder.NumKeys() != 0 {
				t.Errorf("builder: %s", line)
			}
			if made := must(policy.CreateFilter(keys)); !bytes.Equal(made, expected) {
				t.Errorf("%x: %s", made, line)
			}
			policy.Close()
			builder.Close()
		case "hash":
			if Hash(unhex(fields[0])) != uint32(must(strconv.ParseUint(fields[1], 16, 32))) {
				t.Error(line)
			}
		case "answer":
			key, filter, expected := unhex(fields[0]), Filter(unhex(fields[1])), fields[2] == "1"
			answers := must(filter.MayMatchOffsets(key, []int64{0, int64(len(key))}))
			if filter.MayMatch(key) != expected || (answers[0] == 1) != expected {
				t.Error(line)
			}
		default:
			t.Fatal(line)
		}
	}
	return len(lines)
}

func TestLibrary(t *testing.T) {
	if Version() != "1.0.0" {
		t.Error(Version())
	}
	if rate := FalsePositiveRate(11, numKeys); BitsPerKeyFor(0.01, numKeys) != 11 || rate > 0.01 || rate < 0.005 {
		t.Error(rate)
	}
	policy := must(NewPolicy(10))
	defer policy.Close()
	filter := must(policy.CreateFilter([][]byte{[]byte("hello"), []byte("world")}))
	info := must(filter.Inspect())
	if info.Bits != 64 || info.Probes != 6 || info.BitsSet != 10 || info.Fill != 10.0/64 ||
		info.EstimatedKeys < 1.81 || info.EstimatedKeys > 1.82 ||
		info.FalsePositiveRate < 0.004 || info.FalsePositiveRate > 0.005 {
		t.Errorf("%+v", info)
	}
	positions := filter.Positions([]byte("hello"))
	if len(positions) != 6 {
		t.Error(positions)
	}
	for _, position := range positions {
		if filter[position/8]>>(position%8)&1 == 0 {
			t.Error(position)
		}
	}
	most := must(NewPolicy(44))
	defer most.Close()
	key := []byte("key")
	if probes := len(must(most.CreateFilter([][]byte{key})).Positions(key)); probes != 30 {
		t.Error(probes)
	}
}

func TestRibbon(t *testing.T) {
	policy, builder := must(NewRibbonPolicy(10)), must(NewRibbonBuilder(10))
	defer policy.Close()
	defer builder.Close()
	keys := [][]byte{[]byte("hello"), []byte("world")}
	filter := must(policy.CreateFilter(keys))
	for _, key := range keys {
		if err := builder.Add(key); err != nil || !filter.MayMatch(key) {
			t.Error(key, err)
		}
	}
	if built := must(builder.Finish(0)); !bytes.Equal(built, filter) || filter.MayMatch([]byte("absent")) {
		t.Errorf("%x", built)
	}
	if info := must(filter.Inspect()); !info.Ribbon || info.Probes != 10 || info.FalsePositiveRate != 1.0/1024 {
		t.Errorf("%+v", info)
	}
	if err := filter.Union(filter); err != Mismatch {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	expect := func(what string, err error, expected Status) {
		var status Status
		if !errors.As(err, &status) || status != expected || len(err.Error()) < 4 {
			t.Errorf("%s: %v", what, err)
		}
	}
	policy, builder := must(NewPolicy(10)), must(NewBuilder(10))
	small := must(policy.CreateFilter([][]byte{[]byte("a")}))
	large := must(policy.CreateFilter(make([][]byte, 100)))
	expect("union", small.Union(large), Mismatch)
	for _, total := range []uint{1 << 60, 1 << 63} {
		_, err := builder.Finish(total)
		expect(fmt.Sprint(total), err, TooLarge)
	}
	// For such sizes make would end the process. The limit is for systems that promise any of them.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	lower := limit
	lower.Cur = 1 << 40
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &lower); err != nil {
		t.Fatal(err)
	}
	for _, total := range []uint{1 << 41, 1 << 45} {
		_, err := builder.Finish(total)
		expect(fmt.Sprint(total), err, NoMemory)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][]int64{{0, 7, 5}, {-1, 7, 9}, {0, 5, 11}} {
		_, err := policy.CreateFilterOffsets([]byte("0123456789"), wrong)
		expect(fmt.Sprint(wrong), err, InvalidArgument)
		answers, err := small.MayMatchOffsets([]byte("0123456789"), wrong)
		expect(fmt.Sprint(wrong), err, InvalidArgument)
		if answers != nil {
			t.Error("answers to a question that was refused")
		}
	}
	for _, length := range []int{2, 0, -1} {
		_, errFilter := policy.CreateFilterFixed([]byte("12345"), length)
		_, errAnswers := small.MayMatchFixed([]byte("12345"), length)
		errAdd := builder.AddFixed([]byte("12345"), length)
		for _, err := range []error{errFilter, errAnswers, errAdd} {
			if err == nil || !strings.Contains(err.Error(), "no whole number of keys") {
				t.Errorf("keys of %d: %v", length, err)
			}
		}
	}
	if _, err := policy.CreateFilterOffsets(nil, nil); err == nil {
		t.Error("a filter without an offset")
	}
	if _, err := small.MayMatchOffsets(nil, nil); err == nil {
		t.Error("answers without an offset")
	}
	for i := 0; i < 2; i++ {
		policy.Close()
		builder.Close()
	}
	for what, use := range map[string]func() error{
		"CreateFilter":        func() error { _, err := policy.CreateFilter(nil); return err },
		"CreateFilterFixed":   func() error { _, err := policy.CreateFilterFixed(nil, 1); return err },
		"CreateFilterOffsets": func() error { _, err := policy.CreateFilterOffsets(nil, []int64{0}); return err },
		"Add":                 func() error { return builder.Add(nil) },
		"AddFixed":            func() error { return builder.AddFixed(nil, 1) },
		"Finish":              func() error { _, err := builder.Finish(0); return err },
	} {
		if err := use(); err != ErrClosed {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Both filters from one buffer, which begin at any distance from each other.
func TestUnionOfWhatOverlaps(t *testing.T) {
	policy := must(NewPolicy(10))
	defer policy.Close()
	const length = 101
	for _, into := range []int{0, 1, 5, 100, 101} {
		for _, from := range []int{0, 1, 7, 8, 63, 64, 100, 101} {
			memory := make([]byte, 2*length)
			for i := range memory {
				memory[i] = byte(i * 7)
			}
			memory[into+length-1], memory[from+length-1] = 6, 6
			a, b := append(Filter(nil), memory[into:into+length]...), append(Filter(nil), memory[from:from+length]...)
			expected := a.Union(b)
			if err := Filter(memory[into : into+length]).Union(memory[from : from+length]); err != expected ||
				!bytes.Equal(memory[into:into+length], a) {
				t.Errorf("at %d and %d: %v", into, from, err)
			}
		}
	}
	if err := (Filter{6}).Union(Filter{6}); err != Mismatch {
		t.Error(err)
	}
}

func TestNumbersThatCHasNoRoomFor(t *testing.T) {
	for _, bits := range []int{math.MinInt32 - 1, math.MaxInt32 + 1, 1<<32 + 10} {
		if _, err := NewPolicy(bits); err == nil {
			t.Errorf("policy of %d", bits)
		}
		if _, err := NewBuilder(bits); err == nil {
			t.Errorf("builder of %d", bits)
		}
		if rate := FalsePositiveRate(bits, 1000); rate != 1 {
			t.Errorf("%g for %d bits", rate, bits)
		}
	}
	for _, bits := range []int{math.MinInt32, math.MaxInt32} {
		must(NewPolicy(bits)).Close()
		must(NewBuilder(bits)).Close()
	}
	if rate := FalsePositiveRate(math.MaxInt32, 1000); rate > 0.001 {
		t.Error(rate)
	}
	if rate := FalsePositiveRate(10, -1); rate != 1 {
		t.Error(rate)
	}
	if bits := BitsPerKeyFor(1, -1); bits != 0 {
		t.Error(bits)
	}
}

// until waits for what the collector does.
func until(t *testing.T, done func() bool, what func() string) {
	for end := time.Now().Add(10 * time.Second); !done(); runtime.GC() {
		if time.Now().After(end) {
			t.Fatal(what())
		}
	}
}

// residentBytes is how much memory the process has.
func residentBytes() int {
	pages := strings.Fields(string(must(os.ReadFile("/proc/self/statm"))))[1]
	return must(strconv.Atoi(pages)) * os.Getpagesize()
}

// Each has a small value beside it that lives on, which Go may lay into the same block of memory.
func TestFinalisers(t *testing.T) {
	runtime.GC()
	neighbours := make([]*int64, 10)
	// Of 40 MB each, which malloc does not keep.
	keys := make([]byte, 10*numKeys)
	before := residentBytes()
	for i := range neighbours {
		builder := must(NewBuilder(10))
		if err := builder.AddFixed(keys, 1); err != nil {
			t.Fatal(err)
		}
		neighbours[i] = new(int64)
	}
	until(t, func() bool { return residentBytes() < before+100*numKeys },
		func() string { return fmt.Sprintf("builders have %d bytes", residentBytes()-before) })
	runtime.KeepAlive(neighbours)
}

// What nobody uses any more but the call itself.
func TestCollectorInTheMiddleOfACall(t *testing.T) {
	keys := make([]byte, numKeys)
	expected := must(must(NewPolicy(10)).CreateFilterFixed(keys, 1))
	var done atomic.Bool
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		for !done.Load() {
			runtime.GC()
		}
	}()
	for i := 0; i < 50; i++ {
		if err := must(NewBuilder(10)).AddFixed(keys, 1); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(expected, must(must(NewPolicy(10)).CreateFilterFixed(keys, 1))) {
			t.Error("another filter")
		}
	}
	done.Store(true)
	wait.Wait()
}

func TestMillionKeys(t *testing.T) {
	var data []byte
	for i := 0; i < numKeys; i++ {
		data = append(data, fmt.Sprintf("key-%012d", i)...)
	}
	policy := must(NewPolicy(10))
	defer policy.Close()
	first := data[:half*keyLength]
	filter := must(policy.CreateFilterFixed(first, keyLength))
	answers := must(filter.MayMatchFixed(data, keyLength))
	offsets := make([]int64, numKeys+1)
	matches := 0
	for i := range answers {
		if filter.MayMatch(data[i*keyLength:(i+1)*keyLength]) != (answers[i] == 1) {
			t.Fatalf("key %d", i)
		}
		matches += int(answers[i])
		offsets[i+1] = int64((i + 1) * keyLength)
	}
	if !bytes.Equal(answers, must(filter.MayMatchOffsets(data, offsets))) {
		t.Error("offsets")
	}

	var wait sync.WaitGroup
	parts := make([]Filter, 4)
	for i := range parts {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			builder := must(NewBuilder(10))
			defer builder.Close()
			size := len(first) / len(parts)
			if err := builder.AddFixed(first[i*size:(i+1)*size], keyLength); err != nil {
				t.Error(err)
			}
			parts[i] = must(builder.Finish(half))
			if !bytes.Equal(answers, must(filter.MayMatchFixed(data, keyLength))) ||
				!bytes.Equal(filter, must(policy.CreateFilterFixed(first, keyLength))) {
				t.Errorf("goroutine %d", i)
			}
		}(i)
	}
	wait.Wait()
	for _, part := range parts[1:] {
		if err := parts[0].Union(part); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(parts[0], filter) {
		t.Error("parts united")
	}

	golden := checkGolden(t)
	found := 0
	one := bestOf(200, func() {
		for i := half - 500; i < half+500; i++ {
			if filter.MayMatch(data[i*keyLength : (i+1)*keyLength]) {
				found++
			}
		}
	})
	some := data[(half-batch/2)*keyLength : (half+batch/2)*keyLength]
	query := bestOf(200, func() { must(filter.MayMatchFixed(some, keyLength)) })
	build := bestOf(200, func() { must(policy.CreateFilterFixed(some, keyLength)) })
	other, loaded := must(policy.CreateFilterFixed(some, keyLength)), Filter(append([]byte(nil), filter...))
	line := must(json.Marshal(struct {
		Language  string  `json:"language"`
		Through   string  `json:"through"`
		Runtime   string  `json:"runtime"`
		Library   string  `json:"library"`
		Active    string  `json:"active"`
		Kernel    string  `json:"kernel"`
		Golden    int     `json:"golden"`
		Matches   int     `json:"matches"`
		Distinct  int     `json:"distinct"`
		Hash      string  `json:"filter_hash"`
		Call      float64 `json:"call_ns"`
		QueryKeys float64 `json:"query_keys_per_s"`
		BuildKeys float64 `json:"build_keys_per_s"`
	}{"Go", "cgo", runtime.Version(), Version(), Active(), policy.Kernel(), golden, matches,
		len(map[string]bool{string(filter): true, string(other): true, string(loaded): true}),
		fmt.Sprintf("%08x", Hash(filter)), one.Seconds() / 1000 * 1e9, batch / query.Seconds(),
		batch / build.Seconds()}))
	fmt.Println(string(line))
}
