// Goroutines that take turns with one lock.
package main

import (
	"runtime"
	"sync"
)

func mutex(o options) uint64 {
	o.only("--section", "--sections", "--tasks")
	sections, tasks := o.number("--sections", 1000), o.number("--tasks", 4)
	var lock sync.Mutex
	guarded := uint64(0)
	section := func() {
		lock.Lock()
		guarded++
		lock.Unlock()
	}
	switch name := o.text("--section", "short"); name {
	case "short":
	case "yield":
		section = func() {
			lock.Lock()
			read := guarded
			runtime.Gosched()
			guarded = read + 1
			lock.Unlock()
		}
	default:
		fail("unknown section (short, yield)", name)
	}
	var all sync.WaitGroup
	for task := uint64(0); task < tasks; task++ {
		all.Add(1)
		go func(times uint64) {
			for ; times > 0; times-- {
				section()
			}
			all.Done()
		}(part(sections, tasks, task))
	}
	all.Wait()
	return guarded
}
