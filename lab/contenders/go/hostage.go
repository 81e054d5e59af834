// Goroutines that are held up, and a ticker beside them. GOMAXPROCS is as many as they are.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// ticksBefore are made before anybody is held up; for tickAfter the ticker goes on.
const (
	ticksBefore = 50
	tickAfter   = 450 * time.Millisecond
)

func hostage(o options) uint64 {
	o.only("--by", "--hostages", "--stuck-ms", "--times")
	count, times := o.number("--hostages", 2), o.number("--times", 1)
	stuck := time.Duration(o.number("--stuck-ms", 1000)) * time.Millisecond
	by, known := map[string]func(time.Duration){"read": holdRead, "spin": holdSpin, "fault": holdFault}[o.text("--by", "read")]
	if !known {
		fail("unknown way to hold up (read, spin, fault)", o.text("--by", ""))
	}
	runtime.GOMAXPROCS(int(count))
	var back uint64
	ticked := make(chan struct{})
	go func() {
		late := lateness{late: make([]time.Duration, 0, 100000)}
		for len(late.late) < ticksBefore {
			late.tick()
		}
		for index := uint64(0); index < count; index++ {
			go func() {
				for round := uint64(0); round < times; round++ {
					by(stuck)
					runtime.Gosched()
				}
				atomic.AddUint64(&back, 1)
			}()
		}
		until := time.Now().Add(time.Duration(times)*stuck + tickAfter)
		for time.Now().Before(until) || atomic.LoadUint64(&back) < count {
			late.tick()
		}
		late.say()
		close(ticked)
	}()
	<-ticked
	return atomic.LoadUint64(&back)
}

type lateness struct {
	late      []time.Duration
	osThreads int
}

// tick sleeps once; the deadline counts from now on, so that one long hole is one late tick.
func (l *lateness) tick() {
	deadline := time.Now().Add(time.Millisecond)
	time.Sleep(time.Millisecond)
	l.late = append(l.late, time.Since(deadline))
	if len(l.late)%16 == 0 {
		if now := osThreads(); now > l.osThreads {
			l.osThreads = now
		}
	}
}

func (l *lateness) say() {
	sort.Slice(l.late, func(a, b int) bool { return l.late[a] < l.late[b] })
	at := func(share float64) float64 {
		place := int(math.Ceil(share * float64(len(l.late))))
		return float64(l.late[place-1]) / float64(time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "figures: ticks=%d late_ms_p50=%.4f late_ms_p99=%.4f late_ms_max=%.4f os_threads_max=%d\n",
		len(l.late), at(0.5), at(0.99), at(1), l.osThreads)
}

// osThreads is how many threads the kernel sees in this process.
func osThreads() int {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "Threads:") {
			count, _ := strconv.Atoi(strings.TrimSpace(line[len("Threads:"):]))
			return count
		}
	}
	return 0
}

// holdRead reads from a pipe to which a goroutine writes when the time is over; not through Go's poller, which would
// not be a blocking read.
func holdRead(stuck time.Duration) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		fail("pipe", err.Error())
	}
	go func() {
		time.Sleep(stuck)
		syscall.Write(ends[1], []byte("x"))
	}()
	if _, err := syscall.Read(ends[0], make([]byte, 1)); err != nil {
		fail("read", err.Error())
	}
	syscall.Close(ends[0])
	syscall.Close(ends[1])
}

// holdSpin looks at the clock.
func holdSpin(stuck time.Duration) {
	for until := time.Now().Add(stuck); time.Now().Before(until); {
	}
}
