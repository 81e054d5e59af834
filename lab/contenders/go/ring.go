// The thread ring in Go: one goroutine a member, one channel a link.
//
// Channels hold one value: with unbuffered ones a ring of one member would wait for itself.
// A receiver that already waits gets the value directly, so the buffer is not touched in the
// steady state.  GOMAXPROCS is left alone: this row is Go as people run it.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func fail(what, given string) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", what, given)
	os.Exit(2)
}

func number(text string, least int) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < least {
		fail("expected a whole number of at least "+strconv.Itoa(least)+", got", text)
	}
	return value
}

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
		state := uint64(503)
		for k := n - 1; k > 0; k-- {
			state += 0x9e3779b97f4a7c15
			z := (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9
			z = (z ^ (z >> 27)) * 0x94d049bb133111eb
			j := int((z ^ (z >> 31)) % uint64(k+1))
			order[k], order[j] = order[j], order[k]
		}
	} else if name != "forward" && name != "reverse" {
		fail("unknown order (forward, reverse, shuffled)", name)
	}
	return order
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

func main() {
	threads, hops, order := 503, 10000000, "forward"
	arguments := os.Args[1:]
	if len(arguments) == 0 || arguments[0] != "ring" || len(arguments)%2 == 0 {
		fail("expected", "ring [--threads N] [--hops H] [--order O]")
	}
	for i := 1; i < len(arguments); i += 2 {
		switch value := arguments[i+1]; arguments[i] {
		case "--threads":
			threads = number(value, 1)
		case "--hops":
			hops = number(value, 0)
		case "--order":
			order = value
		default:
			fail("unknown option", arguments[i])
		}
	}
	links := make([]chan int, threads)
	for i := range links {
		links[i] = make(chan int, 1)
	}
	answer := make(chan int)
	for _, i := range creationOrder(threads, order) {
		go member(i+1, links[i], links[(i+1)%threads], answer)
	}
	links[0] <- hops
	fmt.Println(<-answer)
}
