// Many goroutines build one filter: each makes a part as large as the whole, and the parts united
// are, byte for byte, the filter of all keys at once.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"log"
	"sync"

	bloom "example.org/leveldb_bloom"
)

const (
	keys    = 200000
	workers = 4
	length  = sha256.Size
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	fmt.Printf("leveldb-bloom %s, %s\n", bloom.Version(), bloom.Active())
	var data []byte
	for i := 0; i < keys; i++ {
		digest := sha256.Sum256([]byte(fmt.Sprint("object ", i)))
		data = append(data, digest[:]...)
	}

	var wait sync.WaitGroup
	parts := make([]bloom.Filter, workers)
	for worker := range parts {
		wait.Add(1)
		go func(worker int) {
			defer wait.Done()
			builder := must(bloom.NewBuilder(10))
			defer builder.Close()
			size := keys / workers * length
			if err := builder.AddFixed(data[worker*size:(worker+1)*size], length); err != nil {
				log.Fatal(err)
			}
			parts[worker] = must(builder.Finish(keys))
		}(worker)
	}
	wait.Wait()
	whole := parts[0]
	for _, part := range parts[1:] {
		if err := whole.Union(part); err != nil {
			log.Fatal(err)
		}
	}

	policy := must(bloom.NewPolicy(10))
	defer policy.Close()
	fmt.Printf("%d goroutines, %d digests each, a filter of %d bytes; equal to one made at once: %v\n",
		workers, keys/workers, len(whole),
		bytes.Equal(whole, must(policy.CreateFilterFixed(data, length))))
	info := must(whole.Inspect())
	fmt.Printf("%d probes, %.1f %% of the bits set, about %.0f keys\n", info.Probes, 100*info.Fill,
		info.EstimatedKeys)
	for _, object := range []string{"object 7", "object -7"} {
		digest := sha256.Sum256([]byte(object))
		fmt.Printf("%s may be there: %v\n", object, whole.MayMatch(digest[:]))
	}
}
