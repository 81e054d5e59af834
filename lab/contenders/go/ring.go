// The thread ring in Go: one goroutine a member, one channel a link.
//
// Channels hold one value: with unbuffered ones a ring of one member would wait for itself.
// A receiver that already waits gets the value directly, so the buffer is not touched in the
// steady state.
package main

// creationOrder is the order in which members are started; splitmix64 with the seed that all
// contenders use.
func creationOrder(n int, name string) []int {
	order := make([]int, n)
	for k := range order {
		order[k] = k
		if name == "reverse" {
			order[k] = n - 1 - k
		}
	}
	if name == "shuffled" {
		shuffle(order)
	} else if name != "forward" && name != "reverse" {
		fail("unknown order (forward, reverse, shuffled)", name)
	}
	return order
}

// shuffle is Fisher and Yates over splitmix64 with the seed that all contenders use.
func shuffle(order []int) {
	state := uint64(503)
	for k := len(order) - 1; k > 0; k-- {
		state += 0x9e3779b97f4a7c15
		z := (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb
		j := int((z ^ (z >> 31)) % uint64(k+1))
		order[k], order[j] = order[j], order[k]
	}
}

func member(id int, in <-chan int, out chan<- int, answer chan<- int) {
	for {
		token := <-in
		if token == 0 {
			answer <- id
			return
		}
		out <- token - 1
	}
}

func ring(o options) uint64 {
	o.only("--threads", "--hops", "--order")
	threads, hops := int(o.number("--threads", 503)), int(o.number("--hops", 10000000))
	links := make([]chan int, threads)
	for i := range links {
		links[i] = make(chan int, 1)
	}
	answer := make(chan int)
	for _, i := range creationOrder(threads, o.text("--order", "forward")) {
		go member(i+1, links[i], links[(i+1)%threads], answer)
	}
	links[0] <- hops
	return uint64(<-answer)
}
