// Computations that call themselves: Fibonacci numbers and quicksort.
package main

import "sync"

// fibonacci calculates one half in a goroutine, and the other half itself.
func fibonacci(n uint64) uint64 {
	if n < 2 {
		return n
	}
	other := make(chan uint64, 1)
	go func() { other <- fibonacci(n - 1) }()
	return fibonacci(n-2) + <-other
}

func fib(o options) uint64 {
	o.only("--rounds", "--n")
	sum, n := uint64(0), o.number("--n", 20)
	for rounds := o.number("--rounds", 1); rounds > 0; rounds-- {
		sum += fibonacci(n)
	}
	return sum
}

// Parts up to this length are sorted by one goroutine.
const alone = 2048

// The middle one of three goes in front; what is smaller than it follows, and then it takes its place.
func partition(items []uint32) int {
	last := len(items) - 1
	middle := last / 2
	if items[middle] < items[0] {
		items[middle], items[0] = items[0], items[middle]
	}
	if items[last] < items[0] {
		items[last], items[0] = items[0], items[last]
	}
	if items[last] < items[middle] {
		items[last], items[middle] = items[middle], items[last]
	}
	items[0], items[middle] = items[middle], items[0]
	pivot, front := items[0], 0
	for at := 1; at < len(items); at++ {
		item := items[at]
		items[at] = items[front+1]
		items[front+1] = item
		if item < pivot {
			front++
		}
	}
	items[0], items[front] = items[front], items[0]
	return front
}

func sortAlone(items []uint32) {
	for len(items) > 24 {
		middle := partition(items)
		if middle < len(items)/2 {
			sortAlone(items[:middle])
			items = items[middle+1:]
		} else {
			sortAlone(items[middle+1:])
			items = items[:middle]
		}
	}
	for at := 1; at < len(items); at++ {
		item, to := items[at], at
		for ; to > 0 && item < items[to-1]; to-- {
			items[to] = items[to-1]
		}
		items[to] = item
	}
}

func sortTogether(items []uint32) {
	if len(items) <= alone {
		sortAlone(items)
		return
	}
	middle := partition(items)
	var other sync.WaitGroup
	other.Add(1)
	go func() {
		sortTogether(items[:middle])
		other.Done()
	}()
	sortTogether(items[middle+1:])
	other.Wait()
}

// shuffled has each number below count once, each so far from the one before as makes them fill the range evenly.
func shuffled(count uint64) []uint32 {
	step := count * 618 / 1000
	for gcd(step, count) != 1 {
		step++
	}
	items, next := make([]uint32, count), uint64(0)
	for at := range items {
		items[at] = uint32(next)
		next = (next + step) % count
	}
	return items
}

func gcd(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// quicksort gives the sum of each item times its place.
func quicksort(o options) uint64 {
	o.only("--items")
	items := shuffled(o.number("--items", 1000))
	sortTogether(items)
	sum := uint64(0)
	for at, item := range items {
		sum += uint64(at) * uint64(item)
	}
	return sum % (1 << 32)
}
