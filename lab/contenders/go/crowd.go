// Many goroutines at one lock, semaphore or channel of one, until the time is over. GOMAXPROCS is --workers.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// writeEvery: a read-write lock is written to in one of so many passes of a task, and read in the others.
const writeEvery = 8

// permitCount is how many permits a semaphore has.
const permitCount = 4

func crowd(o options) uint64 {
	o.only("--object", "--workers", "--tasks", "--ms")
	tasks, object := o.number("--tasks", 10000), o.text("--object", "mutex")
	runtime.GOMAXPROCS(int(o.number("--workers", 8)))
	thing, known := map[string]func() passed{
		"mutex": passMutex, "rwlock": passRWLock, "semaphore": passSemaphore, "bounded": passBounded,
	}[object]
	if !known {
		fail("unknown object (mutex, rwlock, semaphore, bounded)", object)
	}
	at := thing()
	var arrived, over uint64
	var all sync.WaitGroup
	turns := make([]uint64, tasks)
	for task := uint64(0); task < tasks; task++ {
		all.Add(1)
		go func(task uint64) {
			atomic.AddUint64(&arrived, 1)
			mine := uint64(0)
			for at.pass(task + mine); atomic.LoadUint64(&over) == 0; at.pass(task + mine) {
				mine++
			}
			turns[task] = mine
			all.Done()
		}(task)
	}
	for atomic.LoadUint64(&arrived) < tasks {
		time.Sleep(time.Millisecond)
	}
	began, cpuBefore := time.Now(), cpuNs()
	at.open()
	time.Sleep(time.Duration(o.number("--ms", 5000)) * time.Millisecond)
	atomic.StoreUint64(&over, 1)
	wall, cpu := time.Since(began).Nanoseconds(), cpuNs()-cpuBefore
	all.Wait()
	sum, passes := uint64(0), uint64(0)
	for task, mine := range turns {
		sum += mine
		passes += at.counts(uint64(task), mine)
	}
	if counted := at.counted(); counted != passes {
		fail("what the object has counted is not what its tasks have", fmt.Sprint(counted, " ", passes))
	}
	sort.Slice(turns, func(a, b int) bool { return turns[a] < turns[b] })
	each := func(ns int64) float64 { return float64(ns) / float64(sum) }
	fmt.Fprintf(os.Stderr, "figures: ns_per_turn=%.2f cpu_ns_per_turn=%.2f mturns_per_s=%.4f turns_min=%d turns_median=%d turns_max=%d\n",
		each(wall), each(cpu), float64(sum)*1e3/float64(wall), turns[0], turns[tasks/2], turns[tasks-1])
	return tasks
}

// passed is an object that is closed until it is opened.
type passed struct {
	pass func(number uint64)
	open func()
	// counted is what it has counted when all tasks have ended.
	counted func() uint64
	// counts is what a task with so many turns, and one more pass, has had it count.
	counts func(task, turns uint64) uint64
}

func eachPass(_, turns uint64) uint64 { return turns + 1 }

func passMutex() passed {
	var lock sync.Mutex
	guarded := uint64(0)
	lock.Lock()
	pass := func(uint64) {
		lock.Lock()
		guarded++
		lock.Unlock()
	}
	return passed{pass, lock.Unlock, func() uint64 { return guarded }, eachPass}
}

func passRWLock() passed {
	var lock sync.RWMutex
	guarded := uint64(0)
	lock.Lock()
	pass := func(number uint64) {
		if number%writeEvery == 0 {
			lock.Lock()
			guarded++
			lock.Unlock()
		} else {
			lock.RLock()
			runtime.KeepAlive(guarded)
			lock.RUnlock()
		}
	}
	multiples := func(below uint64) uint64 { return (below + writeEvery - 1) / writeEvery }
	counts := func(task, turns uint64) uint64 { return multiples(task+turns+1) - multiples(task) }
	return passed{pass, lock.Unlock, func() uint64 { return guarded }, counts}
}

// passSemaphore: a channel of four, as Go has no semaphore of its own. What it guards is how many goroutines are in, in
// the lowest byte, and above it how many have been.
func passSemaphore() passed {
	permits := make(chan struct{}, permitCount)
	inside := uint64(0)
	pass := func(uint64) {
		permits <- struct{}{}
		if now := atomic.AddUint64(&inside, 1<<8|1) & 0xff; now > permitCount {
			fail("too many have a permit", fmt.Sprint(now))
		}
		atomic.AddUint64(&inside, ^uint64(0))
		<-permits
	}
	all := func(act func()) {
		for permit := 0; permit < permitCount; permit++ {
			act()
		}
	}
	all(func() { permits <- struct{}{} })
	open := func() { all(func() { <-permits }) }
	return passed{pass, open, func() uint64 { return inside >> 8 }, eachPass}
}

// passBounded: the tasks send, and a goroutine receives from when the object is opened.
func passBounded() passed {
	messages, counted := make(chan uint64, 1), make(chan uint64)
	receive := func() {
		sum := uint64(0)
		for message := range messages {
			sum += message
		}
		counted <- sum
	}
	done := func() uint64 {
		close(messages)
		return <-counted
	}
	return passed{func(uint64) { messages <- 1 }, func() { go receive() }, done, eachPass}
}

// cpuNs is the processor time of all threads of this process.
func cpuNs() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("getrusage", err.Error())
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
