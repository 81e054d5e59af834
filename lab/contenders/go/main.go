// Go's contender: `PROGRAM WORKLOAD [--kind KIND] --option value ...`.
//
// GOMAXPROCS is left alone unless the kind says otherwise: "1" sets it to 1, and "resizing" changes
// it all the time (in the workload that is about that). "select" is reflect.Select in ports. "ready" and "net-http" are
// other servers.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
)

func fail(what, given string) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", what, given)
	os.Exit(2)
}

type options map[string]string

// only refuses options that are not among these.
func (o options) only(known ...string) {
	all := map[string]bool{"--kind": true}
	for _, name := range known {
		all[name] = true
	}
	for name := range o {
		if !all[name] {
			fail("unknown option", name)
		}
	}
}

func (o options) text(name, usual string) string {
	if text, given := o[name]; given {
		return text
	}
	return usual
}

// number is at least 1.
func (o options) number(name string, usual uint64) uint64 {
	text, given := o[name]
	if !given {
		return usual
	}
	value, err := strconv.ParseUint(text, 10, 63)
	if err != nil || value < 1 {
		fail("expected a whole number of at least 1, got", text)
	}
	return value
}

var workloads = map[string]func(options) uint64{
	"ring":           ring,
	"spawn":          spawn,
	"yield":          yield,
	"pingpong":       pingpong,
	"skynet":         skynet,
	"cpu":            cpu,
	"resize":         resize,
	"workers":        workers,
	"slot":           slot,
	"park":           park,
	"mutex":          mutex,
	"timers":         timers,
	"hostage":        hostage,
	"crowd":          crowd,
	"spsc":           spsc,
	"mpsc":           mpsc,
	"mpmc":           mpmc,
	"rendezvous":     rendezvous,
	"ports":          ports,
	"pipe":           pipe,
	"message-ring":   messageRing,
	"msgsend":        msgsend,
	"forkjoin":       forkjoin,
	"big":            big,
	"bounded-buffer": boundedBuffer,
	"uts":            uts,
	"bank":           bank,
	"bfs":            bfs,
	"fib":            fib,
	"quicksort":      quicksort,
	"http":           sockets("http"),
	"connect":        sockets("connect"),
	"echo":           sockets("echo"),
	"stuck":          sockets("stuck"),
}

// texts are those whose answer is no number.
var texts = map[string]func(options) string{
	"k-nucleotide": nucleotides,
}

func main() {
	words := os.Args[1:]
	if len(words)%2 == 0 {
		fail("expected", "WORKLOAD [--option value]...")
	}
	run, known := workloads[words[0]]
	text, isText := texts[words[0]]
	if !known && !isText {
		fail("unknown workload", words[0])
	}
	o := options{}
	for i := 1; i < len(words); i += 2 {
		o[words[i]] = words[i+1]
	}
	switch kind := o.text("--kind", "all"); kind {
	case "all", "resizing", "select", "ready", "net-http":
	case "1":
		runtime.GOMAXPROCS(1)
	default:
		fail("unknown kind (all, 1, resizing, select, ready, net-http)", kind)
	}
	if isText {
		fmt.Println(text(o))
	} else {
		fmt.Println(run(o))
	}
	collections()
}

// collections tells what the collector did, under the names of runtime.MemStats.
func collections() {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	fmt.Fprintf(os.Stderr, "gc: NumGC=%d TotalAlloc=%d Mallocs=%d PauseTotalNs=%d HeapSys=%d StackSys=%d\n",
		s.NumGC, s.TotalAlloc, s.Mallocs, s.PauseTotalNs, s.HeapSys, s.StackSys)
}
