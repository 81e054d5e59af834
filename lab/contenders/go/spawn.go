// Spawning and joining in Go: a goroutine, a variable for what it returns, and a WaitGroup are the task
// and its handle.
package main

import "sync"

func spawn(o options) uint64 {
	o.only("--spawns", "--batch")
	spawns, batch := o.number("--spawns", 1000), o.number("--batch", 1)
	if batch == 1 {
		return oneByOne(spawns)
	}
	sum := uint32(0)
	results := make([]uint32, batch)
	var all sync.WaitGroup
	for next := uint64(0); next < spawns; {
		begun := results[:min(batch, spawns-next)]
		all.Add(len(begun))
		for index := range begun {
			result, number := &begun[index], next
			go func() {
				*result = uint32(number)
				all.Done()
			}()
			next++
		}
		all.Wait()
		for _, result := range begun {
			sum += result
		}
	}
	return uint64(sum)
}

func oneByOne(spawns uint64) uint64 {
	sum, result := uint32(0), uint32(0)
	var one sync.WaitGroup
	for number := uint64(0); number < spawns; number++ {
		one.Add(1)
		number := number
		go func() {
			result = uint32(number)
			one.Done()
		}()
		one.Wait()
		sum += result
	}
	return uint64(sum)
}

func min(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
}
