// Timers that are cancelled before they are due, and set again.
package main

import "time"

func ahead(state uint64) time.Duration {
	return time.Duration(60+(state>>32)%3600) * time.Second
}

func timers(o options) uint64 {
	o.only("--timers", "--live", "--idle-ms")
	count, live := o.number("--timers", 1000), o.number("--live", 1000)
	idle := time.Duration(o.number("--idle-ms", 1)) * time.Millisecond
	state := uint64(1)
	pending := make([]*time.Timer, live)
	for index := range pending {
		state = steps(state, 1)
		pending[index] = time.AfterFunc(ahead(state), func() {})
	}
	cancelled := uint64(0)
	for ; count > 0; count-- {
		state = steps(state, 1)
		slot := state % live
		if pending[slot].Reset(ahead(state)) {
			cancelled++
		}
	}
	time.Sleep(idle)
	return cancelled
}
