// Skynet in Go, as its author wrote it: a goroutine a node, ten children, an unbuffered channel for
// the children's answers.
package main

const children = 10

func node(answer chan<- uint64, first, leaves uint64) {
	if leaves == 1 {
		answer <- first
		return
	}
	answers, each := make(chan uint64), leaves/children
	for child := uint64(0); child < children; child++ {
		go node(answers, first+child*each, each)
	}
	sum := uint64(0)
	for child := 0; child < children; child++ {
		sum += <-answers
	}
	answer <- sum
}

func skynet(o options) uint64 {
	o.only("--leaves")
	answer := make(chan uint64)
	go node(answer, 0, o.number("--leaves", 1000))
	return <-answer
}
