// Goroutines that do nothing but give way, and the same while the number of processors changes.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
)

func yields(total, tasks uint64) uint64 {
	done := make(chan uint64, tasks)
	for task := uint64(0); task < tasks; task++ {
		go func(times uint64) {
			count := uint64(0)
			for count < times {
				runtime.Gosched()
				count++
			}
			done <- count
		}(part(total, tasks, task))
	}
	all := uint64(0)
	for task := uint64(0); task < tasks; task++ {
		all += <-done
	}
	return all
}

func yield(o options) uint64 {
	o.only("--yields", "--tasks")
	return yields(o.number("--yields", 1000), o.number("--tasks", 20))
}

// resize with the kind "resizing" sets GOMAXPROCS to 8, 1, 8, ... meanwhile, from a goroutine with a
// thread of its own; GOMAXPROCS returns when it is so. How often stands on stderr.
func resize(o options) uint64 {
	o.only("--yields", "--tasks")
	total, tasks := o.number("--yields", 1000), o.number("--tasks", 20)
	if o.text("--kind", "all") != "resizing" {
		return yields(total, tasks)
	}
	var stop atomic.Bool
	resized := make(chan int)
	go func() {
		runtime.LockOSThread()
		count := 0
		for !stop.Load() {
			runtime.GOMAXPROCS(8)
			runtime.GOMAXPROCS(1)
			count += 2
		}
		resized <- count
	}()
	all := yields(total, tasks)
	stop.Store(true)
	fmt.Fprintf(os.Stderr, "%d resizes\n", <-resized)
	return all
}
