// Goroutines that send through channels.
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

// pipe is what pingpong is with one pair: two channels of one, as a channel of Go's has one direction.
func pipe(o options) uint64 {
	o.only("--trips")
	done := make(chan uint64, 1)
	pair(o.number("--trips", 1000), done)
	return <-done
}

// messageRing has goroutines in a ring, each with a channel of one to the next: it sends, then receives, and so on.
func messageRing(o options) uint64 {
	o.only("--messages", "--tasks")
	messages, tasks := o.number("--messages", 1000), o.number("--tasks", 100)
	links := make([]chan uint64, tasks)
	for i := range links {
		links[i] = make(chan uint64, 1)
	}
	sums := make(chan uint64)
	for i := uint64(0); i < tasks; i++ {
		before := (i + tasks - 1) % tasks
		sends, receives := part(messages, tasks, i), part(messages, tasks, before)
		go func(from <-chan uint64, to chan<- uint64) {
			sum := uint64(0)
			for number := uint64(0); number < sends || number < receives; number++ {
				if number < sends {
					to <- number
				}
				if number < receives {
					sum += <-from
				}
			}
			sums <- sum
		}(links[i], links[(i+1)%tasks])
	}
	all := uint64(0)
	for i := uint64(0); i < tasks; i++ {
		all += <-sums
	}
	return all
}

// msgsend has senders whose requests a server adds up. A channel of Go's always has a bound; this one is large.
func msgsend(o options) uint64 {
	o.only("--requests", "--senders", "--interval")
	requests, senders := o.number("--requests", 1000), o.number("--senders", 4)
	interval := o.number("--interval", 1)
	link := make(chan uint64, requestsHeld)
	states := make([]uint64, senders)
	var sending sync.WaitGroup
	for sender := uint64(0); sender < senders; sender++ {
		sending.Add(1)
		go func(sender, count uint64) {
			state := sender + 1
			for ; count > 0; count-- {
				state = steps(state, interval-1)
				link <- requestBytes
			}
			states[sender] = state
			sending.Done()
		}(sender, part(requests, senders, sender))
	}
	bytes := make(chan uint64)
	go func() {
		sum := uint64(0)
		for request := range link {
			sum += request
		}
		bytes <- sum
	}()
	sending.Wait()
	close(link)
	return <-bytes
}

const (
	requestBytes = 100
	requestsHeld = 1 << 16
)
