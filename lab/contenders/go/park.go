// Parked goroutines: each waits on a channel of one, all are counted, and then each is sent its number.
package main

import (
	"sync"
	"sync/atomic"
)

func park(o options) uint64 {
	o.only("--threads")
	threads := o.number("--threads", 1000)
	var parked, woken sync.WaitGroup
	parked.Add(int(threads))
	woken.Add(int(threads))
	sum := uint64(0)
	one := func(number <-chan uint64) {
		parked.Done()
		atomic.AddUint64(&sum, <-number)
		woken.Done()
	}
	numbers := make([]chan uint64, threads)
	for index := range numbers {
		numbers[index] = make(chan uint64, 1)
		go one(numbers[index])
	}
	parked.Wait()
	for index, number := range numbers {
		number <- uint64(index)
	}
	woken.Wait()
	return sum
}
