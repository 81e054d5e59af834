// Goroutines that send numbers through one channel to others.
package main

import "sync"

// through runs senders and receivers over one channel; together the senders send each number below messages once.
// The sum of what was received.
func through(messages, senders, receivers uint64, capacity uint64) uint64 {
	link := make(chan uint64, capacity)
	sums := make(chan uint64)
	var sending sync.WaitGroup
	for sender := uint64(0); sender < senders; sender++ {
		sending.Add(1)
		go func(number uint64) {
			for ; number < messages; number += senders {
				link <- number
			}
			sending.Done()
		}(sender)
	}
	for receiver := uint64(0); receiver < receivers; receiver++ {
		go func() {
			sum := uint64(0)
			for number := range link {
				sum += number
			}
			sums <- sum
		}()
	}
	sending.Wait()
	close(link)
	all := uint64(0)
	for receiver := uint64(0); receiver < receivers; receiver++ {
		all += <-sums
	}
	return all
}

func spsc(o options) uint64 {
	o.only("--messages", "--capacity")
	return through(o.number("--messages", 1000), 1, 1, o.number("--capacity", 1024))
}

func mpsc(o options) uint64 {
	o.only("--messages", "--senders", "--capacity", "--receive")
	if name := o.text("--receive", "one"); name != "one" {
		fail("a channel gives one at a time, not", name)
	}
	return through(o.number("--messages", 1000), o.number("--senders", 1), 1, o.number("--capacity", 1024))
}

func mpmc(o options) uint64 {
	o.only("--messages", "--senders", "--receivers", "--capacity")
	senders, receivers := o.number("--senders", 4), o.number("--receivers", 4)
	return through(o.number("--messages", 1000), senders, receivers, o.number("--capacity", 1024))
}

func rendezvous(o options) uint64 {
	o.only("--messages")
	return through(o.number("--messages", 1000), 1, 1, 0)
}
