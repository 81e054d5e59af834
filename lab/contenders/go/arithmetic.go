// Bare arithmetic, and workloads that do little else: cpu, idle workers.
package main

import (
	"runtime"
	"time"
)

// steps is the state of xorshift (Marsaglia 2003) after so many steps.
//
//go:noinline
func steps(state, count uint64) uint64 {
	for ; count > 0; count-- {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	return state
}

// part is what one of parts gets of total.
func part(total, parts, index uint64) uint64 {
	if index < total%parts {
		return total/parts + 1
	}
	return total / parts
}

func cpu(o options) uint64 {
	o.only("--rounds", "--tasks")
	rounds, tasks := o.number("--rounds", 1000), o.number("--tasks", 2)
	states := make(chan uint64, tasks)
	for task := uint64(0); task < tasks; task++ {
		go func(task uint64) { states <- steps(task+1, part(rounds, tasks, task)) }(task)
	}
	all := uint64(0)
	for task := uint64(0); task < tasks; task++ {
		all ^= <-states
	}
	return all
}

// small is how many steps a small task has, about twenty microseconds.
const small = 10000

var sink uint64

func workers(o options) uint64 {
	o.only("--workers", "--idle-ms")
	count, idle := o.number("--workers", 64), o.number("--idle-ms", 1000)
	runtime.GOMAXPROCS(int(count))
	states := make(chan uint64, count)
	for task := uint64(0); task < count; task++ {
		go func(task uint64) { states <- steps(task, small) }(task)
	}
	for task := uint64(0); task < count; task++ {
		sink ^= <-states
	}
	time.Sleep(time.Duration(idle) * time.Millisecond)
	return count
}
