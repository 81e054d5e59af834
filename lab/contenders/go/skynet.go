// Skynet in Go, after the design of atemerev/skynet (MIT): a goroutine a node, and an unbuffered
// channel that all children of a node answer on.
package main

const children = 10

// subtree sends the sum of the numbers of so many leaves, of which the first one has the number first.
func subtree(sums chan<- uint64, first, leaves uint64) {
	total := first
	if leaves > 1 {
		parts, each := make(chan uint64), leaves/children
		for past := first + leaves; first < past; first += each {
			go subtree(parts, first, each)
		}
		total = 0
		for answers := 0; answers < children; answers++ {
			total += <-parts
		}
	}
	sums <- total
}

func skynet(o options) uint64 {
	o.only("--leaves")
	sum := make(chan uint64)
	go subtree(sum, 0, o.number("--leaves", 1000))
	return <-sum
}
