// Many channels of one, of which some get messages in a shuffled order, and one receiver of whatever any of them has.
package main

import "reflect"

// mergedHeld is how many messages wait where all channels meet.
const mergedHeld = 1 << 10

// ports is a fan-in: a goroutine for each channel passes on what comes. With the kind "select" it is reflect.Select.
func ports(o options) uint64 {
	o.only("--messages", "--ports", "--active", "--receive")
	if name := o.text("--receive", "one"); name != "one" {
		fail("a channel gives one at a time, not", name)
	}
	messages := o.number("--messages", 1000)
	order := make([]int, o.number("--ports", 10))
	for i := range order {
		order[i] = i
	}
	shuffle(order)
	links := make([]chan uint64, len(order))
	for i := range links {
		links[i] = make(chan uint64, 1)
	}
	if active := o.number("--active", 10); active < uint64(len(order)) {
		order = order[:active]
	}
	go func() {
		for number, next := uint64(0), 0; number < messages; number++ {
			links[order[next]] <- number
			if next++; next == len(order) {
				next = 0
			}
		}
	}()
	if o.text("--kind", "all") == "select" {
		return selected(links, messages)
	}
	return merged(links, messages)
}

func merged(links []chan uint64, messages uint64) uint64 {
	all := make(chan uint64, mergedHeld)
	for _, link := range links {
		go func(link <-chan uint64) {
			for number := range link {
				all <- number
			}
		}(link)
	}
	sum := uint64(0)
	for ; messages > 0; messages-- {
		sum += <-all
	}
	return sum
}

// selected makes the cases once; there may be 65,536 of them at most.
func selected(links []chan uint64, messages uint64) uint64 {
	cases := make([]reflect.SelectCase, len(links))
	for i, link := range links {
		cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(link)}
	}
	sum := uint64(0)
	for ; messages > 0; messages-- {
		_, message, _ := reflect.Select(cases)
		sum += message.Uint()
	}
	return sum
}
